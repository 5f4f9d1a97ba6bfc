"""Session files that somebody made to do harm, one for each rule of the gate: ``python tests/crafted.py FOLDER`` writes them all."""

import hashlib
import json
import shutil
import sys
import zlib
from pathlib import Path

import h5py
import numpy as np
from toy import ToySampler, toy_data

from plaidwork.core.hdf5.h5 import TEXT
from plaidwork.core.inference.execution import execute
from plaidwork.core.inference.executor import InlineExecutor
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.session.session import Session

RULES = {}
"""For each name: the change of a sound file (an open ``h5py.File``), and words of the refusal."""


def _rule(words):
    def keep(change):
        RULES[change.__name__.strip("_").replace("_", " ")] = (change, words)
        return change

    return keep


@_rule("would grow")
def _nothing_stored(file):
    file.create_dataset("huge", (10**9,), "f8", chunks=(10**5,), compression="gzip")


@_rule("would grow")
def _zeros_that_unpack_a_thousand_fold(file):
    made = file.create_dataset("huge", (2**28,), "u1", chunks=(2**26,), compression="gzip")
    stored = zlib.compress(bytes(2**26), 9)
    for start in range(0, 2**28, 2**26):
        made.id.write_direct_chunk((start,), stored)
    file.create_dataset("more", (2**28 + 1,), "u1", chunks=(2**26,), compression="gzip")


@_rule("beyond the limit of 8\u202f589\u202f934\u202f592 bytes in all")
def _many_arrays_each_below_the_limit(file):
    for number in range(40):
        file.create_dataset(f"part{number}", (2**25,), "f8", chunks=(10**5,))


@_rule("unpacks to more than its 1\u202f048\u202f576 bytes")
def _chunk_that_goes_on(file):
    made = file.create_dataset("chunk", (2**20,), "u1", chunks=(2**20,), compression="gzip")
    made.id.write_direct_chunk((0,), zlib.compress(bytes(2 * 10**8), 9))


@_rule("uses the filters")
def _packed_twice(file):
    creation = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    creation.set_chunk((1024,))
    creation.set_deflate(9)
    creation.set_deflate(9)
    space = h5py.h5s.create_simple((1024,))
    h5py.h5d.create(file.id, b"twice", h5py.h5t.IEEE_F64LE, space, creation)


@_rule("texts of 2\u202f000\u202f000 bytes each")
def _long_texts_of_one_length(file):
    file.create_dataset("texts", (4,), "S2000000", chunks=(1,), compression="gzip")


@_rule("declares texts of 50000000 letters")
def _texts_declared_to_be_wide(file):
    made = file.create_dataset("texts", (10,), TEXT)
    made[:] = ["a"] * 10
    made.attrs["text"] = "<U50000000"


@_rule("declares its texts as")
def _texts_declared_as_something_else(file):
    made = file.create_dataset("texts", (2,), TEXT)
    made[:] = ["a", "b"]
    made.attrs["text"] = "V1000000000"


@_rule("bytes in all")
def _one_text_referred_to_often(file):
    made = file.create_dataset("texts", (20_000,), TEXT)
    made[0] = "x" * 1_000_000
    offset, name = made.id.get_offset(), file.filename
    file.close()
    with open(name, "r+b") as raw:
        raw.seek(offset)
        reference = raw.read(16)
        raw.seek(offset)
        raw.write(reference * 20_000)


@_rule("rows of 30\u202f000 texts")
def _rows_of_texts_in_chunks(file):
    file.create_dataset("one", data="x" * 1_000_000, dtype=TEXT)
    made = file.create_dataset("texts", (2, 30_000), TEXT, chunks=(1, 30_000))
    made[:] = np.full((2, 30_000), "a", object)


@_rule("whose texts may take")
def _attribute_of_long_texts(file):
    file.create_dataset("one", data="x" * 4_000_000, dtype=TEXT)
    file.attrs.create("texts", np.full(4000, "a", object), dtype=TEXT)


@_rule("would grow from 0 to 8000000000")
def _axis_hidden_by_an_empty_one(file):
    file.create_dataset("empty", (10**9, 0), "f8")


def _declare(file, name, count):
    """Give the declaration of the run ``count`` more of something; the sums are taken out."""
    run = next(iter(file["runs"].values()))
    record = json.loads(run["declaration"].asstr()[()])
    first = {**record[name][0], "primary": False} if name == "traces" else record[name][0]
    key = "title" if name == "views" else "name"
    record[name] += [{**first, key: f"more{number}"} for number in range(count)]
    del run["declaration"], file["checksums"]
    run.create_dataset("declaration", data=json.dumps(record), dtype=TEXT)


@_rule("declares 100002 traces")
def _traces_without_end(file):
    _declare(file, "traces", 100_000)


@_rule("declares 100001 views")
def _views_without_end(file):
    _declare(file, "views", 100_000)


@_rule("line 1 of the record of actions")
def _record_of_something_else(file):
    del file["provenance/history"], file["checksums"]
    file["provenance"].create_dataset("history", data="[1, 2]", dtype=TEXT)


@_rule("its searches")
def _searches_that_are_numbers(file):
    del file["checksums"]
    file["provenance"].create_dataset("studies", data="[1, 2]", dtype=TEXT)


def sound_file(path):
    """A file with a finished run. Returns ``path``."""
    session = Session("S")
    plan = make_plan(ToySampler(), {"X": session.add_dataset(toy_data())})
    execute(session.add_run(plan), plan, InlineExecutor())
    return session.save(path)


def craft(sound, rule, path):
    """A copy of the sound file that breaks one rule, sealed as a stranger would seal it. Returns ``path``."""
    shutil.copy(sound, path)
    file = h5py.File(path, "r+", libver=("earliest", "v110"))
    RULES[rule][0](file)
    file.close()
    data = path.read_bytes()
    path.write_bytes(data + b"\nplaidwork-sha256:" + hashlib.sha256(data).hexdigest().encode())
    return path


def _main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    sound = sound_file(folder / "sound.plaidwork")
    for rule in RULES:
        craft(sound, rule, folder / f"{rule.replace(' ', '-')}.plaidwork")


if __name__ == "__main__":
    _main(Path(sys.argv[1]))

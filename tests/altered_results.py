"""What a session file tells besides states and draws, altered as a stranger might, one entry at a time.

``python tests/altered_results.py SESSION FOLDER [FIRST STEP ONLY]`` opens each and draws its pictures: of every ``STEP``-th from
``FIRST`` on, and of entries with ``ONLY`` in their name. A line for each, what became of it first: ``refused`` with a sentence,
``drawn``, or ``bad``. A crash ends it, and the last line says at which; so does one that takes too long, with the places of all threads.
``tests/altered_window.py`` does the same with a window.
"""

import faulthandler
import json
import os
import resource
import shutil
import sys
import time
import traceback
import warnings
from functools import partial
from pathlib import Path

import h5py
import numpy as np

from plaidwork.core.errors import PlaidworkError
from plaidwork.core.findings.analysis import run_showing
from plaidwork.core.pictures import describe
from plaidwork.core.session.results_as_data import data_of, results_as_data
from plaidwork.core.session.session import Session
from plaidwork.core.session.store.session_file import load
from plaidwork.core.views.drawing import is_picture, picture_of
from plaidwork.core.views.sources import NotYet, SourceError, Sources

TEXT = h5py.string_dtype("utf-8")
MARKUP = '<img src="file:///nowhere.png"><b>bold</b>'
LONG = "long " * 40_000
LEAVES = (None, -1, 10**12, 1e308, True, MARKUP, [], {}, [[1]])
"""What stands in the place of a value within JSON."""
ATTRIBUTES = (-1, 2**60, float("nan"), MARKUP, "")
_SCALES = ("DIMENSION_LIST", "REFERENCE_LIST", "CLASS", "NAME")
PARTS = ("results", "analyses", "traces", "log", "notes", "scales")
"""Groups of a run that are looked at; its states and draws are those of ``altered.py``."""
RECORDS = (
    "declaration", "params", "schedule", "goal", "inputs", "environment", "view_settings", "item_names", "item_notes",
)  # fmt: skip


def unsealed(path, out):
    """A copy as a stranger may make it: no checksum and no seal. Returns ``out``."""
    shutil.copy(path, out)
    with h5py.File(out, "r+") as file:
        if "checksums" in file:
            del file["checksums"]
    return out


def _changed(array, number):
    made = array.copy()
    made.flat[0] = number
    return made


def of_numbers(array):
    """(name, altered) of an array of numbers."""
    for axis in range(array.ndim):
        if array.shape[axis]:
            last = np.take(array, [-1], axis)
            yield f"longer along {axis}", np.concatenate([array, last], axis)
            yield f"shorter along {axis}", np.take(array, range(array.shape[axis] - 1), axis)
    yield "empty", np.zeros((0,) * max(array.ndim, 1), array.dtype)
    yield "one axis more", array[None]
    if array.ndim > 1:
        yield "flat", array.ravel()
        if len(set(array.shape)) > 1:
            yield "turned", np.ascontiguousarray(array.T)
    yield "as texts", np.full(array.shape, "7", object)
    if not array.size:
        return
    if array.dtype.kind == "f":
        for name, number in (
            ("nan", np.nan),
            ("infinite", np.inf),
            ("huge", np.finfo(array.dtype).max),
            ("negative", -1e12),
        ):
            yield name, _changed(array, number).astype(array.dtype)
        yield "all nan", np.full_like(array, np.nan)
        yield "whole", np.zeros(array.shape, np.int64)
    elif array.dtype.kind in "iu":
        top = np.iinfo(array.dtype)
        for name, number in (
            ("huge", top.max),
            ("very negative", top.min),
            ("large", min(2**33, top.max)),
            ("minus one", -1),
        ):
            if top.min <= number <= top.max:
                yield name, _changed(array, number)
        yield "as numbers", array.astype(float) + 0.5


def of_texts(array):
    """(name, altered) of an array of texts."""
    array = np.asarray(array, object)
    if array.ndim and array.shape[0]:
        yield "shorter", array[:-1]
        yield "longer", np.concatenate([array, array[-1:]])
    if array.ndim:
        yield "empty", array[:0]
        yield "all alike", np.full(array.shape, "same", object)
    yield "one axis more", array[None]
    yield "markup", np.full(array.shape, MARKUP, object)
    yield "long", np.full(array.shape, LONG, object)
    yield "nothing", np.full(array.shape, "", object)
    yield "numbers", np.zeros(array.shape)


def leaves(record, at=()):
    """Every place within JSON."""
    if isinstance(record, (dict, list)) and record:
        yield at
        for key in record if isinstance(record, dict) else range(len(record)):
            yield from leaves(record[key], (*at, key))
    else:
        yield at


def of_record(record):
    """(name, what makes it) of JSON: every value in turn is something else, or gone."""
    for at in leaves(record):
        called = ".".join(map(str, at))
        for value in LEAVES:
            yield f"{called} = {str(value)[:20]}", partial(_replaced, record, at, value)
        if at and isinstance(at[-1], str):
            yield f"{called} gone", partial(_replaced, record, at)


def _replaced(record, at, *value):
    """JSON with another value in a place, or with none."""
    if not at:
        return json.dumps(*value)
    made = json.loads(json.dumps(record))
    holder = made
    for key in at[:-1]:
        holder = holder[key]
    if value:
        holder[at[-1]] = value[0]
    else:
        del holder[at[-1]]
    return json.dumps(made)


def _datasets(group):
    found = []
    group.visititems(lambda name, thing: found.append(thing) if isinstance(thing, h5py.Dataset) else None)
    return found


def _looked_at(file):
    for name in ("data", "views", "notes", "provenance"):
        yield from _datasets(file[name])
    for run in file["runs"].values():
        for name in (*PARTS, *RECORDS):
            if name in run:
                yield from [run[name]] if isinstance(run[name], h5py.Dataset) else _datasets(run[name])


def _record_in(dataset):
    """What JSON has in it; None where it is no JSON."""
    text = dataset.asstr()[()]
    try:
        return json.loads(text) if isinstance(text, str) and text.startswith(("{", "[")) else None
    except ValueError:
        return None


def _of(dataset):
    """(name, value to write) of one dataset."""
    if h5py.check_string_dtype(dataset.dtype) is None:
        yield from of_numbers(np.asarray(dataset[()]))
    elif (record := _record_in(dataset)) is not None:
        yield from of_record(record)
    else:
        yield from of_texts(dataset.asstr()[()])


def _of_attributes(thing):
    for key, value in thing.attrs.items():
        if key in (*_SCALES, "encoding-type", "encoding-version") or key.startswith("_Netcdf"):
            continue
        if isinstance(value, str) and value[:1] in "{[" and value:
            for name, made in of_record(json.loads(value)):
                yield key, name, made
        else:
            for made in ATTRIBUTES:
                yield key, str(made)[:20], made
        yield key, "gone", None


def alterations(path):
    """(entry, name, change of an open file) of everything, in an order that is always the same."""
    found = []
    with h5py.File(path) as file:
        for dataset in _looked_at(file):
            for name, made in _of(dataset):
                found.append((dataset.name, name, _writing(dataset.name, made)))
        things = [
            run[name] for run in file["runs"].values() for name in ("results", "analyses") if name in run
        ]
        within = []
        for group in things:
            group.visititems(lambda name, thing: within.append(thing))
        for thing in (*within, *file["runs"].values(), *file["data"].values()):
            for key, name, made in _of_attributes(thing):
                found.append((f"{thing.name}@{key}", name, _setting(thing.name, key, made)))
    return found


def _writing(name, value):
    def change(file):
        kept = {key: held for key, held in file[name].attrs.items() if key not in _SCALES}
        del file[name]
        found = np.asarray(value(), object) if callable(value) else value
        made = file.create_dataset(name, data=found, dtype=TEXT if found.dtype.kind == "O" else None)
        for key, held in kept.items():
            made.attrs[key] = held

    return change


def _setting(name, key, value):
    def change(file):
        if value is None:
            del file[name].attrs[key]
        else:
            file[name].attrs[key] = value() if callable(value) else value

    return change


def write(base, change, out):
    """A copy of an unsealed file with one change. Returns ``out``."""
    shutil.copy(base, out)
    with h5py.File(out, "r+") as file:
        change(file)
    return out


# -- opening them -----------------------------------------------------------------------------------
SECONDS = 60
MOST = 1 << 30
"""Bytes by which the process may grow at an alteration."""


def memory():
    """Bytes that the process has in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def opened(path, look, select):
    """What became of each alteration of an unsealed file, as (word, entry, name, sentences); ``look`` gives the faults of a session
    that opens and the sentences that it shows, ``select`` chooses by number and entry."""
    out = path.with_name("altered.plaidwork")
    for number, (entry, name, change) in enumerate(alterations(path)):
        if not select(number, entry):
            continue
        print("trying", number, entry, name, sep="\t", flush=True)
        before, bytes_of, start = memory(), write(path, change, out).read_bytes(), time.perf_counter()
        faulthandler.dump_traceback_later(SECONDS, exit=True, file=sys.__stderr__)
        try:
            word, faults, said = "shown", *look(load(out, Session, probed=True))
        except PlaidworkError as error:
            word, faults, said = "refused", [], [error.message]
        except Exception:
            word, faults, said = "bad", [traceback.format_exc()[-600:]], []
        faulthandler.cancel_dump_traceback_later()
        if memory() > before + MOST:
            faults.append(f"{memory() - before} bytes")
        if out.read_bytes() != bytes_of:
            faults.append("written")
        seconds = f"{time.perf_counter() - start:.1f}"
        what = " | ".join(faults or said).replace("\n", " ")[:600]
        print("bad" if faults else word, entry, name, seconds, what, sep="\t", flush=True)
    print("peak", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10, "MiB", sep="\t", flush=True)


def told(said):
    """What of these sentences tells of the program and not of the file."""
    return [
        text
        for text in said
        if any(word in text for word in ("Error: ", "Error) ", "Exception", "Something in the program"))
    ]


def pictures(session):
    """Faults of drawing every picture of a session, and what is said in place of one."""
    faults, said = [], []

    def attempt(what, call):
        try:
            call()
        except NotYet:
            said.append(f"{what}: not yet")
        except (PlaidworkError, SourceError) as error:
            said.append(f"{what}: {error}")
        except Exception:
            faults.append(f"{what}: {traceback.format_exc()[-600:]}")

    for run in session.runs.values():
        shown = [
            (run, run.spec.views),
            *((run_showing(run, record), record.views) for record in run.analyses),
        ]
        for one, view in ((one, view) for one, views in shown for view in views):
            if is_picture(view.kind):
                attempt(
                    view.title, lambda view=view, one=one: describe(picture_of(Sources(session, one, view)))
                )
        attempt(
            "as data",
            lambda run=run: [
                data_of(run, session.datasets, one.name) for one in results_as_data(run, session.datasets)
            ],
        )
    return [*faults, *told(said)], said


def arguments(words):
    """Folder with the unsealed session in it, and what to choose of its alterations."""
    path, folder = Path(words[0]), Path(words[1])
    folder.mkdir(parents=True, exist_ok=True)
    first, step = map(int, [*words[2:4], *(0, 1)[len(words[2:4]) :]])
    only = words[4] if len(words) > 4 else ""
    return unsealed(
        path, folder / "base.plaidwork"
    ), lambda number, entry: number % step == first % step and only in entry


def main(words):
    warnings.simplefilter("ignore")
    base, select = arguments(words)
    faults, _ = pictures(load(base, Session, probed=True))
    assert not faults, faults
    opened(base, pictures, select)
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])

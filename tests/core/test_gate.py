"""Files that a stranger made: refused before they cost memory or time, with the rule in words, and nothing honest is."""

import hashlib
import hmac
import os
import stat
import subprocess
import sys

import h5py
import numpy as np
import pytest
from crafted import RULES, craft, sound_file
from sparing import some

from plaidwork.core.config import config_folder
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.errors import LimitError, SessionError
from plaidwork.core.hdf5 import gate, limits, seal
from plaidwork.core.hdf5.limits import Limits, machine_limits
from plaidwork.core.hdf5.parts import Parts
from plaidwork.core.session.session import Session, open_session
from plaidwork.core.session.store import session_file


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """A file with a run; no test changes it."""
    return sound_file(tmp_path_factory.mktemp("sound") / "s.plaidwork")


_MEASURED = """
import os, re, signal, sys
from pathlib import Path
from plaidwork.core.errors import SessionError
from plaidwork.core.hdf5.limits import Limits
from plaidwork.core.session.session import Session
from plaidwork.core.session.store import session_file
session_file.machine_limits = lambda ours=False: Limits()
def most():
    # KiB that this process had at most; what getrusage says is at least what its parent had
    status = Path("/proc/self/status")
    return int(re.search(r"VmHWM:[^0-9]*([0-9]+)", status.read_text())[1]) if status.exists() else 0
def measured(path):
    before = most()
    try:
        session_file.content_size(Path(path))
        session_file.load(path, Session, Limits(), probed=True)
        print("opened")
    except SessionError as error:
        print(error)
    print(most() - before, flush=True)
for path in sys.stdin:
    # Each in a process of its own, where that does not mean to start Python and import everything again.
    if not hasattr(os, "fork"):
        measured(path.rstrip())
    elif (child := os.fork()) == 0:
        signal.alarm(60)
        measured(path.rstrip())
        os._exit(0)
    else:
        os.waitpid(child, 0)
    print(flush=True)
"""


@pytest.fixture(scope="module")
def measured():
    """What another process says of a path, and KiB that it took to say so."""
    with subprocess.Popen(
        [sys.executable, "-c", _MEASURED], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:

        def ask(path):
            process.stdin.write(f"{path}\n")
            process.stdin.flush()
            *said, used = iter(lambda: process.stdout.readline().rstrip(), "")
            return "\n".join(said), int(used)

        yield ask
        process.stdin.close()


LONG = ("views without end", "zeros that unpack a thousand fold", "chunk that goes on")
"""Rules whose files take half a second to make; like ones are quick."""


@pytest.mark.long
@pytest.mark.parametrize("rule", some(list(RULES), [rule for rule in RULES if rule not in LONG]))
def test_a_crafted_file_is_refused_before_it_costs_anything(sound, tmp_path, measured, rule):
    """At most 300 MB and 60 s; the harm would be GBs or minutes."""
    found, used = measured(craft(sound, rule, tmp_path / "c.plaidwork"))
    assert RULES[rule][1] in found
    assert used < 300_000


def test_a_sound_file_passes_all_rules(sound):
    largest = gate.check_heaps(sound)
    assert largest > 1000
    with h5py.File(sound) as file:
        total = gate.check(file, Limits(), largest_text=largest, unpack=True)
    assert total > 10_000


@pytest.mark.long
def test_a_file_of_this_installation_is_read_at_once_a_strangers_elsewhere_first(
    sound, tmp_path, monkeypatch
):
    asked = []
    monkeypatch.setattr(session_file, "probe", lambda path, any_size: asked.append(path))
    path = open_session(sound).save(tmp_path / "ours.plaidwork")
    asked.clear()
    assert seal.look(path).ours
    assert open_session(path).runs
    assert asked == []
    monkeypatch.setenv("PLAIDWORK_CONFIG", str(tmp_path / "another"))
    assert path.read_bytes()[-64:].decode() == seal.look(path).digest
    assert not seal.look(path).ours
    assert open_session(path).runs
    assert asked == [path]


def test_nobody_can_make_our_mark(sound, tmp_path):
    path = tmp_path / "forged.plaidwork"
    path.write_bytes(sound.read_bytes())
    with h5py.File(path, "r+") as file:
        file.attrs["name"] = "forged"
    data = path.read_bytes()
    for key in (b"", b"\0" * 32):
        mark = b"\nplaidwork-mark:" + hashlib.sha256(key + data).hexdigest().encode()
        body = data + mark
        path.write_bytes(body + b"\nplaidwork-sha256:" + hashlib.sha256(body).hexdigest().encode())
        assert path.read_bytes()[-64:].decode() == seal.look(path).digest
        assert not seal.look(path).ours
        path.write_bytes(data)
        parts = Parts.of(path, len(data))
        mark = b"\nplaidwork-mark:" + hashlib.sha256(key + parts.digest).hexdigest().encode()
        end = b"\nplaidwork-seal:%016x:%s" % (parts.length, parts.digest.hex().encode())
        path.write_bytes(data + b"\nplaidwork-parts:" + parts.table + mark + end)
        assert path.read_bytes()[-64:].decode() == seal.look(path).digest == seal.digest_of(path)
        assert not seal.look(path).ours


def test_the_end_of_a_file_is_as_the_page_says(tmp_path):
    """Read by the words of docs/session-format.md alone."""
    path = Session("S").save(tmp_path / "s.plaidwork")
    data = path.read_bytes()
    assert data[-97:-81] == b"\nplaidwork-seal:"
    assert data[-65:-64] == b":"
    length = int(data[-81:-65], 16)
    number = -(-length // 262_144)
    table = data[length + 17 : length + 17 + 32 * number]
    assert data[length : length + 17] == b"\nplaidwork-parts:"
    assert table == b"".join(
        hashlib.sha256(data[start : min(start + 262_144, length)]).digest()
        for start in range(0, length, 262_144)
    )
    digest = hashlib.sha256(length.to_bytes(8, "little") + table).digest()
    assert data[-64:].decode() == digest.hex()
    secret = (config_folder() / "session.secret").read_bytes()
    mark = hmac.new(secret, b"plaidwork parts " + digest, hashlib.sha256).hexdigest()
    assert data[length + 17 + 32 * number : -97] == b"\nplaidwork-mark:" + mark.encode()


@pytest.mark.parametrize("place", ["first", "last", "table", "mark", "length", "seal"])
def test_a_file_that_was_changed_anywhere_is_not_ours(tmp_path, place):
    session = Session("S")
    session.notes = "".join(map(chr, np.random.default_rng(1).integers(97, 122, 1 << 20)))
    path = session.save(tmp_path / "s.plaidwork")
    data = bytearray(path.read_bytes())
    length = int(data[-81:-65], 16)
    at = {"first": 0, "last": length - 1, "table": length + 20, "mark": -120, "length": -67, "seal": -1}[
        place
    ]
    data[at] ^= 1
    path.write_bytes(data)
    assert not seal.look(path).ours


@pytest.mark.skipif(os.name == "nt", reason="rights of POSIX")
def test_the_secret_is_for_this_user_alone(tmp_path, monkeypatch):
    monkeypatch.setenv("PLAIDWORK_CONFIG", str(tmp_path))
    path = Session("S").save(tmp_path / "s.plaidwork")
    secret = config_folder() / "session.secret"
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600
    assert seal.look(path).ours
    secret.chmod(0o644)  # others may have read it
    assert not seal.look(path).ours
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600
    assert sorted(os.listdir(tmp_path)) == ["s.plaidwork", "session.secret"]


def test_without_a_place_for_the_secret_files_are_still_written(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("PLAIDWORK_CONFIG", str(tmp_path / "file" / "x"))
    path = Session("S").save(tmp_path / "s.plaidwork")
    assert path.read_bytes()[-64:].decode() == seal.look(path).digest
    assert not seal.look(path).ours
    assert open_session(path).name == "S"


@pytest.mark.long
def test_the_other_process_tells_limits_apart_and_lifts_them(sound, tmp_path):
    path = craft(sound, "nothing stored", tmp_path / "c.plaidwork")
    if machine_limits().ratio_from > 8 * 10**9:
        pytest.skip("this computer has so much memory that the file is not large")
    with pytest.raises(LimitError, match="would grow") as caught:
        open_session(path)
    assert "--any-size" in caught.value.hint
    path = craft(sound, "packed twice", tmp_path / "d.plaidwork")
    with pytest.raises(SessionError, match="uses the filters") as caught:
        open_session(path, any_size=True)
    assert not isinstance(caught.value, LimitError)


def test_limits_grow_with_memory(monkeypatch):
    monkeypatch.setattr(limits, "memory", lambda: 64 << 30)
    large = machine_limits()
    assert (large.dataset, large.total, large.objects) == (32 << 30, 64 << 30, 1 << 22)
    monkeypatch.setattr(limits, "memory", lambda: 1 << 30)
    assert machine_limits() == Limits()
    assert machine_limits(ours=True).dataset > 1 << 60


@pytest.mark.parametrize("size", some([1500, 4000], [1500]))
def test_what_we_save_we_open(tmp_path, size):
    """Zeros that shrink a thousand fold, more objects and deeper nesting than were allowed once."""
    session = Session("S")
    names = [str(i) for i in range(size)]
    session.add_dataset(Dataset("zeros", np.zeros((size, size)), names, names))
    session.views["deep"] = {
        "a": {"b": {"c": {"d": {"e": {"f": {"g": {"h": {"i": {"j": {"k": {"l": {"m": np.zeros(3)}}}}}}}}}}}}
    }
    path = session.save(tmp_path / "s.plaidwork")
    assert path.stat().st_size < 4_000_000 * (size / 4000) ** 2
    again = open_session(path)
    assert not again.datasets["zeros"].values.any()
    with h5py.File(path) as file:
        gate.check(
            file, Limits(), largest_text=gate.check_heaps(path), unpack=True
        )  # a stranger opens it as well


@pytest.mark.slow
def test_the_large_matrix_of_zeros_that_was_refused(tmp_path):
    session = Session("S")
    names = [str(i) for i in range(16_500)]
    session.add_dataset(Dataset("zeros", np.zeros((16_500, 16_500)), names, names))
    path = session.save(tmp_path / "s.plaidwork")
    assert path.stat().st_size < 10_000_000
    assert open_session(path).datasets["zeros"].shape == (16_500, 16_500)

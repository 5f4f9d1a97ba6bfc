"""Files that are damaged, foreign or hostile, and disks that are full: told in words, nothing lost."""

import errno
import os
import shutil
import subprocess
import sys
import threading

import h5py
import numpy as np
import pytest
from sparing import every, some
from toy import ToySampler, same_chains, toy_data

from plaidwork.core.errors import LimitError, SessionError
from plaidwork.core.hdf5 import atomic, seal
from plaidwork.core.hdf5.atomic import sweep_temporaries
from plaidwork.core.hdf5.limits import Limits
from plaidwork.core.hdf5.seal import look
from plaidwork.core.inference.execution import execute
from plaidwork.core.inference.executor import InlineExecutor
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.session.session import Session, open_session
from plaidwork.core.session.store import session_file, session_saving


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """A file with a run; no test changes it."""
    session = Session("S")
    plan = make_plan(ToySampler(), {"X": session.add_dataset(toy_data())})
    execute(session.add_run(plan), plan, InlineExecutor())
    return session.save(tmp_path_factory.mktemp("stored") / "s.plaidwork")


@pytest.fixture
def path(stored, tmp_path):
    return shutil.copy(stored, tmp_path / stored.name)


@pytest.fixture
def session(path):
    """What is in the file, opened from it."""
    return open_session(path)


def _run_id(session):
    return next(iter(session.runs))


def test_not_a_session(tmp_path):
    text, empty, other = tmp_path / "a.plaidwork", tmp_path / "b.plaidwork", tmp_path / "c.plaidwork"
    text.write_text("gene,a\n")
    empty.write_bytes(b"")
    h5py.File(other, "w").close()
    for path, words in (
        (text, "it is no HDF5 file"),
        (empty, "is empty"),
        (other, "expected 'plaidwork-session'"),
    ):
        with pytest.raises(SessionError, match=words) as caught:
            open_session(path)
        assert path.name in caught.value.message
    with pytest.raises(SessionError, match="does not exist"):
        open_session(tmp_path / "none.plaidwork")
    with pytest.raises(SessionError):
        open_session(tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("share", [0.001, 0.1, 0.5, 0.9, 0.99])
def test_truncated(path, share):
    data = path.read_bytes()
    path.write_bytes(data[: max(9, int(len(data) * share))])
    with pytest.raises(SessionError, match=path.name):
        open_session(path)


@pytest.mark.long
@pytest.mark.parametrize(
    "place",
    some(
        ["runs/{}/inference/posterior/theta", "data/toy data/X", "runs/{}/traces/chain_0"],
        ["data/toy data/X"],
    ),
)
def test_flipped_bit_names_the_object(session, path, place):
    name = place.format(_run_id(session))
    with h5py.File(path) as file:
        offset = file[name].id.get_offset()
    data = bytearray(path.read_bytes())
    data[offset + 11] ^= 4
    path.write_bytes(data)
    with pytest.raises(SessionError, match=f"“/{name}” does not match its checksum"):
        open_session(path)


@pytest.mark.slow
def test_changed_attribute_and_missing_object_are_found(session, path):
    run = _run_id(session)
    with h5py.File(path, "r+") as file:
        file[f"runs/{run}"].attrs["seed"] = 5
    with pytest.raises(SessionError, match=f"attributes of “/runs/{run}”"):
        open_session(path)
    session.save(replace=True)
    with h5py.File(path, "r+") as file:
        del file[f"runs/{run}/results/mean"]
    with pytest.raises(SessionError, match=r"results/mean” is missing"):
        open_session(path)


_FLIP = """
import random, sys
from pathlib import Path
from plaidwork.core.errors import LimitError, SessionError
from plaidwork.core.session.session import open_session
path, seed, n = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
data, rng, caught = path.read_bytes(), random.Random(seed), 0
for i in range(n):
    broken = bytearray(data)
    for _ in range(3):
        broken[rng.randrange(len(broken))] ^= 1 << rng.randrange(8)
    other = path.with_name(f"flip{seed}.plaidwork")
    other.write_bytes(broken)
    try:
        open_session(other)
    except SessionError:
        caught += 1
print(caught)
"""


@pytest.mark.slow
def test_random_flips_never_crash(path):
    """Flips may hit unused space; whatever is not told as SessionError must load."""
    done = subprocess.run(
        [sys.executable, "-c", _FLIP, str(path), "1", "8"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert int(done.stdout) > 0


def test_damaged_text_heap_is_told_before_the_library_hangs(path):
    data = bytearray(path.read_bytes())
    heap = data.find(b"GCOL\1\0\0\0")
    assert heap > 0
    data[heap + 16 : heap + 18] = b"\0\0"
    data[heap + 24 : heap + 32] = bytes(8)
    path.write_bytes(data)
    with pytest.raises(SessionError, match=f"text heap at byte {heap} has a damaged entry"):
        open_session(path)


def test_seal_tells_a_file_as_we_wrote_it(session, path, monkeypatch):
    asked = []
    monkeypatch.setattr(session_file, "probe", lambda path, any_size: asked.append(path))
    assert look(path).ours
    open_session(path)
    assert asked == []
    _add(path, lambda f: f.attrs.__setitem__("more", 1))
    assert not look(path).ours
    open_session(path)
    assert asked == [path]
    session.save(replace=True)
    assert look(path).ours


@pytest.mark.parametrize("code", ["import os; os._exit(11)", "import time; time.sleep(60)"])
def test_reader_that_dies_or_hangs_is_told(path, monkeypatch, code):
    real = subprocess.run
    monkeypatch.setattr(seal, "_SECONDS", 0.5)
    monkeypatch.setattr(seal.subprocess, "run", lambda command, **kw: real([command[0], "-c", code], **kw))
    _add(path, lambda f: f.attrs.__setitem__("more", 1))
    with pytest.raises(SessionError, match=r"ended with code 11|does not come to an end"):
        open_session(path)


def _add(path, change):
    with h5py.File(path, "r+") as file:
        change(file)


HOSTILE = {
    "soft link": (lambda f: f.__setitem__("data/soft", h5py.SoftLink("/runs")), "link to another place"),
    "external link": (
        lambda f: f.__setitem__("far", h5py.ExternalLink("/etc/x.h5", "/")),
        "link to another place",
    ),
    "hard link": (lambda f: f.__setitem__("again", f["runs"]), "occurs twice"),
    "filter": (lambda f: f.create_dataset("lzf", data=np.zeros(2000), compression="lzf"), "uses the filters"),
    "external file": (
        lambda f: f.create_dataset("ext", (10,), "i1", external=[("/etc/passwd", 0, 10)]),
        "stored in another file",
    ),
    "object reference": (
        lambda f: f.create_dataset("ref", data=f["runs"].ref, dtype=h5py.ref_dtype),
        "a type that",
    ),
    "compound": (lambda f: f.create_dataset("comp", data=np.zeros(2, "i4,f8")), "a type that"),
    "opaque": (lambda f: f.create_dataset("op", data=np.zeros(2, "V4")), "a type that"),
    "array vlen": (lambda f: f.create_dataset("vl", (2,), h5py.vlen_dtype("i4")), "a type that"),
    "bomb": (
        lambda f: f.create_dataset("huge", (10**9,), "f8", chunks=(10**5,), compression="gzip"),
        "would grow",
    ),
    "named type": (lambda f: f.__setitem__("type", np.dtype("f8")), "neither an array nor a group"),
    "depth": (lambda f: f.create_group("/".join("d" * 80)), "nested deeper"),
    "attributes": (lambda f: [f.attrs.__setitem__(f"a{i}", i) for i in range(80)], "more than 64 attributes"),
    "virtual": (
        lambda f: f.create_virtual_dataset("virt", _virtual()),
        "stored in a way that is not allowed",
    ),
}


def _virtual():
    layout = h5py.VirtualLayout((10,), "f8")
    layout[:] = h5py.VirtualSource("/etc/other.h5", "x", (10,))
    return layout


@pytest.mark.parametrize("name", HOSTILE)
def test_gate_refuses(path, name):
    change, words = HOSTILE[name]
    _add(path, change)
    with pytest.raises(SessionError, match=words):
        session_file.load(path, Session, Limits(), probed=True)


def test_gate_limits(path):
    with pytest.raises(LimitError, match="limit of 5 objects"):
        session_file.load(path, Session, Limits(objects=5), probed=True)
    with pytest.raises(LimitError, match="more than 10"):
        session_file.load(path, Session, Limits(dataset=10), probed=True)
    assert session_file.load(path, Session, Limits(objects=5), any_size=True, probed=True).runs


@pytest.mark.slow
def test_versions(session, path):
    _add(path, lambda f: f.attrs.__setitem__("format_version", "1.7"))
    with pytest.raises(SessionError, match="attributes of “/”"):
        session_file.load(path, Session, probed=True)  # changed by hand

    def saved_as(version, needed):
        session.save(replace=True)
        with h5py.File(path, "r+") as file:
            file.attrs["format_version"], file.attrs["min_reader"] = version, needed
            del file["checksums"]

    saved_as("1.7", "1.0")
    assert session_file.load(path, Session, probed=True).read_only == ""
    saved_as("2.0", "1.0")
    newer = session_file.load(path, Session, probed=True)
    assert "2.0" in newer.read_only
    with pytest.raises(SessionError, match="open for reading only"):
        newer.save()
    assert newer.save(path.with_name("copy.plaidwork")).exists()
    assert newer.read_only == ""
    saved_as("2.0", "2.0")
    with pytest.raises(SessionError, match=r"needs format 2\.0"):
        session_file.load(path, Session, probed=True)
    saved_as("two", "1.0")
    with pytest.raises(SessionError, match="'two'"):
        session_file.load(path, Session, probed=True)


@pytest.mark.slow
def test_unknown_things_survive(session, path, tmp_path):
    run = _run_id(session)

    def add(file):
        file["extra/deep/array"] = np.arange(5)
        file["extra/text"] = "ä"
        file["extra/texts"] = ["a", "b"]
        file["extra/deep"].attrs["who"] = "me"
        file.attrs["more"] = [1, 2]
        file[f"runs/{run}/thoughts"] = 3.5
        file[f"runs/{run}"].attrs["colour"] = "red"
        file[f"runs/{run}/inference/prior/x"] = np.ones((2, 3))
        file["data/toy data/obsm/pca"] = np.ones((6, 2), bool)
        file["provenance/review"] = "fine"

    _add(path, add)
    loaded = open_session(path)
    loaded.notes = "changed"
    for target in (None, tmp_path / "elsewhere.plaidwork"):
        saved = loaded.save(target)
        open_session(saved)
        with h5py.File(saved) as file:
            assert file["extra/deep/array"][()].tolist() == [0, 1, 2, 3, 4]
            assert file["extra/text"].asstr()[()] == "ä"
            assert file["extra/texts"].asstr()[()].tolist() == ["a", "b"]
            assert file["extra/deep"].attrs["who"] == "me"
            assert file.attrs["more"].tolist() == [1, 2]
            assert file[f"runs/{run}/thoughts"][()] == 3.5
            assert file[f"runs/{run}"].attrs["colour"] == "red"
            assert file[f"runs/{run}/inference/prior/x"].shape == (2, 3)
            assert file["data/toy data/obsm/pca"][()].all()
            assert file["provenance/review"].asstr()[()] == "fine"
    loaded.remove_run(run)
    loaded.save()
    with h5py.File(loaded.path) as file:
        assert "runs" in file
        assert run not in file["runs"]


def test_broken_old_file_does_not_stop_a_save(session, path):
    path.write_bytes(b"\x89HDF\r\n\x1a\n broken")
    session.save(replace=True)
    assert open_session(path).runs


@pytest.mark.long
def test_previous_file_stays_as_backup(session, path):
    before = path.read_bytes()
    session.notes = "second"
    session.save()
    backup = path.with_name("s.plaidwork.bak")
    assert backup.read_bytes() == before
    assert open_session(backup).notes == ""
    assert open_session(path).notes == "second"
    assert sorted(os.listdir(path.parent)) == ["s.plaidwork", "s.plaidwork.bak"]


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (
            errno.ENOSPC,
            "Could not save: the disk is full. Your work is still open. Free 1 MB, or save elsewhere.",
        ),
        (errno.EACCES, "cannot be written to. Your work is still open. Save elsewhere."),
        (errno.EROFS, "cannot be written to"),
        (errno.EIO, "Could not save “s.plaidwork”"),
    ],
)
@pytest.mark.parametrize("place", every(["_write_file", "_sync", "replace"], 3))
def test_failed_save_leaves_the_old_file(session, path, monkeypatch, code, words, place):
    before = path.read_bytes()
    real = os.replace

    def fail(*args):
        if place == "replace" and str(args[1]).endswith(".bak"):
            return real(*args)
        raise OSError(code, os.strerror(code))

    target = {"_write_file": session_saving, "_sync": atomic, "replace": atomic.os}[place]
    with monkeypatch.context() as patch:
        patch.setattr(target, place, fail)
        with pytest.raises(SessionError) as caught:
            session.save(path)
    assert words in str(caught.value)
    assert path.read_bytes() == before
    assert not [name for name in os.listdir(path.parent) if name.endswith("-tmp")]
    open_session(path)


@pytest.mark.skipif(not hasattr(os, "fdatasync"), reason="this system syncs whole files at the end only")
def test_a_disk_that_fails_while_the_file_is_written_is_told(session, path, monkeypatch):
    """The system tells of an error once: who hears it has to say so."""
    heard, real = threading.Event(), session_saving._write_file

    def fail(handle):
        heard.set()
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    def write(*args):
        known = real(*args)
        assert heard.wait(20)
        return known

    before = path.read_bytes()
    monkeypatch.setattr(atomic.os, "fdatasync", fail)
    monkeypatch.setattr(session_saving, "_write_file", write)
    with pytest.raises(SessionError, match="Input/output error"):
        session.save(path)
    assert path.read_bytes() == before
    assert not [name for name in os.listdir(path.parent) if name.endswith("-tmp")]


_FULL = """
import resource, signal, sys
sys.path.insert(0, sys.argv[2])
import numpy as np
from toy import toy_data
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.errors import LimitError, SessionError
from plaidwork.core.session.session import Session, open_session
session = open_session(sys.argv[1])
session.add_dataset(Dataset("big", np.random.default_rng(0).normal(size=(1000, 500)), [f"r{i}" for i in range(1000)],
                            [f"c{i}" for i in range(500)]))
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))
try:
    session.save()
except SessionError as error:
    print(error)
"""


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="needs a limit on file sizes")
def test_no_room_while_writing(path):
    """A real write error within HDF5, not a made-up one."""
    before = path.read_bytes()
    tests = os.path.dirname(os.path.dirname(__file__))
    done = subprocess.run(
        [sys.executable, "-c", _FULL, str(path), tests],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert "Could not save: the disk is full. Your work is still open." in done.stdout
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == ["s.plaidwork"]


def test_folder_that_is_missing(tmp_path):
    session = Session("S")
    with pytest.raises(SessionError, match="does not exist"):
        session.save(tmp_path / "no" / "s.plaidwork")
    assert session.path is None


def test_link_stays_a_link(session, path):
    link = path.with_name("link.plaidwork")
    link.symlink_to(path)
    session.notes = "through the link"
    session.save(link)
    assert link.is_symlink()
    assert open_session(path).notes == "through the link"


def test_stray_temporaries_are_swept(tmp_path):
    stray = tmp_path / ".s.plaidwork.999999999-abcd.plaidwork-tmp"
    ours = tmp_path / f".s.plaidwork.{os.getppid()}-abcd.plaidwork-tmp"
    other = tmp_path / "keep.plaidwork"
    for path in (stray, ours, other):
        path.write_bytes(b"x")
    assert sweep_temporaries(tmp_path) == [stray]
    assert ours.exists()
    assert other.exists()


def test_file_is_plain(session, path):
    """Only deflate, shuffle and fletcher32; chunks up to 1 MiB; float draws as they are; no pickle."""
    seen = []

    def look(name, thing):
        if isinstance(thing, h5py.Dataset):
            seen.append(name)
            assert thing.chunks is None or np.prod(thing.chunks) * thing.dtype.itemsize <= 1 << 20
            assert thing.compression in (None, "gzip")
            if "posterior" in name and thing.dtype.kind == "f":
                assert thing.compression is None
            if "/state/" in name and thing.size > 8 and thing.dtype.kind == "f":
                assert thing.fletcher32

    with h5py.File(path) as file:
        file.visititems(look)
    assert len(seen) > 50
    assert same_chains(next(iter(session.runs.values())), next(iter(open_session(path).runs.values())))

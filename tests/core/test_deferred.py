"""Large arrays of a session file are read when somebody needs them: the same numbers, and never others."""

import copy
import gc
import os
import pickle
import shutil
import sys
import threading

import h5py
import numpy as np
import pytest
import scipy.sparse
from toy import ToyRegistry, ToySampler, same_chains, toy_data
from toy import same as same_values

from plaidwork.core.contract.model import Result
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.deferred import Deferred
from plaidwork.core.errors import ChangedError, SessionError
from plaidwork.core.hdf5 import h5, seal
from plaidwork.core.hdf5.parts import READS_PARTS
from plaidwork.core.inference.execution import execute
from plaidwork.core.inference.executor import InlineExecutor
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.session.fitting import resume
from plaidwork.core.session.session import Session, open_session
from plaidwork.core.session.store import session_file
from plaidwork.core.session.store.session_file import load

pytestmark = pytest.mark.skipif(not READS_PARTS, reason="an open file cannot be replaced on Windows")


@pytest.fixture(autouse=True)
def small_is_large(monkeypatch):
    """Arrays of 1000 bytes are read later; files of others are read here, by their checksums."""
    monkeypatch.setattr(seal, "_AT_ONCE", 0)
    monkeypatch.setattr(h5, "LARGE", 1000)
    monkeypatch.setattr(session_file, "probe", lambda path, any_size: None)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A session with arrays of all kinds, and its file."""
    rng = np.random.default_rng(1)
    session = Session("S")
    data = session.add_dataset(toy_data())
    values = rng.normal(size=(300, 400))
    values[3, :7] = np.nan
    rows = tuple(f"r{n}" for n in range(300))
    session.add_dataset(Dataset("matrix", values, rows, tuple(f"c{n}" for n in range(400)), unit="cm"))
    session.add_dataset(Dataset("vector", values[:, 20], rows))
    labels = rng.integers(-1, 2, 300)
    session.add_dataset(Dataset("labels", labels, rows, kind="categorical", categories=("a", "b")))
    sparse = scipy.sparse.random(300, 90, density=0.2, format="csr", random_state=1)
    session.add_dataset(Dataset("sparse", sparse, rows, tuple(map(str, range(90)))))
    plan = make_plan(ToySampler(), {"X": data}, schedule=ToySampler.spec.schedule.with_(draws=400))
    run = session.add_run(plan)
    execute(run, plan, InlineExecutor())
    run.results["noise"] = Result(rng.normal(size=(50, 60)), ("x", "y"), unit="m")
    run.results["flags"] = Result(rng.random((50, 60)) < 0.5, ("x", "y"))
    run.results["counts"] = Result(rng.integers(0, 3, (50, 60)))
    path = session.save(tmp_path_factory.mktemp("s") / "s.plaidwork")
    return session, path


@pytest.fixture
def path(made, tmp_path):
    return shutil.copy2(made[1], tmp_path / "s.plaidwork")


def parts_of(session):
    """Data and results that may be read later, by name."""
    run = next(iter(session.runs.values()))
    results = {name: found for name, found in run.results.items() if isinstance(found, Result)}
    return {**session.datasets, **results}


def same(session, other):
    """Whether all values are equal, of the same type and shape."""
    a, b = parts_of(session), parts_of(other)
    assert a.keys() == b.keys()
    for name in a:
        one, two = a[name].values, b[name].values
        if scipy.sparse.issparse(one):
            assert type(one) is type(two)
            one, two = one.toarray(), two.toarray()
        assert one.dtype == two.dtype, name
        assert np.array_equal(one, two, equal_nan=one.dtype.kind == "f"), name
    one, two = (next(iter(found.runs.values())) for found in (session, other))
    for variable in one.spec.variables:
        for a, b in zip(one.chains, two.chains, strict=True):
            assert same_values(a.state, b.state)
            assert same_values(a.saved.state, b.saved.state)
            assert a.draws.count == b.draws.count
            assert a.draws.fixed_shape(variable.name) == b.draws.fixed_shape(variable.name)
            for i in range(a.draws.count):
                assert np.array_equal(a.draws.get(variable.name, i), b.draws.get(variable.name, i))


def stored_draws(session):
    run = next(iter(session.runs.values()))
    return {
        v.name for v in run.spec.variables for chain in run.chains if chain.draws.stored(v.name) is not None
    }


def waiting(session):
    return {name for name, found in parts_of(session).items() if not found.at_hand}


@pytest.mark.long
def test_nothing_large_is_read_before_it_is_needed(made, path):
    session = open_session(path)
    assert waiting(session) == {"matrix", "vector", "sparse", "noise", "flags", "counts"}
    for name, data in session.datasets.items():
        before = made[0].datasets[name]
        for told in ("shape", "n_missing", "is_sparse", "described", "kind", "unit"):
            assert getattr(data, told) == getattr(before, told), (name, told)
        if name != "sparse":
            assert data.nbytes == before.nbytes
    renamed = session.datasets["matrix"].with_(name="other")
    assert waiting(session) >= {"matrix"}
    assert not renamed.at_hand
    assert renamed.n_missing == 7
    same(made[0], session)
    assert waiting(session) == set()
    assert np.shares_memory(renamed.values, session.datasets["matrix"].values)
    assert not renamed.values.flags.writeable


def test_missing_cells_are_counted_once_and_not_where_their_number_came_along():
    values, names = np.array([[1.0, np.nan], [np.nan, 4.0]]), (("a", "b"), ("x", "y"))
    later = Dataset("later", Deferred(values.shape, float, lambda: values), *names)
    told = later.with_(name="told").knowing(missing=2)
    assert (later.known_missing, told.known_missing, told.n_missing) == (None, 2, 2)
    assert not told.at_hand
    assert later.n_missing == later.known_missing == later.with_(unit="mV").known_missing == 2
    assert (told.values.shape, told.known_missing) == (values.shape, 2), "read by now, it is counted no more"
    assert later.with_(values=values).known_missing is None


@pytest.mark.long
def test_digest_of_inputs_is_known_without_reading(made, path):
    session = open_session(path)
    session.save(path)
    again = open_session(path)
    name = "toy data"
    assert again.datasets[name].digest() == made[0].datasets[name].digest()
    changed = again.datasets[name].with_(values=again.datasets[name].values * 2)
    assert changed.digest() != again.datasets[name].digest()


@pytest.mark.long
def test_saved_without_being_read(made, path, tmp_path):
    """Under another name, over itself, and once more: what was written passes all checksums, as a stranger's file has to."""
    session = open_session(path)
    before, draws = waiting(session), stored_draws(session)
    assert {"rho", "flags", "loading"} <= draws
    other = session.save(tmp_path / "other.plaidwork")
    session.save(other)
    session.save(other)
    assert waiting(session) == before
    assert stored_draws(session) == draws
    assert not any(record.saved.at_hand for record in next(iter(session.runs.values())).chains)
    with h5py.File(other) as file:
        arrays = set()
        file.visititems(
            lambda name, thing: arrays.add(f"/{name}") if isinstance(thing, h5py.Dataset) else None
        )
        listed = {item.decode() for item in file["checksums/path"][()]}
    assert {name for name in arrays if not name.startswith("/checksums")} == {
        name for name in listed if not name.endswith("@")
    }
    path.unlink()
    same(made[0], load(other, Session, probed=True))
    same(made[0], open_session(other))
    same(made[0], session)  # whose first file was removed


@pytest.mark.long
def test_chains_go_on_from_draws_that_were_not_read(made, path):
    """As they go on in memory, bit for bit; what is then saved holds old and new draws."""
    again = open_session(path)
    whole = Session("whole")
    plan = make_plan(
        ToySampler(), {"X": whole.add_dataset(toy_data())}, schedule=ToySampler.spec.schedule.with_(draws=415)
    )
    longer = whole.add_run(plan)
    execute(longer, plan, InlineExecutor())
    assert same_chains(resume(again, plugins=ToyRegistry(), draws=15), longer)
    saved = open_session(again.save(path))
    assert same_chains(next(iter(saved.runs.values())), longer)


@pytest.mark.long
def test_readers_hold_no_file_once_all_is_read(path):
    if sys.platform != "linux":
        pytest.skip("counts files by /proc")

    def count():
        gc.collect()
        return len(os.listdir("/proc/self/fd"))

    before = count()
    sessions = [open_session(path) for _ in range(5)]
    assert count() == before + 5
    same(sessions[0], sessions[1])
    assert count() == before + 3
    del sessions
    assert count() == before


def test_a_file_put_in_its_place_does_not_matter(made, path, tmp_path):
    session = open_session(path)
    os.replace(Session("another").save(tmp_path / "another.plaidwork"), path)
    same(made[0], session)


@pytest.mark.long
def test_the_file_is_known_again_by_its_bytes_before_it_is_replaced(path):
    session = open_session(path)
    os.utime(path, (1, 1))
    session.save(path)
    data = bytearray(path.read_bytes())
    data[place_of(path, "data/matrix/X") + 1000] ^= 1
    path.write_bytes(data)
    with pytest.raises(ChangedError):
        session.save(path)


def place_of(path, name):
    with h5py.File(path) as file:
        return file[name].id.get_offset()


def test_every_other_row_is_read_without_the_rest(made, path):
    """Of a plain array; of sparse and packed ones all has to be read, so nothing is given. What was changed is told."""
    session = open_session(path)
    matrix = session.datasets["matrix"]
    assert np.array_equal(matrix.held.every(7), made[0].datasets["matrix"].values[::7], equal_nan=True)
    assert not matrix.at_hand
    assert session.datasets["sparse"].held.every(7) is None
    whole = matrix.held
    assert np.array_equal(whole.get()[::2], whole.every(2), equal_nan=True)
    other = open_session(path).datasets["matrix"].held
    with path.open("r+b") as file:
        file.seek(place_of(path, "data/matrix/X"))
        file.write(b"changed!")
    with pytest.raises(SessionError, match="was changed or damaged"):
        other.every(7)


def test_what_was_changed_in_an_array_is_told_when_it_is_read(made, path):
    name, run = "data/matrix/X", next(iter(made[0].runs))
    data = bytearray(path.read_bytes())
    data[place_of(path, name) + 500_000] ^= 1
    path.write_bytes(data)
    session = open_session(path)
    with pytest.raises(SessionError, match=r"“s.plaidwork” was changed or damaged"):
        _ = session.datasets["matrix"].values
    with pytest.raises(SessionError, match="was changed or damaged"):  # no more when asked again
        _ = session.datasets["matrix"].values
    assert np.array_equal(
        session.runs[run].results["noise"].values, made[0].runs[run].results["noise"].values
    )
    with pytest.raises(
        SessionError, match=r"Could not save: “s.plaidwork” was .*The data “matrix” cannot be"
    ):
        session.save(path)
    session.remove_dataset("matrix")
    session.save(path)
    assert "matrix" not in open_session(path).datasets


def test_one_that_lies_in_one_piece_is_read_when_all_around_was_changed(made, path):
    session = open_session(path)
    data, start = path.read_bytes(), place_of(path, "data/matrix/X")
    first = -(-start // 262_144) * 262_144
    with path.open("r+b") as file:
        file.write(bytes(min(1000, start)))
    if first <= start:  # else it shares its first part with what was changed
        assert np.array_equal(
            session.datasets["matrix"].values, made[0].datasets["matrix"].values, equal_nan=True
        )
    with path.open("r+b") as file:
        file.write(data)
    same(made[0], session)


@pytest.mark.parametrize("seed", range(40))
def test_a_changed_byte_is_told_or_does_no_harm(made, path, seed):
    rng = np.random.default_rng(seed)
    data = bytearray(path.read_bytes())
    for place in rng.integers(0, len(data), rng.integers(1, 4)):
        data[place] ^= int(rng.integers(1, 256))
    path.write_bytes(data)
    try:
        same(made[0], open_session(path))
    except SessionError:
        return


def test_a_file_cut_short_while_it_is_open_is_told(path):
    session = open_session(path)
    os.truncate(path, 2000)
    with pytest.raises(SessionError):
        _ = session.datasets["sparse"].values
    with pytest.raises(SessionError):
        _ = session.datasets["matrix"].values


def test_copies_and_pickles_have_the_values(made, path):
    session = open_session(path)
    noise = parts_of(session)["noise"]
    for twin in (copy.deepcopy(noise), pickle.loads(pickle.dumps(noise))):
        assert np.array_equal(twin.values, parts_of(made[0])["noise"].values)
    saved = next(iter(session.runs.values())).chains[0].saved
    assert same_values(pickle.loads(pickle.dumps(saved)).state, saved.state)
    data = session.datasets["matrix"]
    assert np.array_equal(pickle.loads(pickle.dumps(data)).values, data.values, equal_nan=True)


def test_many_threads_read_once():
    reads = []
    begin = threading.Barrier(4)

    def read():
        reads.append(1)
        return np.arange(3)

    found = Result(Deferred((3,), np.int64, read))
    seen = []

    def ask():
        begin.wait()
        seen.append(found.values)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(reads) == 1
    assert all(one is seen[0] for one in seen)


def test_a_reading_that_fails_is_tried_again():
    tries = []

    def read():
        tries.append(1)
        if len(tries) == 1:
            raise SessionError("not now")
        return np.zeros(2)

    found = Result(Deferred((2,), float, read))
    with pytest.raises(SessionError, match="not now"):
        _ = found.values
    assert found.values.tolist() == [0, 0]


@pytest.fixture
def collecting():
    """Garbage is collected: a window that a test before has left open has it off."""
    before = gc.isenabled()
    gc.enable()
    yield
    if not before:
        gc.disable()


@pytest.mark.usefixtures("collecting")
def test_collecting_garbage_is_on_again_after_reading(path):
    session = open_session(path)
    assert gc.isenabled()
    os.truncate(path, 2000)
    with pytest.raises(SessionError):
        _ = session.datasets["sparse"].values
    assert gc.isenabled()

"""Linear algebra of a fit takes one thread, whatever was imported first and whatever BLAS was told."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import algebra_toy
import pytest
from sparing import some

from plaidwork.core.inference import linear_algebra
from plaidwork.core.inference.linear_algebra import arithmetic, one_thread, one_thread_in_children

TOY = Path(algebra_toy.__file__)


class Library:
    """Stands for a library of the process, or with ``layer`` "openmp" for one whose setting belongs to the thread."""

    user_api, filepath = "blas", "libblas"

    def __init__(self, threads: int = 4, layer: str = "pthreads") -> None:
        self.threads, self.threading_layer = threads, layer

    def get_num_threads(self):
        return self.threads

    def set_num_threads(self, count):
        self.threads = count


@pytest.fixture
def library(monkeypatch):
    found = Library()
    monkeypatch.setattr(linear_algebra, "_libraries", lambda: [found])
    monkeypatch.setattr(linear_algebra, "_limit", linear_algebra._Limit())
    return found


def fitted(first: str, executor: str, cache: Path, threads: str | None) -> list[str]:
    env = {k: v for k, v in os.environ.items() if not k.endswith("_NUM_THREADS")} | {
        "NUMBA_CACHE_DIR": str(cache)
    }
    if threads is not None:
        env["OPENBLAS_NUM_THREADS"] = threads
    command = [sys.executable, str(TOY), first, executor]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.fixture(scope="module")
def cold(tmp_path_factory):
    """Kernel cache and output of a fit that compiled its kernel."""
    cache = tmp_path_factory.mktemp("kernels")
    return cache, fitted("plaidwork", "inline", cache, "1")


@pytest.mark.parametrize(
    ("first", "executor", "threads"),
    some(
        [
            ("numpy", "inline", None),
            ("numpy", "threads", "4"),
            ("plaidwork", "threads", None),
            ("plaidwork", "inline", "2"),
            ("numpy", "processes", "4"),
            ("numpy", "pool", "2"),
        ],
        [],  # each starts a program; the library of this one is asked below
    ),
)
def test_same_draws_whatever_came_first(cold, first, executor, threads):
    cache, (digest, *_) = cold
    found, in_fit, in_summary, as_before = fitted(first, executor, cache, threads)
    assert (in_fit, in_summary) == ("1", "1")
    assert found == digest
    assert as_before == "True"


def test_last_to_leave_sets_back(library):
    first, second = one_thread(), one_thread()
    first.__enter__()
    second.__enter__()
    assert library.threads == 1
    first.__exit__(None, None, None)
    assert library.threads == 1
    second.__exit__(None, None, None)
    assert library.threads == 4


def test_nested_and_after_an_error(library):
    with one_thread():
        with pytest.raises(ValueError, match="within"), one_thread():
            raise ValueError("within")
        assert library.threads == 1
    assert library.threads == 4


def test_choice_of_somebody_else_in_the_meantime_stays(library):
    with one_thread():
        library.threads = 3
    assert library.threads == 3


def test_library_loaded_inside_is_reached_by_the_next(library, monkeypatch):
    late = Library(8)
    late.filepath = "liblate"
    with one_thread():
        monkeypatch.setattr(linear_algebra, "_libraries", lambda: [library, late])
        with one_thread():
            assert late.threads == 1
        assert late.threads == 1
    assert (library.threads, late.threads) == (4, 8)


def test_setting_of_a_thread_is_set_back_in_it(library):
    library.threading_layer = "openmp"
    with one_thread():
        library.threads = 4  # as another thread sees it
        with one_thread():
            assert library.threads == 1
        assert library.threads == 4


def test_many_threads_at_once(library):
    seen = []

    def work():
        for _ in range(200):
            with one_thread():
                seen.append(library.threads)

    workers = [threading.Thread(target=work) for _ in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert set(seen) == {1}
    assert library.threads == 4


def test_children_are_told_and_we_keep_our_setting(monkeypatch):
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "7")
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    with one_thread_in_children():
        assert os.environ["OPENBLAS_NUM_THREADS"] == os.environ["MKL_NUM_THREADS"] == "1"
    assert os.environ["OPENBLAS_NUM_THREADS"] == "7"
    assert "MKL_NUM_THREADS" not in os.environ


@pytest.mark.long
def test_real_libraries_obey_whichever_thread_asks():
    """A chain's thread sets, another sets back: threadpoolctl alone hears only the first."""
    script = (
        "import threading\n"
        "from plaidwork.core.inference.linear_algebra import one_thread\n"
        "from algebra_toy import threads\n"
        "before, seen, both = threads(), [], threading.Barrier(2)\n"
        "def work():\n"
        "    for _ in range(30):\n"
        "        with one_thread():\n"
        "            seen.extend(threads())\n"
        "        both.wait()\n"
        "workers = [threading.Thread(target=work) for _ in range(2)]\n"
        "[w.start() for w in workers]; [w.join() for w in workers]\n"
        "print(set(seen), max(before), max(threads()))\n"
    )
    place = os.pathsep.join(filter(None, (str(TOY.parent), os.environ.get("PYTHONPATH"))))
    env = os.environ | {"OPENBLAS_NUM_THREADS": "2", "PYTHONPATH": place}
    done = subprocess.run(
        [sys.executable, "-c", script], env=env, capture_output=True, text=True, check=False
    )
    assert done.stdout.split() == ["{1}", "2", "2"], done.stderr


def test_processor_and_libraries_are_told():
    found = arithmetic()
    assert found["processor"]
    assert found["instructions"] == arithmetic()["instructions"]
    assert found["BLAS"]

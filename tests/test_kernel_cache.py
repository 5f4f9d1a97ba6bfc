"""The tests' cache of compiled kernels: found by contents, wherever the sources lie."""

import os

import pytest

shared_kernels = pytest.importorskip("shared_kernels", reason="other caches were asked for")

CALLED = "from numba import njit\n\n\n@njit(cache=True)\ndef twice(x):\n    return 2 * x\n"


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Where the kernels of a module in a new folder with these sources are kept."""
    monkeypatch.setenv("PLAIDWORK_KERNELS", str(tmp_path / "kernels"))

    def find(folder, module="guest.sweep", **sources):
        for name, text in sources.items():
            path = tmp_path / folder / f"{name}.py"
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        return shared_kernels._place(module, tmp_path / folder)

    return find


def test_a_copy_elsewhere_has_the_same_kernels_and_a_changed_one_has_not(place):
    first = place("one", sweep=CALLED, plain="x = 1\n")
    assert first.is_dir()
    assert place("two", sweep=CALLED, plain="x = 2  # has no kernels\n") == first
    assert place("three", sweep=CALLED, below=CALLED.replace("2 * x", "x + x")) != first
    assert place("one", module="guest.other") != first


def test_kernels_that_nobody_used_for_long_go(place):
    old, used = place("one", sweep=CALLED), place("two", sweep=CALLED + "\n")
    os.utime(old, (0, 0))
    place("three", sweep=CALLED + "\n\n")
    assert (old.exists(), used.exists()) == (False, True)

"""The cache of compiled kernels: found by contents, wherever the sources lie, and never older than what was compiled in."""

import os
import subprocess
import sys

import pytest

CALLED = "from numba import njit\n\n\n@njit(cache=True)\ndef twice(x):\n    return 2 * x\n"
CALLER = (
    "import plaidwork.core\nfrom numba import njit\n\nfrom {package}.below import (\n    twice,\n)\n\n\n"
    "@njit(cache=True)\ndef four(x):\n    return 2 * twice(x)\n"
)


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Where the kernels of the module ``sweep`` of a new package with these sources are kept."""
    from plaidwork.core import kernel_cache

    monkeypatch.setenv("PLAIDWORK_KERNELS", str(tmp_path / "kernels"))
    made = []

    def find(folder, **sources):
        package = tmp_path / folder / "guest"
        package.mkdir(parents=True)
        for name, text in {"__init__": "", **sources}.items():
            (package / f"{name}.py").write_text(text)
        monkeypatch.syspath_prepend(package.parent)
        for name in ("guest", *(f"guest.{name}" for name in sources)):
            sys.modules.pop(name, None)
        import guest.sweep

        made.append(guest.sweep)
        return kernel_cache._place("guest.sweep", package / "sweep.py")

    yield find
    for name in [name for name in sys.modules if name.partition(".")[0] == "guest"]:
        del sys.modules[name]


def test_a_copy_elsewhere_has_the_same_kernels_and_a_changed_one_has_not(place):
    caller = CALLER.format(package="guest")
    first = place("one", below=CALLED, sweep=caller)
    assert first.is_dir()
    assert place("two", below=CALLED, sweep=caller, beside="x = 2\n") == first  # what it does not import
    assert place("three", below=CALLED.replace("2 * x", "x + x"), sweep=caller) != first
    relative = caller.replace("guest.below", ".below")
    fourth = place("four", below=CALLED, sweep=relative)
    assert place("five", below=CALLED.replace("2 * x", "x + x"), sweep=relative) != fourth


def test_kernels_that_nobody_used_for_long_go(place):
    old, used = place("one", sweep=CALLED), place("two", sweep=CALLED + "\n")
    os.utime(old, (0, 0))
    place("three", sweep=CALLED + "\n\n")
    assert (old.exists(), used.exists()) == (False, True)


def test_a_cache_folder_that_cannot_be_made_is_done_without(place, tmp_path, monkeypatch):
    place("one", sweep=CALLED)
    from plaidwork.core import kernel_cache

    (tmp_path / "file").touch()
    monkeypatch.setenv("PLAIDWORK_KERNELS", str(tmp_path / "file" / "kernels"))
    monkeypatch.setattr(kernel_cache, "_is_ours", lambda *_: True)
    kernel_cache._place.cache_clear()
    function = sys.modules["guest.sweep"].twice.py_func
    assert kernel_cache.SharedCache.from_function(function, function.__code__.co_filename) is None


def test_code_of_other_packages_is_cached_as_ever(tmp_path):
    from plaidwork.core import kernel_cache

    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "sweep.py").write_text(CALLED)
    assert not kernel_cache._is_ours("foreign.sweep", str(tmp_path / "foreign" / "sweep.py"))
    (tmp_path / "alone.py").write_text(CALLED)  # a module beside other packages that know the program
    (tmp_path / "guest").mkdir()
    (tmp_path / "guest" / "sweep.py").write_text(CALLED)
    (tmp_path / "guest" / "model.py").write_text("from plaidwork.core.api import Model\n")
    assert not kernel_cache._is_ours("alone", str(tmp_path / "alone.py"))
    assert kernel_cache._is_ours("guest.sweep", str(tmp_path / "guest" / "sweep.py"))


@pytest.mark.slow
@pytest.mark.parametrize("first", ["import numba", "import plaidwork.core"])
def test_an_update_of_what_a_kernel_calls_is_compiled_anew(tmp_path, first):
    """Both orders of import; without the locator the second process answers 12 again."""
    package = tmp_path / "guest"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "sweep.py").write_text(CALLER.format(package="guest"))
    environment = {
        **{name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_LOCATOR_CLASSES"},
        "PYTHONPATH": os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])]),
        "PLAIDWORK_KERNELS": str(tmp_path / "kernels"),
    }
    code = f"{first}; import plaidwork.core; from guest.sweep import four; print(four(3))"
    answers = []
    for text in (CALLED, CALLED.replace("2 * x", "10 * x")):
        (package / "below.py").write_text(text)
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
        answers.append(done.stdout.strip() or done.stderr)
    assert answers == ["12", "60"]

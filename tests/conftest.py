"""No test sees, or writes, the settings and plugins of whoever runs it."""

import gc
import os

import pytest
from hypothesis import settings

from plaidwork.core.inference.linear_algebra import one_thread

settings.register_profile("unhurried", deadline=None)  # a busy machine finds no fault
settings.load_profile("unhurried")


LONGEST = ("test_conformance.py", "test_earlier_sessions.py", "test_contract.py")
"""Files that come first: the longest, begun as the last, would hold one of several processes alone."""


def pytest_xdist_auto_num_workers():
    """One more than there are processors: tests that wait for a process or a timer leave theirs to others."""
    return len(os.sched_getaffinity(0)) + 1 if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1) + 1


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: item.path.name not in LONGEST)


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Modules and tests stay until the end: no collection of cycles goes through them, now or later."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture(scope="session", autouse=True)
def _one_thread():
    """Linear algebra as in a fit, for tests that call a model's methods themselves."""
    with one_thread():
        yield


@pytest.fixture(scope="session", autouse=True)
def _own_folders(tmp_path_factory):
    folder = tmp_path_factory.mktemp("user")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PLAIDWORK_CONFIG", str(folder / "config"))
        patch.setenv("PLAIDWORK_PLUGINS", str(folder / "plugins"))
        patch.setenv("PLAIDWORK_LANGUAGE", "en")  # whatever the desktop speaks
        patch.setenv(
            "PLAIDWORK_PLUGIN_TRIALS", "off"
        )  # a process per plugin; test_plugin_trial.py turns it on
        for name in ("PLAIDWORK_DISABLE", "PLAIDWORK_PLUGIN_DIRS", "PLAIDWORK_PLUGIN_SECONDS"):
            patch.delenv(name, raising=False)
        yield


@pytest.fixture
def qtbot(qtbot):
    """Widgets of a test live until it has ended.

    One without a parent, held by nothing but a function that is connected to a child of it, would go while that child goes,
    and take it along a second time.
    """
    held, add = [], qtbot.addWidget

    def hold(widget, **options):
        held.append(widget)
        add(widget, **options)

    qtbot.addWidget = hold
    yield qtbot
    held.clear()

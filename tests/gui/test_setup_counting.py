"""The missing cells of large data are counted before the set-up asks for them, never on the thread of the window."""

import threading

import numpy as np
import pytest

from plaidwork.core.data.dataset import Dataset
from plaidwork.core.deferred import Deferred
from plaidwork.core.errors import SessionError
from plaidwork.gui.data import counting
from plaidwork.gui.workbench import Workbench
from tests.gui.window_tools import dataset, toy_registry, window_on

WAIT = 60_000


@pytest.fixture
def counts(monkeypatch):
    """Names and threads of counts of more than a few cells, which wait for ``may``."""
    told, may, real = [], threading.Event(), Dataset._count_missing
    may.set()

    def count(data):
        if np.prod(data.shape) > counting.FEW:
            may.wait(20)
            told.append((data.name, threading.current_thread() is threading.main_thread()))
        return real(data)

    monkeypatch.setattr(counting, "FEW", 50)
    monkeypatch.setattr(Dataset, "_count_missing", count)
    return told, may


@pytest.fixture
def window(qapp, tmp_path, monkeypatch, counts):
    monkeypatch.setenv("PLAIDWORK_CONFIG", str(tmp_path / "config"))
    monkeypatch.setenv("PLAIDWORK_STATE", str(tmp_path / "state"))
    with window_on(Workbench(toy_registry()), tmp_path) as made:
        yield made


def with_gaps(name):
    """Large data, with three gaps, which the toy models cannot take."""
    whole = dataset(name, 40, 20)
    values = whole.values.copy()
    values[:3, 0] = np.nan
    return whole.with_(values=values)


def offered(page):
    return set(page.inputs_form.field("X")._offer.datasets)


def opened(window, qtbot, focus=()):
    window.commands.set_up_fit(focus=focus)
    qtbot.waitUntil(lambda: window.setup_page is not None, timeout=WAIT)
    return window.setup_page


@pytest.mark.parametrize("fill", [None, lambda page: page.set_model("toy.climb")])
def test_large_data_are_counted_before_the_page_opens(qtbot, window, counts, fill):
    told, may = counts
    may.clear()
    for made in (dataset("large", 40, 20), with_gaps("gaps"), dataset("small")):
        window.workbench.session.add_dataset(made)
    window.commands.set_up_fit(fill, focus=["large"])
    qtbot.wait(100)
    assert window.setup_page is None
    may.set()
    qtbot.waitUntil(lambda: window.setup_page is not None, timeout=WAIT)
    page = window.setup_page
    assert page.inputs() == {"X": ["large"]}
    assert offered(page) == {"large", "small"}
    assert sorted(told) == [("gaps", False), ("large", False)], "each once, and none by the window"


def test_data_that_come_while_it_is_open_are_offered_once_they_are_counted(qtbot, window, counts):
    told, may = counts
    window.workbench.session.add_dataset(dataset("small"))
    page = opened(window, qtbot)
    may.clear()
    for made in (with_gaps("gaps"), dataset("large", 40, 20)):
        page.take([window.workbench.add_dataset(made).name])
    page.set_model("toy.climb")
    page.open_models().close()
    assert offered(page) == {"small"}
    may.set()
    qtbot.waitUntil(lambda: page.inputs() == {"X": ["large"]}, timeout=WAIT)
    assert offered(page) == {"small", "large"}
    page.set_model("toy.walk")
    assert page.inputs() == {"X": ["large"]}
    assert not any(by_window for _, by_window in told)


def test_data_that_cannot_be_read_are_told_and_not_offered(qtbot, window):
    window.workbench.session.add_dataset(dataset("small"))
    page = opened(window, qtbot)

    def values():
        raise SessionError("“s.plaidwork” was changed.", "Open it again.")

    found = dataset("later", 40, 20)
    window.workbench.add_dataset(found.with_(values=Deferred(found.shape, float, values)))
    qtbot.waitUntil(lambda: "“s.plaidwork” was changed." in page.foot.message.text, timeout=WAIT)
    assert offered(page) == {"small"}

"""F1 opens the page about what is in front, from this computer."""

import pytest
from PySide6.QtGui import QDesktopServices

from plaidwork.core.session.session import Session
from plaidwork.gui import documentation
from plaidwork.gui.documentation import address, topic
from plaidwork.gui.workbench import Workbench
from tests.gui.window_tools import dataset, plan, toy_registry, window_on


@pytest.fixture
def window(qtbot, tmp_path):
    with window_on(Workbench(toy_registry()), tmp_path) as made:
        yield made
        made.workbench.set_session(Session())


def test_each_place_of_the_window_has_its_page(window, qtbot):
    assert topic(window) == "start-here"
    window.workbench.add_dataset(dataset())
    window.show_session()
    window.show_item("data", "numbers")
    assert topic(window).startswith("command-line#")
    with qtbot.waitSignal(window.workbench.results_changed, timeout=20_000):
        window.commands._start_plan(plan(draws=20), "")
    run = window.current_run()
    window.workspace.go_to(f"{run.id}/diagnostics")
    assert topic(window) == "diagnostics"
    window.workspace.go_to(f"{run.id}/settings")
    assert topic(window) == "models/toy.walk"


def test_the_built_page_comes_before_that_of_the_checkout(tmp_path):
    site, pages = tmp_path / "site", tmp_path / "docs"
    places = ((site, ".html"), (pages, ".md"))
    assert address("diagnostics", places) is None
    for folder, name in ((pages, "diagnostics.md"), (pages, "index.md")):
        folder.mkdir(exist_ok=True)
        (folder / name).touch()
    assert address("diagnostics", places).toLocalFile() == str(pages / "diagnostics.md")
    assert address("models/of_a_guest", places).toLocalFile() == str(pages / "index.md")
    site.mkdir()
    (site / "diagnostics.html").touch()
    found = address("diagnostics#what-now", places)
    assert (found.toLocalFile(), found.fragment()) == (str(site / "diagnostics.html"), "what-now")


def test_f1_opens_it_and_says_when_it_cannot(window, monkeypatch, tmp_path):
    opened = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(url.fileName()) or True)
    window.actions_by_key["documentation"].trigger()
    assert opened[0].startswith("start-here.")
    monkeypatch.setattr(documentation.address, "__defaults__", (((tmp_path, ".html"),),))
    window.actions_by_key["documentation"].trigger()
    assert window.messages.current.title == "The documentation could not be opened"


@pytest.mark.parametrize(
    "name", ["start-here", "diagnostics", "models/index", "solutions", "command-line", "index"]
)
def test_every_page_that_is_opened_exists(name):
    assert address(name).toLocalFile().rsplit(".", 1)[0].endswith(name)

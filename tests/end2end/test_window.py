"""The whole way through real widgets: a file, its import, settings, a fit, results, saving, opening, going on."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
from asked import answering
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QDialog, QFileDialog, QLabel, QPushButton

from plaidwork.core.plugins.registry import registry
from plaidwork.core.session.session import Session
from plaidwork.gui.main_window import MainWindow
from plaidwork.gui.settings import Settings
from plaidwork.gui.tasks import wait_for_tasks
from plaidwork.gui.workbench import Workbench

CONTROL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


@pytest.fixture
def window(qapp, tmp_path, monkeypatch):
    monkeypatch.setenv("PLAIDWORK_CONFIG", str(tmp_path / "config"))
    made = MainWindow(Workbench(registry()), Settings(tmp_path / "config"))
    made.resize(1280, 800)
    made.show()
    yield made
    for run in made.workbench.active_runs():
        made.workbench.stop(run)
    made.workbench.wait(10_000)
    wait_for_tasks()
    qapp.processEvents()
    made.workbench.set_session(Session())
    made.close()
    made.deleteLater()
    wait_for_tasks()


def planted(rows: int = 40, columns: int = 30) -> np.ndarray:
    """One clear block of 12 x 10 in noise, rows and columns shuffled."""
    rng = np.random.default_rng(5)
    values = rng.normal(size=(rows, columns))
    values[np.ix_(rng.permutation(rows)[:12], rng.permutation(columns)[:10])] += 4
    return values


def write_csv(path, values: np.ndarray) -> None:
    names = ",".join(f"s{j + 1:02d}" for j in range(values.shape[1]))
    lines = [f"gene,{names}"]
    lines += [f"g{i + 1:02d}," + ",".join(f"{value:.6f}" for value in row) for i, row in enumerate(values)]
    with gzip.open(path, "wt") as stream:
        stream.write("\n".join(lines))


def click(qtbot, widget) -> None:
    qtbot.mouseClick(widget, Qt.MouseButton.LeftButton)


def press(qtbot, window, key, modifiers) -> None:
    """A shortcut; after a dialog the window must be the active one again, or Qt drops it."""
    window.activateWindow()
    qtbot.wait(100)
    qtbot.keyClick(window, key, modifiers)


def import_file(qtbot, window, path, monkeypatch) -> None:
    """File menu, file chooser, and the import dialog confirmed by its button once it has read the preview."""
    from plaidwork.gui.data.import_dialog import ImportDialog

    monkeypatch.setattr(QFileDialog, "getOpenFileNames", lambda *a, **k: ([str(path)], ""))

    def confirm(dialog: QDialog) -> bool:
        if not isinstance(dialog, ImportDialog) or not dialog.import_button.isEnabled():
            return False
        click(qtbot, dialog.import_button)
        return True

    with answering(confirm):
        press(qtbot, window, Qt.Key.Key_I, CONTROL)


def type_into(qtbot, page, name: str, text: str) -> None:
    """Replace what a sampling field of the set-up page holds, by keys."""
    from PySide6.QtWidgets import QLineEdit

    field = page.schedule_form.field(name).findChild(QLineEdit)
    field.setFocus()
    field.selectAll()
    qtbot.keyClicks(field, text)
    qtbot.keyClick(field, Qt.Key.Key_Tab)


def want_just_so_many_draws(qtbot, page) -> None:
    """Choose a fixed number of draws on the set-up page, by keys."""
    from PySide6.QtWidgets import QComboBox

    choice = page.schedule_form.field("until").findChild(QComboBox)
    choice.setFocus()
    qtbot.keyClicks(choice, "Fixed")
    assert choice.currentText() == "Fixed number of draws"


@pytest.mark.long
def test_from_a_file_to_a_resumed_fit(window, qtbot, tmp_path, monkeypatch):
    source = tmp_path / "cells.csv.gz"
    values = planted()
    write_csv(source, values)
    import_file(qtbot, window, source, monkeypatch)
    dataset = next(iter(window.workbench.session.datasets.values()))
    assert dataset.shape == (40, 30)
    assert dataset.row_names[0] == "g01"
    assert np.allclose(dataset.values, values, atol=1e-6)

    qtbot.waitUntil(lambda: window.setup_page is not None, timeout=20_000)
    page = window.setup_page
    page.set_model("infinite_plaid")
    assert page.inputs()["X"] == [dataset.name]
    want_just_so_many_draws(qtbot, page)
    for name, text in (("chains", "2"), ("warmup", "100"), ("draws", "60")):
        type_into(qtbot, page, name, text)
    with qtbot.waitSignal(window.workbench.runs_changed, timeout=20_000):
        press(qtbot, window, Qt.Key.Key_Return, CONTROL)
    run = window.current_run()
    assert window.workspace.tabs.tabText(0) == "Live"
    qtbot.waitUntil(lambda: bool(run.results) and not run.active, timeout=60_000)
    assert run.status == "done"
    assert run.n_draws == 120
    assert "1 block covers" in run.results["headline"] or "1 blocks" in run.results["headline"]

    look_at_blocks(qtbot, window, run)

    path = tmp_path / "cells.plaidwork"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *a, **k: (str(path), ""))
    with qtbot.waitSignal(window.workbench.saved, timeout=20_000):
        press(qtbot, window, Qt.Key.Key_S, CONTROL)
    assert not window.isWindowModified()
    press(qtbot, window, Qt.Key.Key_N, CONTROL | SHIFT)
    assert window.centre.currentWidget() is window.welcome

    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *a, **k: (str(path), ""))
    with qtbot.waitSignal(window.workbench.session_replaced, timeout=20_000):
        press(qtbot, window, Qt.Key.Key_O, CONTROL)
    again = window.current_run()
    assert again.results["headline"] == run.results["headline"]

    with answering("go"):  # proposes 60 more
        press(qtbot, window, Qt.Key.Key_Return, CONTROL)
    qtbot.waitUntil(lambda: again.n_draws == 240 and not again.active, timeout=60_000)

    from plaidwork.core import fit
    from plaidwork.core.inference.executor import InlineExecutor

    whole = fit("infinite_plaid", {"X": dataset}, chains=2, warmup=100, draws=120, executor=InlineExecutor())
    assert np.array_equal(whole.draws["log_joint"], again.draws["log_joint"])
    assert np.array_equal(whole.draws["Z1"], again.draws["Z1"])


def look_at_blocks(qtbot, window, run) -> None:
    """The finished bar leads to the picture; a click isolates the block; the side panel and the keys follow."""

    def offered() -> list[QPushButton]:
        found = window.messages.findChildren(QPushButton)
        return [b for b in found if b.text() == "Show results" and b.isVisible()]

    qtbot.waitUntil(lambda: bool(offered()), timeout=20_000)
    click(qtbot, offered()[-1])
    page = window.workspace.current_page()
    qtbot.waitUntil(lambda: page.loaded is not None and page.canvas.picture is not None, timeout=20_000)
    panel = page.side_panel()
    assert window.docks.side_stack.currentWidget() is panel
    selection = window.workbench.selection(run)
    qtbot.waitUntil(lambda: len(page.canvas.parts(0)) > 0, timeout=20_000)
    inside = page.canvas.parts(0)[0].center().toPoint() + QPoint(0, 4)
    qtbot.mouseClick(page.canvas, Qt.MouseButton.LeftButton, pos=inside)
    qtbot.waitUntil(lambda: selection.get("layer") == (0,), timeout=20_000)
    qtbot.keyClick(page.canvas, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: selection.get("layer") == (), timeout=20_000)
    qtbot.keyClick(page.canvas, Qt.Key.Key_BracketRight)
    qtbot.waitUntil(lambda: selection.get("layer") == (0,), timeout=20_000)
    for index in range(window.workspace.tabs.count()):
        window.workspace.tabs.setCurrentIndex(index)
        qtbot.wait(60)
    assert "could not be shown" not in " ".join(
        getattr(window.workspace.page(info.key), "title", "") or "" for info in window.workspace._infos
    )


def test_a_file_with_a_bad_cell_is_refused_with_its_place(window, qtbot, tmp_path, monkeypatch):
    source = tmp_path / "bad.csv"
    source.write_text("gene,a,b\ng1,1.5,2\ng2,oops,3\ng3,1,2\n")
    from plaidwork.gui.data.import_dialog import ImportDialog

    monkeypatch.setattr(QFileDialog, "getOpenFileNames", lambda *a, **k: ([str(source)], ""))
    seen: list[str] = []

    def read_and_close(dialog: QDialog) -> bool:
        assert isinstance(dialog, ImportDialog)
        words = " ".join(label.text() for label in dialog.findChildren(QLabel) if label.isVisible())
        if "oops" not in words:
            return False
        seen.append(words)
        click(qtbot, dialog.cancel_button)
        return True

    with answering(read_and_close):
        press(qtbot, window, Qt.Key.Key_I, CONTROL)
    assert seen, "the dialog never named the bad cell"
    assert not window.workbench.session.datasets


@pytest.mark.long
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_an_example_opens_in_one_click_ready_to_start(window, qtbot, scheme):
    from plaidwork.core.data.samples import bundled_samples
    from plaidwork.gui.theme import theme

    theme().set_mode(scheme)
    window.welcome.set_examples([(sample, sample.model) for sample in bundled_samples()])
    qtbot.wait(50)
    card = window.welcome._cards[1]
    with qtbot.waitSignal(window.workbench.session_replaced, timeout=20_000):
        qtbot.mouseClick(card, Qt.MouseButton.LeftButton, pos=QPoint(20, 20))
    qtbot.waitUntil(lambda: window.setup_page is not None, timeout=20_000)
    assert window.setup_page.spec.id == card.sample.model
    assert window.minimumSizeHint().width() <= 1024

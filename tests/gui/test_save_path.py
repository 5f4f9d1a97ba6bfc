"""Where files go: the suffix before the question, names from what is in front, safe on every system."""

import pytest
from asked import answering
from PySide6.QtWidgets import QFileDialog, QWidget

from plaidwork.gui.pictures.paper_dialog import PaperDialog
from plaidwork.gui.save_path import PICTURES, ask_save_path, proposed_name
from tests.gui.result_runs import toy_run


def choosing(monkeypatch, *names):
    """Let the file dialog answer with these (name, kind), one after the other; what it was asked."""
    left, asked = list(names), []

    def answer(parent, title, start, kinds, *rest):
        asked.append((start, rest))
        return left.pop(0)

    monkeypatch.setattr(QFileDialog, "getSaveFileName", answer)
    return asked


@pytest.mark.parametrize(
    ("typed", "kind", "written"),
    [
        ("curve", "SVG (*.svg)", "curve.svg"),
        ("curve", "", "curve.png"),
        ("curve.", "PDF (*.pdf)", "curve.pdf"),
        ("curve.v2", "PNG (*.png)", "curve.v2.png"),
        ("curve.PDF", "PNG (*.png)", "curve.PDF"),
    ],
)
def test_a_missing_suffix_is_added(qapp, tmp_path, monkeypatch, typed, kind, written):
    choosing(monkeypatch, (str(tmp_path / typed), kind))
    assert ask_save_path(None, "Export", "x.png", PICTURES) == tmp_path / written


def test_it_is_asked_whether_to_replace_the_file_that_will_be_written(qtbot, tmp_path, monkeypatch):
    parent = QWidget()
    qtbot.addWidget(parent)
    (tmp_path / "curve.png").write_bytes(b"old")
    asked = choosing(
        monkeypatch, (str(tmp_path / "curve"), "PNG (*.png)"), (str(tmp_path / "other"), "PNG (*.png)")
    )
    with answering("cancel"):
        assert ask_save_path(parent, "Export", "x.png", PICTURES) == tmp_path / "other.png"
    assert asked[1][0] == str(tmp_path / "curve.png")
    assert asked[0][1][-1] == QFileDialog.Option.DontConfirmOverwrite
    choosing(monkeypatch, (str(tmp_path / "curve"), "PNG (*.png)"))
    with answering("replace"):
        assert ask_save_path(parent, "Export", "x.png", PICTURES) == tmp_path / "curve.png"


def test_names_are_safe_everywhere():
    assert (
        proposed_name("A/B: what?", "Run 1", "R-hat <1.01>", suffix=".png") == "A-B-what_Run-1_R-hat-1.01.png"
    )
    assert proposed_name("con", "", "nul.txt", suffix=".csv") == "con__nul.txt_.csv"
    assert len(proposed_name(*["x" * 300] * 1, "y" * 300, "z" * 300, suffix=".plaidwork")) < 255
    assert proposed_name("…", suffix=".csv") == "unnamed.csv"


def test_a_picture_is_named_after_session_run_and_view(qtbot, opened, monkeypatch, tmp_path):
    workbench, run = toy_run()
    workbench.session.name, run.title = "Cells / day 3", "Walk 1"
    page = opened((workbench, run), run.spec.views[0])
    asked = choosing(monkeypatch, ("", ""))
    page.ask_export()
    dialog = page.findChild(PaperDialog)
    qtbot.waitUntil(lambda: not dialog.busy() and dialog.preview.image is not None)
    dialog.save()
    dialog.close()
    assert asked[0][0] == f"Cells-day-3_Walk-1_Blocks.{dialog.kind.current}"

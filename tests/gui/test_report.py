"""The figures of a report as the paper draws them, the report as PDF, and the command of the window."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QSizeF, QUrl
from PySide6.QtGui import QImage, QTextDocument

from plaidwork.core.cli import main
from plaidwork.core.pictures import Cells, Panel, Picture
from plaidwork.core.report import html_of, make_report
from plaidwork.gui.results import report as drawn_reports
from plaidwork.gui.results.report import HALF, _keep_together, _needs_page, drawer, write_pdf
from plaidwork.gui.session_tree import RUN
from tests.gui.factor_runs import factor_run
from tests.gui.test_picture_page import CURVE
from tests.gui.window_tools import window_on


def test_figures_are_vectors_or_dots(qapp, monkeypatch):
    workbench, run = factor_run()
    figure = drawer()(workbench.session, run, CURVE, True)
    assert figure.drawing.media == "image/svg+xml"
    assert figure.drawing.data.startswith(b"<?xml")
    assert figure.headline.encode() not in figure.drawing.data.split(b"<g", 1)[1]  # the page tells it
    dots = drawer(vector=False)(workbench.session, run, CURVE, False).drawing
    assert QImage.fromData(dots.data).width() > 2 * dots.width
    monkeypatch.setattr(drawn_reports, "_HEAVY", 100)
    assert drawer()(workbench.session, run, CURVE, True).drawing.media == "image/png"


def test_a_report_is_written_by_the_command_line(qapp, tmp_path, capsys):
    workbench, run = factor_run()
    path = workbench.session.save(tmp_path / "s.plaidwork")
    assert main(["report", str(path), "--picture", "none"]) == 0
    page = (tmp_path / "s.html").read_text(encoding="utf-8")
    assert run.title in page
    assert "<img" not in page
    assert main(["report", str(path)]) == 2
    assert "exists already" in capsys.readouterr().err
    assert main(["report", str(path), "-o", str(tmp_path / "s.doc")]) == 2
    assert "as .html or .pdf" in capsys.readouterr().err


def test_a_report_is_printed(qapp, tmp_path):
    workbench, _ = factor_run()
    report = make_report(workbench.session, drawer(vector=False), chosen=[CURVE.title])
    path = write_pdf(report, tmp_path / "r.pdf")
    assert path.read_bytes().startswith(b"%PDF")
    assert [p.name for p in tmp_path.iterdir()] == ["r.pdf"]
    assert "data:image/svg" not in html_of(report)


def test_the_window_writes_a_report_in_the_background(qtbot, tmp_path, monkeypatch):
    from plaidwork.gui.commands import exports

    workbench, run = factor_run()
    monkeypatch.setattr(exports, "ask_save_path", lambda *told: tmp_path / "written.html")
    with window_on(workbench, tmp_path) as window:
        window.actions_by_key["write_report"].trigger()
        qtbot.waitUntil((tmp_path / "written.html").exists, timeout=20_000)
    assert run.title in (tmp_path / "written.html").read_text(encoding="utf-8")


def test_the_words_above_a_figure_are_on_its_page(qapp):
    image = QImage(400, 300, QImage.Format.Format_RGB32)
    image.fill(0)
    document = QTextDocument()
    document.addResource(QTextDocument.ResourceType.ImageResource, QUrl("x.png"), image)
    filler = "".join(f"<p>line {k}</p>" for k in range(8))
    strong = '<p style="font-weight:600">headline</p><p>caption</p>'
    image_tag = '<p><img src="x.png" width="400" height="300"></p>'
    beside = f"<table><tr><td>{strong}{image_tag}</td><td>{strong}{image_tag}</td></tr></table>"
    apart = f"<table><tr><td>{image_tag}</td><td><p>words beside</p></td></tr></table>"
    document.setHtml(
        f"{filler}{strong}{image_tag}<p>note</p>{filler}{beside}{apart}{filler}{filler}<h3>head</h3><p>{'word ' * 900}</p>"
    )
    document.setPageSize(QSizeF(900, 500))
    _keep_together(document, 500.0)

    def pages(word):
        block, found = document.begin(), []
        while block.isValid():
            if word in block.text():
                found.append(document.documentLayout().blockBoundingRect(block).bottom() // 500)
            block = block.next()
        return found

    assert pages("headline") == pages("\ufffc")[:3]
    assert pages("words beside") == [pages("\ufffc")[3]]
    assert pages("headline")[0] == 1  # it would have been at the foot of the first page
    assert document.documentLayout().blockBoundingRect(document.lastBlock()).top() // 500 == pages("head")[-1]


@pytest.mark.parametrize(
    ("lines", "page", "smaller", "high"),
    [(3, 0, False, 380), (6, 0, True, 380), (9, 0, True, 380), (16, 1, False, 380), (16, 1, True, 490), (0, 0, True, 560)],
)  # fmt: skip
def test_an_image_shrinks_a_little_before_a_page_stays_empty(qapp, lines, page, smaller, high):
    """And its headline and note stay with it; where much is missing all of them go to the next page."""
    image = QImage(400, high, QImage.Format.Format_RGB32)
    image.fill(0)
    document = QTextDocument()
    document.setDocumentMargin(0)
    document.addResource(QTextDocument.ResourceType.ImageResource, QUrl("x.png"), image)
    filler = "".join('<p style="margin:0;line-height:16px">line</p>' for _ in range(lines))
    parts = f'<p style="margin:0;font-weight:600">headline</p><p><img src="x.png" width="400" height="{high}"></p><p>note</p>'
    document.setHtml(filler + parts)
    document.setPageSize(QSizeF(900, 500))
    _keep_together(document, 500.0)
    block, found = document.begin(), {}
    while block.isValid():
        found[block.text()] = block
        block = block.next()
    boxes = {text: document.documentLayout().blockBoundingRect(one) for text, one in found.items()}
    assert {boxes[text].bottom() // 500 for text in ("headline", "\ufffc", "note")} == {page}
    assert (boxes["\ufffc"].height() < high) == smaller
    assert boxes["\ufffc"].height() > 240


@pytest.mark.parametrize("lines", range(4, 14))
def test_notes_below_figures_and_commands_stay_with_them(qapp, lines):
    """Wherever a page ends: the notes of two figures beside each other, and the command below what it does."""
    image = QImage(300, 200, QImage.Format.Format_RGB32)
    image.fill(0)
    document = QTextDocument()
    document.addResource(QTextDocument.ResourceType.ImageResource, QUrl("x.png"), image)
    filler = "".join(f"<p>line {k}</p>" for k in range(lines))
    cell = '<td><p>headline</p><p><img src="x.png" width="300" height="200"></p><p>note</p></td>'
    document.setHtml(f"{filler}<table><tr>{cell}{cell}</tr></table>{filler}<p>It does:</p><pre>command</pre>")
    document.setPageSize(QSizeF(900, 500))
    _keep_together(document, 500.0)
    tops, ends, block = {}, {}, document.begin()
    while block.isValid():
        box = document.documentLayout().blockBoundingRect(block)
        tops[block.text()], ends[block.text()] = box.top() // 500, (box.bottom() - 1) // 500
        block = block.next()
    assert tops["headline"] == ends["note"]
    assert tops["It does:"] == ends["command"]


@pytest.mark.parametrize("lines", range(12, 24))
def test_a_heading_is_on_the_page_of_its_table(qapp, lines):
    """With its head and two rows, wherever a page ends."""
    document = QTextDocument()
    rows = "".join(f"<tr><td>row {k}</td></tr>" for k in range(9))
    filler = "".join(f"<p>line {k}</p>" for k in range(lines))
    document.setHtml(f"{filler}<h3>heading</h3><table><tr><th>head</th></tr>{rows}</table>")
    document.setPageSize(QSizeF(900, 500))
    _keep_together(document, 500.0)
    found, block = {}, document.begin()
    while block.isValid():
        found[block.text()] = document.documentLayout().blockBoundingRect(block).bottom() // 500
        block = block.next()
    assert found["heading"] == found["head"] == found["row 0"] == found["row 1"]


def test_matrices_of_many_columns_take_the_width_of_the_page(qapp):
    def matrix(count: int) -> Picture:
        cells = Cells(np.zeros((5, count)), -0.5, count - 0.5, -0.5, 4.5)
        return Picture("Cells", panels=(Panel((cells,)),))

    assert _needs_page(matrix(90), HALF)
    assert not _needs_page(matrix(12), HALF)


def test_what_to_write_in_the_paper_is_shown_to_be_copied(qtbot, tmp_path, monkeypatch):
    from plaidwork.gui.commands import exports

    shown = []
    monkeypatch.setattr(exports, "show_text", lambda parent, title, text, lead, wrapped: shown.append(text))
    workbench, run = factor_run()
    with window_on(workbench, tmp_path) as window:
        window.tree.select(RUN, run.id)
        window.actions_by_key["write_methods"].trigger()
        qtbot.waitUntil(lambda: bool(shown), timeout=20_000)
        window.workspace.current_page().methods_asked.emit(run.id)  # as the button beside the verdict does
        qtbot.waitUntil(lambda: len(shown) == 2, timeout=20_000)
    assert shown[0] == shown[1]
    assert run.spec.title in shown[0]
    assert "The references as BibTeX" in shown[0]

"""Export of a picture from the window and without it: the same paper, its marks, and what is remembered of it."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtGui import QGuiApplication, QImage
from shiboken6 import isValid

from plaidwork.core import pictures as p
from plaidwork.gui.pictures import paper_dialog
from plaidwork.gui.pictures.paper import Paper, picture_image, roomy, snug, write_picture
from plaidwork.gui.pictures.paper_dialog import PaperDialog
from plaidwork.gui.pictures.style import paper_style
from plaidwork.gui.results.render import write_view
from tests.gui.factor_runs import factor_run
from tests.gui.test_picture_page import CURVE

PICTURE = p.Picture("A line", "It rises.", (p.Panel((p.Line([0, 1], [0, 1]),)),), notes="Two points.")


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch):
    monkeypatch.setattr(paper_dialog, "_last", {})


@pytest.fixture
def dialog(qtbot):
    made = PaperDialog(PICTURE, "folder/line", "Data: some. Seed 7")
    with qtbot.waitExposed(made):
        made.show()
    qtbot.waitUntil(lambda: not made.busy() and made.preview.image is not None)
    yield made
    if isValid(made):
        made.close()


def texts(path):
    """All texts that are drawn in an SVG."""
    return " ".join(re.findall(r"<text[^>]*>([^<]*)", path.read_text(encoding="utf-8")))


def svg(picture, tmp_path, **paper):
    return texts(write_picture(picture, tmp_path / "a.svg", Paper(**paper)))


def test_doubt_and_origin_stand_on_paper_without_a_title_too(qapp, tmp_path):
    marked = replace(PICTURE, doubt="Not to be trusted yet", origin="Data: some")
    with_title, without = svg(marked, tmp_path), svg(marked, tmp_path, titled=False)
    for words in ("Not to be trusted yet", "Data: some"):
        assert words in with_title
        assert words in without
        assert words not in svg(PICTURE, tmp_path)
    for words in ("It rises.", "Two points."):
        assert words in with_title
        assert words not in without


def test_paper_without_marks_is_as_before(qapp):
    """What is drawn of a picture has the whole sheet when nothing stands around it."""
    plain, marked = (
        picture_image(picture, Paper(dpi=60, titled=False))
        for picture in (PICTURE, replace(PICTURE, origin="Data: some"))
    )
    assert plain.size() == marked.size()
    assert plain != marked


def test_a_small_paper_is_made_higher_for_its_words(qapp):
    """Words never lie over the panels; a paper with room for both keeps its size, in either theme."""
    told = replace(PICTURE, headline="A long headline " * 5, doubt="Not settled", origin="Data: some. " * 6)
    small = Paper(60, 45, 7.0)
    assert roomy(told, small).height > roomy(PICTURE, small).height
    assert roomy(told, small).height > 60
    for paper in (Paper(), Paper(85, 60, 7.0)):
        assert roomy(PICTURE, paper) == paper
    two = replace(PICTURE, panels=PICTURE.panels * 3)
    assert roomy(two, Paper(85, 60, 7.0)).height > 60


def test_the_dialog_shows_what_is_written(dialog, qtbot, monkeypatch, tmp_path):
    dialog.kind.set_current("svg")
    dialog.kind.changed.emit("svg")
    dialog.width_field.setValue(80)
    dialog.height_field.setValue(60)
    dialog.origin.setChecked(True)
    dialog.titled.setChecked(False)
    asked = []
    monkeypatch.setattr(
        paper_dialog, "ask_save_path", lambda *told: asked.append(told) or tmp_path / "line.svg"
    )
    with qtbot.waitSignal(dialog.written) as written:
        dialog.save()
    assert written.args == [tmp_path / "line.svg"]
    assert asked[0][2:] == ("folder/line.svg", "SVG (*.svg)")
    assert 'width="79.9' in (tmp_path / "line.svg").read_text(encoding="utf-8")
    text = texts(tmp_path / "line.svg")
    assert "Data: some. Seed 7" in text
    assert "It rises." not in text


def test_what_was_chosen_is_there_for_the_next_picture(dialog, qtbot):
    dialog.dpi.setValue(120)
    dialog.scheme.set_current("dark")
    dialog.scheme.changed.emit("dark")
    dialog.origin.setChecked(True)
    other = PaperDialog(PICTURE, "other")
    assert (other.paper.dpi, other.paper.scheme) == (120, "dark")
    assert not other.origin.isEnabled()
    assert not other.sheet.origin
    other.close()


def test_the_preview_follows_and_tells_the_pixels(dialog, qtbot):
    before = dialog.preview.image
    assert "2008" in dialog.note.text().replace("\u202f", "")
    dialog.scheme.set_current("dark")
    dialog.scheme.changed.emit("dark")
    dialog.dpi.setValue(30)
    qtbot.waitUntil(lambda: dialog.preview.image is not before and not dialog.busy())
    assert dialog.preview.image.pixelColor(3, 3).lightness() < 60
    assert "201" in dialog.note.text()


def test_a_picture_is_copied(dialog, qtbot):
    dialog.dpi.setValue(60)
    dialog.copy()
    qtbot.waitUntil(lambda: dialog.note.text() == "Copied to the clipboard.")
    image = QGuiApplication.clipboard().image()
    assert (image.width(), image.height()) == (402, 248)


def test_an_error_is_told_and_the_dialog_stays(dialog, qtbot, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(paper_dialog, "ask_save_path", lambda *told: tmp_path / "file" / "x.png")
    dialog.save()
    qtbot.waitUntil(lambda: not dialog.busy())
    assert dialog.isVisible()
    assert dialog.save_button.isEnabled()
    assert dialog.note.text()


def test_the_page_asks_with_its_own_picture(opened, qtbot):
    page = opened(factor_run(), CURVE)
    asked = page.export_dialog(page.file_name(""))
    assert asked.sheet.headline == page.printed.headline
    asked.origin.setChecked(True)
    assert asked.sheet.origin.startswith("Data: ")
    asked.close()
    assert isinstance(page.picture_image(), QImage)


@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_a_view_is_written_as_the_paper_says(qapp, tmp_path, kind):
    """The command line has the paper of the window: size in mm, dots, colours, a line below."""
    workbench, run = factor_run()
    path = tmp_path / "pictures" / f"a.{kind}"
    paper = {"width": 100.0, "height": 60.0, "dpi": 254.0, "scheme": "dark", "titled": False}
    assert write_view(workbench.session, run, CURVE, path, True, **paper) == path
    if kind == "png":
        image = QImage(str(path))
        assert (image.width(), image.height()) == (1000, 600)
        assert image.pixelColor(3, 3).lightness() < 60
    elif kind == "svg":
        assert "Data: " in texts(path)
    else:
        assert path.read_bytes().startswith(b"%PDF")


def test_a_page_that_is_no_picture_yet_is_written_too(qapp, tmp_path):
    """Kinds of views that are still widgets are drawn as they stand in the window."""
    workbench, run = factor_run()
    views = [view for view in run.spec.views if view.kind == "table"] or [replace(CURVE, kind="table")]
    path = write_view(
        workbench.session, run, views[0], tmp_path / "t.png", width=120.0, height=80.0, dpi=96.0
    )
    assert np.isclose(QImage(str(path)).width(), 120 / 25.4 * 96, atol=1)


def test_paper_is_as_high_as_the_picture_needs(qapp):
    rows = p.Panel((p.Points([1, 2], [0, 1]),), y=p.Axis(scale="category", names=("a", "b")), highest=20)
    few = p.Picture("Two rows", panels=(rows,))
    high = Paper(150, 150, titled=False)
    assert snug(few, high).height < 60
    assert snug(PICTURE, high).height == 150  # it may have any height
    assert snug(p.Picture("None", empty=("Nothing", "")), high) == high


def test_texts_of_an_svg_keep_their_width_in_any_font(qapp, tmp_path):
    told = p.Picture(
        "Words", panels=(p.Panel((p.Prose("a dull & dark plot", (p.Span(2, 6),)),), reads="whole"),)
    )
    text = write_picture(told, tmp_path / "t.svg", Paper()).read_text()
    found = re.findall(r'<text textLength="([0-9.]+)"[^>]*>([^<]*)</text>', text)
    widths = {words: float(length) for length, words in found}
    assert "dull" in widths
    assert any("&amp;" in words for words in widths)
    metrics = paper_style(8.0).metrics("title")
    assert widths["Words"] == pytest.approx(metrics.horizontalAdvance("Words"), rel=0.03)

"""Documents of a topic: list by score, text with words marked, keys, search, missing texts, files."""

from __future__ import annotations

import csv
from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt

from plaidwork.core.contract.model import Result
from plaidwork.core.contract.spec import Input, View
from plaidwork.core.data.dataset import Dataset, Source
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.session.session import Session
from plaidwork.gui.theme import theme
from plaidwork.gui.workbench import Workbench
from tests.gui.factor_runs import choose
from tests.gui.points import places_on
from tests.gui.result_runs import ToyModel

SOURCE = {
    "scores": "scores",
    "words": "weights",
    "names": "term",
    "documents": "part",
    "outcome": "verdict",
}
DOCUMENTS = View("documents", "Documents", SOURCE, options={"dim": "document"})
TEXTS = (
    "A dull PLOT <b>and</b> a dull hero",
    "Heroes & villains: a fine hero, a fine war",
    "The war goes on. War, war!",
    "Nothing of the kind",
    "",
)
TERMS = ("plot", "hero", "war", "dull", "fine")


class TextModel(ToyModel):
    """Documents by words; never fits."""

    spec = replace(
        ToyModel.spec,
        id="toy.texts",
        inputs=(Input("X", dims=("document", "word"), missing=True),),
        dims={"topic": "topics"},
        views=(DOCUMENTS,),
    )


def text_run(texts=TEXTS, title: str = "review", **options):
    """Five documents, four of which have scores on two topics."""
    names = tuple(f"review {i}" for i in range(len(texts)))
    table = {"year": np.arange(1990.0, 1990 + len(texts))}
    if title:
        table[title] = np.array(texts, dtype=object)
    source = Source(
        "r.csv", options={"roles": {title: "text"}, "stop_words": ["english"], **options} if title else {}
    )
    data = Dataset("reviews", np.ones((len(texts), 5)), names, TERMS, row_table=table, source=source)
    session = Session(name="Texts")
    run = session.add_run(make_plan(TextModel(), {"X": data}))
    run.results = {
        "scores": Result(
            np.array([[0.9, 0.1], [0.4, 0.8], [0.1, 0.9], [0.6, 0.2]]), ("part", "topic"), label="probability"
        ),
        "weights": Result(np.array([[1.0, 0.5, -0.4, 0.8, 0], [0, 0.2, 2.0, 0, 0.1]]), ("topic", "term")),
        "term": Result(np.array(TERMS), ("term",)),
        "part": Result(np.array([f"review {i}" for i in (0, 1, 2, 4)]), ("part",)),
        "topic": Result(np.array(["Topic 1", "Topic 2"]), ("topic",)),
        "verdict": Result(np.array([0.0, 1.0, 1.0, 0.0]), ("part",), label="verdict"),
    }
    run.results_draws, run.status = 10, "done"
    workbench = Workbench()
    workbench.set_session(session)
    return workbench, run


def marked(page) -> list[str]:
    """Words marked in the text shown."""
    text = page.pane.text.toPlainText()
    return [text[place.start : place.end] for place in page.pane.places]


def names(page) -> list[str]:
    """Documents in the order shown."""
    model = page.table.model
    return [model.text(row, 0) for row in range(model.rowCount())]


def test_texts_with_the_words_of_the_topic(opened, qtbot, tmp_path):
    workbench, run = bench = text_run()
    page = opened(bench, DOCUMENTS)
    assert page._headline.text() == "Topic 1: plot, dull, hero"
    assert names(page) == ["review 0", "review 4", "review 1", "review 2"]
    assert page.pane.text.toPlainText() == "A dull PLOT <b>and</b> a dull hero"
    assert marked(page) == ["dull", "PLOT", "dull", "hero"]
    assert page.pane._facts.text() == "Probability 0.90 · Verdict 0 · year 1\u2009990"
    qtbot.keyClick(page.table.view, Qt.Key.Key_Down)
    assert page.pane.text.toPlainText() == "This document has no text."
    qtbot.keyClick(page, Qt.Key.Key_Down)
    assert marked(page) == ["hero", "war"]
    choose(qtbot, page.picker, "Topic 2")
    assert workbench.selection(run).get("layer") == (1,)
    assert names(page)[:2] == ["review 2", "review 1"]
    assert marked(page) == ["war", "War", "war"]
    workbench.selection(run).set("layer", (0,))
    assert page.picker.currentText() == "Topic 1"
    qtbot.keyClick(page, Qt.Key.Key_Right)
    assert page.picker.currentText() == "Topic 2"
    page.top.set_value(1)
    choose(qtbot, page.picker, "Topic 1")
    assert marked(page) == ["PLOT"]
    dialog = page.show_data()
    dialog.to_csv(tmp_path / "d.csv")
    dialog.close()
    lines = list(csv.reader((tmp_path / "d.csv").open()))
    assert lines[0] == ["Document", "Probability", "Verdict", "year", "Text"]
    assert lines[1] == ["review 0", "0.9", "0.0", "1990.0", TEXTS[0]]
    for kind in ("png", "svg", "pdf"):
        assert page.export_picture(tmp_path / f"d.{kind}").stat().st_size > 1000


def test_stems_as_counted(opened):
    page = opened(text_run(stem="english"), DOCUMENTS)
    page.choose_layer(1)
    page.choose_row(1)
    assert marked(page) == ["Heroes", "fine", "hero", "fine", "war"]


def test_ties_are_broken_by_strength(opened):
    workbench, run = text_run()
    run.results["scores"] = Result(np.ones((4, 2)), ("part", "topic"), label="probability")
    run.results["fit"] = Result(
        np.array([[1.0, 4], [3, 3], [2, 2], [4, 1]]), ("part", "topic"), label="support"
    )
    page = opened(
        (workbench, run), View("documents", "D", {**SOURCE, "strength": "fit"}, options={"dim": "document"})
    )
    assert names(page) == ["review 4", "review 1", "review 2", "review 0"]
    assert list(page.table.model.columns()) == ["Document", "Probability", "Support", "Verdict"]
    page.choose_layer(1)
    assert names(page)[0] == "review 0"


def test_search_in_texts(opened, qtbot):
    page = opened(text_run(), DOCUMENTS)
    page.find_in_page()
    qtbot.keyClicks(page._find, "goes ON")
    qtbot.keyClick(page._find, Qt.Key.Key_Return)
    assert names(page) == ["review 2"]
    assert page.pane.text.toPlainText() == TEXTS[2]
    assert "goes on" in page.pane.text.toHtml()
    page._find.setText("elephant")
    qtbot.keyClick(page._find, Qt.Key.Key_Return)
    assert names(page) == []
    assert page._found.text() == "Nothing is called “elephant”"
    qtbot.keyClick(page, Qt.Key.Key_Escape)
    assert len(names(page)) == 4


def test_a_column_called_text_will_do_and_none_is_said(opened):
    workbench, run = text_run(title="Text")
    page = opened((workbench, run), DOCUMENTS)
    assert marked(page)
    page = opened(text_run(title=""), DOCUMENTS)
    assert "Import reviews with the column that holds them" in page.pane.text.toPlainText()
    assert names(page)[0] == "review 0"
    assert not page.legend.isVisible()


def test_words_by_topics_or_none(opened):
    workbench, run = text_run()
    run.results["weights"] = Result(run.results["weights"].values.T, ("term", "topic"))
    assert marked(opened((workbench, run), DOCUMENTS)) == ["dull", "PLOT", "dull", "hero"]
    page = opened(
        (workbench, run),
        View("documents", "D", {"scores": "scores", "documents": "part"}, options={"dim": "document"}),
    )
    assert marked(page) == []
    assert page._headline.text() == "Topic 1"
    run.results["weights"] = Result(np.ones((3, 5)), ("topic", "term"))
    assert opened((workbench, run), DOCUMENTS).state == "This picture could not be drawn"


@pytest.mark.slow
@pytest.mark.parametrize("size", [(480, 560), (980, 640)])
def test_narrow_dark_and_long(opened, size):
    page = opened(text_run(texts=("war and peace " * 20_000, *TEXTS[1:])), DOCUMENTS, size=size)
    assert page._split.orientation() == (
        Qt.Orientation.Vertical if size[0] < 620 else Qt.Orientation.Horizontal
    )
    assert "The text goes on" in page.pane.text.toPlainText()
    light = page.pane.text.toHtml()
    theme().set_mode("dark")
    assert page.pane.text.toHtml() != light
    page.grab()


def test_the_document_chosen_in_one_view_is_shown_in_the_other(opened, qtbot):
    workbench, run = text_run()
    scatter = View("scatter", "S", {"values": "scores", "names": "part"}, options={"dim": "document"})
    points = opened((workbench, run), scatter)
    page = opened((workbench, run), DOCUMENTS)
    assert not points.chart.selected
    assert "year" in points.loaded.table
    x, y = places_on(points).T
    qtbot.mouseClick(points.chart, Qt.MouseButton.LeftButton, pos=QPointF(x[2], y[2]).toPoint())
    assert workbench.selection(run).get("part") == (2,)
    assert page.pane.text.toPlainText() == TEXTS[2]
    assert page.table.selected_rows() == [3]
    qtbot.keyClick(page.table.view, Qt.Key.Key_Up)
    assert points.chart.selected["part"] == {1}
    page = opened((workbench, run), DOCUMENTS)
    assert page.pane.text.toPlainText() == TEXTS[1]

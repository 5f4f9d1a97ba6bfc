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
from plaidwork.core.pictures import Prose
from plaidwork.core.session.session import Session
from plaidwork.gui.theme import theme
from plaidwork.gui.workbench import Workbench
from tests.gui.factor_runs import click
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


def texts_on(page) -> list[Prose]:
    """The texts shown, from above."""
    return [mark for panel in page.loaded.panels for mark in panel.marks if isinstance(mark, Prose)]


def marked(page, text: int = 0) -> list[str]:
    """Words marked in a text that is shown."""
    mark = texts_on(page)[text]
    return [mark.words[span.start : span.end] for span in mark.spans]


def names(page) -> list[str]:
    """Documents in the order listed."""
    return page.loaded.beside[0].columns["Document"].tolist()


def chosen(page, name: str, value) -> None:
    """Choose and wait."""
    page.choose(name, value)
    assert page.wait(20_000)


def test_texts_with_the_words_of_the_topic(opened, qtbot, tmp_path):
    workbench, run = bench = text_run()
    page = opened(bench, DOCUMENTS)
    panel = page.side_panel()
    qtbot.addWidget(panel)
    assert page._headline.text() == "Topic 1: plot, dull, hero"
    assert names(page) == ["review 0", "review 4", "review 1", "review 2"]
    assert [one.title for one in page.loaded.panels] == names(page)
    assert texts_on(page)[0].words == "A dull PLOT <b>and</b> a dull hero"
    assert marked(page) == ["dull", "PLOT", "dull", "hero"]
    strengths = [span.strength for span in texts_on(page)[0].spans]
    assert strengths[1] > strengths[0] == strengths[2] > strengths[3]
    assert [span.underlined for span in texts_on(page)[2].spans] == [False, True]  # the topic lacks war
    assert page.loaded.panels[0].values[0] == "Probability 0.90 · Verdict 0 · year 1\u202f990"
    assert texts_on(page)[1].words == "This document has no text."
    table = panel.tables[0]
    place = table.view.visualRect(table.model.index(2, 0)).center()
    qtbot.mouseClick(table.view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    qtbot.waitUntil(lambda: page.loaded is not None and len(page.loaded.panels) == 1, timeout=20_000)
    assert marked(page) == ["hero", "war"]
    assert workbench.selection(run).get("part") == (1,)
    assert table.selected_rows() == [2]
    qtbot.keyClick(page, Qt.Key.Key_Escape)
    assert page.wait(20_000)
    assert len(page.loaded.panels) == 4
    assert workbench.selection(run).get("part") == ()
    frame = page.chart.frames.frames[3]
    click(qtbot, page.chart, frame.area.center().x(), frame.area.center().y())
    assert page.wait(20_000)
    assert [one.title for one in page.loaded.panels] == ["review 2"]
    chosen(page, "factor", "1")
    assert workbench.selection(run).get("layer") == (1,)
    assert names(page)[:2] == ["review 2", "review 1"]
    assert marked(page) == ["war", "War", "war"]
    workbench.selection(run).set("layer", (0,))
    assert page.wait(20_000)
    assert page.control("factor").currentText() == "Topic 1"
    chosen(page, "document", "first")
    chosen(page, "top", 1.0)
    assert marked(page) == ["PLOT"]
    dialog = page.show_data()
    dialog.to_csv(tmp_path / "d.csv")
    dialog.close()
    lines = list(csv.reader((tmp_path / "d.csv").open()))
    assert lines[0] == ["Document", "Probability", "Verdict", "year", "Text"]
    assert lines[1] == ["review 0", "0.9", "0.0", "1990.0", TEXTS[0]]
    for kind in ("png", "svg", "pdf"):
        assert page.export_picture(tmp_path / f"d.{kind}").stat().st_size > 1000
    assert "&lt;b&gt;and&lt;/b&gt;" in (tmp_path / "d.svg").read_text()  # texts stay texts


def test_stems_as_counted(opened):
    page = opened(text_run(stem="english"), DOCUMENTS)
    chosen(page, "factor", "1")
    chosen(page, "document", "1")
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
    assert list(page.loaded.table)[:4] == ["Document", "Probability", "Support", "Verdict"]
    chosen(page, "factor", "1")
    assert names(page)[0] == "review 0"


def test_search_in_texts(opened, qtbot):
    page = opened(text_run(), DOCUMENTS)
    page.find_in_page()
    qtbot.keyClicks(page.find_row.field, "goes ON")
    qtbot.keyClick(page.find_row.field, Qt.Key.Key_Return)
    assert page.wait(20_000)
    assert names(page) == ["review 2"]
    assert page.find_row.found.text() == "review 2"
    assert marked(page) == ["war", "goes on", "War", "war"]
    assert [span.found for span in texts_on(page)[0].spans] == [False, True, False, False]
    page.find_row.field.setText("elephant")
    qtbot.keyClick(page.find_row.field, Qt.Key.Key_Return)
    assert page.wait(20_000)
    assert names(page) == []
    assert texts_on(page)[0].words == "No document contains “elephant”"
    assert page.find_row.found.text() == "Nothing is called “elephant”"
    qtbot.keyClick(page, Qt.Key.Key_Escape)
    assert page.wait(20_000)
    assert len(names(page)) == 4


def test_a_column_called_text_will_do_and_none_is_said(opened):
    workbench, run = text_run(title="Text")
    page = opened((workbench, run), DOCUMENTS)
    assert marked(page)
    page = opened(text_run(title=""), DOCUMENTS)
    assert "Import reviews with the column that holds them" in texts_on(page)[0].words
    assert names(page)[0] == "review 0"
    assert not page.loaded.legend


def test_counted_words_stand_for_texts_that_are_not_there(opened):
    workbench, run = text_run(title="")
    counts = np.array([[2, 1, 0, 7, 0], [0, 3, 1, 0, 2], [0, 0, 3, 0, 0], [0, 0, 0, 0, 0], [1, 0, 0, 0, 0.0]])
    session = workbench.session
    session.datasets["reviews"] = replace(session.datasets["reviews"], values=counts, kind="count")
    page = opened((workbench, run), DOCUMENTS)
    assert [one.words for one in texts_on(page)[:3]] == [
        "dull 7 · plot 2 · hero 1",
        "plot 1",
        "hero 3 · fine 2 · war 1",
    ]
    assert marked(page) == ["dull", "plot", "hero"]
    assert page.loaded.notes.startswith("Words of the first 4 of 4 documents")


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


@pytest.mark.long
def test_long_texts_are_shown_in_passages_and_parts(opened):
    long = "war and peace " * 2000 + "a dull plot " * 30 + "war and peace " * 2000
    page = opened(text_run(texts=(long, *TEXTS[1:])), DOCUMENTS, size=(480, 560))
    passage = texts_on(page)[0].words
    assert passage.startswith("… ")
    assert passage.endswith(" …")
    assert "a dull plot" in passage
    assert len(passage) < 600
    chosen(page, "document", "0")
    assert page.chart.height() > 560  # all of the part is there, the page scrolls
    parts = next(choice for choice in page.loaded.choices if choice.id == "part")
    read = ""
    for part in range(1, int(parts.high) + 1):
        chosen(page, "part", float(part))
        read += texts_on(page)[0].words
    assert read == long.strip()
    light = page.chart.grab().toImage()
    theme().set_mode("dark")
    assert page.chart.grab().toImage() != light


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
    assert page.wait(20_000)
    assert [mark.words for mark in texts_on(page)] == [TEXTS[2]]
    chosen(page, "document", "1")
    assert points.chart.selected["part"] == {1}
    page = opened((workbench, run), DOCUMENTS)
    assert [mark.words for mark in texts_on(page)] == [TEXTS[1]]

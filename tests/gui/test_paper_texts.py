"""No text of a picture sticks out of its paper or lies on another, however narrow it is; tables are written in whole cells."""

import numpy as np
import pytest
from paper_texts import cut_texts
from PySide6.QtCore import QSize
from PySide6.QtWidgets import QLineEdit, QWidget
from sparing import some

from plaidwork.core import pictures as p
from plaidwork.core.cli import main
from plaidwork.core.contract.model import Table
from plaidwork.core.contract.spec import View
from plaidwork.core.data.samples import bundled_samples
from plaidwork.core.pictures.describe import describe
from plaidwork.core.session.session import open_session
from plaidwork.core.views.drawing import is_picture
from plaidwork.core.views.printing import drawn_views, view_name
from plaidwork.gui.pictures.paper import Paper, roomy, svg_of
from plaidwork.gui.results import render
from plaidwork.gui.results.figure import Figure
from tests.gui.factor_runs import factor_run
from tests.gui.image_runs import bar_run
from tests.gui.network_runs import network_run
from tests.gui.result_runs import toy_run
from tests.walk import complaints

PAPERS = (Paper(85, 53, 7.0), Paper(120, 74), Paper(180, 112))


def wrong_texts(session, run):
    """What is wrong with any picture of a run on any of the papers."""
    found = []
    for view in drawn_views(session, run):
        if is_picture(view.kind):
            picture = render.sheet_of(session, run, view, origin=True)
            assert len(describe(picture)) > 20, view_name(view)
            for paper in PAPERS:
                words = cut_texts(svg_of(picture, roomy(picture, paper)))
                found += [f"{view_name(view)} at {paper.width:.0f} mm: {text}" for text in words]
    return found


@pytest.mark.parametrize(
    "make", some([toy_run, factor_run, network_run, bar_run], [toy_run, factor_run, network_run])
)
def test_texts_of_pictures_have_room_on_any_paper_and_say_something(qapp, make):
    workbench, run = make()
    assert wrong_texts(workbench.session, run) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", [sample.id for sample in bundled_samples()])
def test_texts_of_every_example_have_room_on_any_paper(qapp, tmp_path, monkeypatch, name):
    monkeypatch.setenv("PLAIDWORK_CONFIG", str(tmp_path / "config"))
    path = tmp_path / "session.plaidwork"
    assert (
        main(["example", name, "--out", str(path), "--chains", "2", "--warmup", "20", "--draws", "40"]) == 0
    )
    session = open_session(path)
    for run in session.runs.values():
        assert wrong_texts(session, run) == []


def test_low_panels_make_a_paper_higher(qapp):
    """Ticks of panels below a legend have room, where the paper that was asked for has none."""
    axes = p.Axis("x1, where x2 is 0.2"), p.Axis("x2")
    panels = p.Panel((p.Line([0, 1], [-2.5, 2.5]),), *axes), p.Panel((p.Line([0, 1], [0, 1]),))
    keys = (
        p.Key("lower", 0, "point"),
        p.Key("not known", 1, "point"),
        p.Ramp("share", "tide", ("0", "0.5", "1")),
    )
    picture = p.Picture("A headline of some words that takes two lines", panels=panels, legend=keys)
    for asked in (Paper(85, 45, 7.0), Paper(85, 60, 7.0)):
        assert cut_texts(svg_of(picture, asked)) != []
        assert cut_texts(svg_of(picture, roomy(picture, asked))) == []


def test_texts_without_room_are_told():
    """The fault that the tests above look for, in a sheet of 100 x 50."""
    place = '<text x="{}" y="{}" font-size="10" textLength="40">{}</text>'
    texts = (place.format(70, 20, "far"), place.format(5, 40, "one"), place.format(10, 42, "two"))
    svg = (
        f'<svg viewBox="0 0 100 50">{"".join(texts)}<g transform="matrix(1,0,0,1,0,45)">{texts[0]}</g></svg>'
    )
    assert [text.split(":")[0] for text in cut_texts(svg.encode())] == [
        "“far” sticks out",
        "“far” sticks out",
        "“one” lies on “two”",
    ]


LONG = "A caption of a table that goes on and on, as captions with errors and definitions do. " * 4


def test_tables_are_written_in_whole_cells_with_all_words(qapp, monkeypatch):
    workbench, run = factor_run()
    columns = {f"A column {k}": np.arange(60) + 0.5 for k in range(12)}
    run.results |= {
        "wide": Table({"Name": np.array([f"row {i}" for i in range(60)]), **columns}),
        "told": LONG,
    }
    seen = []

    def grab(frame: QWidget, page, size: QSize, scale: float):
        seen.append((complaints(frame), [w for w in page.findChildren(QLineEdit) if w.isVisible()], page))
        return old(frame, page, size, scale)

    old = render._grab
    monkeypatch.setattr(render, "_grab", grab)
    view = View("table", "Wide", {"values": "wide"}, caption="told")
    render.render_view(workbench.session, run, view, (640, 420), scale=1.0)
    (wrong, lines, page) = seen[0]
    assert wrong == []
    assert lines == []
    table, head = page.table.view, page.table.view.horizontalHeader()
    assert head.length() <= table.viewport().width()
    assert table.viewport().height() % table.verticalHeader().defaultSectionSize() == 0
    assert "more rows and" in page._beyond.text()


def test_a_figure_has_all_its_words(qtbot):
    widget = QWidget()
    qtbot.addWidget(widget)
    widget.resize(300, 100)
    widget.show()
    short, long = (Figure("A table", words, [[widget]]) for words in ("Short.", LONG))
    assert long.size().height() > short.size().height() + 60
    assert long.size().width() == short.size().width()

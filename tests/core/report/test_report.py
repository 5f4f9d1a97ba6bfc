"""A report: what is in it, in which order, how to repeat a run by it; and that no text of a session becomes part of the page."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from toys import Steady, matrix

from plaidwork.core.api import Table, View
from plaidwork.core.cli import main
from plaidwork.core.data.dataset import Dataset, Source, Step
from plaidwork.core.errors import SessionError
from plaidwork.core.findings.naming import name_item
from plaidwork.core.findings.notes import note_item
from plaidwork.core.inference.execution import execute, named_executor
from plaidwork.core.inference.executor import Control
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.plugins import registry as registries
from plaidwork.core.report import Drawing, Figure, best_views, html_of, make_report, write_report
from plaidwork.core.report.making import listed
from plaidwork.core.report.page import MOST_NOTES
from plaidwork.core.session.session import Session, open_session
from tests.registries import registry_of

HOSTILE = '<script>alert("x")</script><img src=x onerror=alert(1)>\x00\x1b[31m\ud800'


class Told(Steady):
    """With views of several kinds, a table and a headline."""

    spec = replace(
        Steady.spec,
        citation="Somebody (2001). A paper.\nElse (2002). Another.",
        views=(
            View("curve", "Course", "place"),
            View("bars", "Places", "place", headline="found"),
            View("bars", "More places", "place", group="More"),
            View("table", "Numbers", "numbers"),
            View("table", "Hidden", "numbers", when={"memory": 0.25}),
        ),
    )

    def summarise(self, kept, data, params):
        numbers = Table(
            {"name": np.array([f"row {k}" for k in range(40)]), "x": np.arange(40) / 3}, {"x": "mm"}
        )
        return {**super().summarise(kept, data, params), "found": "It stands at 3", "numbers": numbers}


def drawn(session, run, view, wide):
    """A figure without Qt."""
    drawing = Drawing("image/svg+xml", b"<svg/>", 812 if wide else 396, 300, f"picture of {view.title}")
    return Figure(view.title, "caption", "notes", drawing)


def fitted(model=Told, **params):
    session = Session(name="A session")
    data = Dataset(
        "my data",
        matrix(6, 2),
        tuple("abcdef"),
        ("x", "y"),
        source=Source("my.csv", "abcdef0123456789"),
        steps=(Step("log", {"text": "logarithm"}),),
    )
    schedule = model.spec.schedule.with_(chains=2, warmup=5, draws=40)
    plan = make_plan(model(), {"X": data}, {"memory": 0.25, **params}, schedule=schedule, seed=7)
    run = session.add_run(plan)
    execute(run, plan, named_executor("inline", Control()))
    return session, run


class Page(HTMLParser):
    """Tags with their attributes, and the texts."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.texts = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.texts.append(data)


def test_what_a_report_tells():
    session, run = fitted()
    run.notes = "First.\n\nSecond line\nthird."
    report = make_report(session, drawn)
    page = html_of(report)
    texts = " ".join(Page(page).texts)
    (part,) = report.runs
    assert part.headline == "It stands at 3"
    verdict = run.diagnosis().verdict
    for words in (
        "my data",
        "my.csv",
        "abcdef012345",
        "logarithm",
        verdict.title,
        "Steady 1.0",
        "Somebody (2001)",
    ):
        assert words in texts
    for words in ("Memory", "seed", "numpy", "The first 12 of 40 rows.", "x (mm)", "R-hat"):
        assert words.casefold() in texts.casefold()
    assert "<p>First.</p>" in page
    assert "Second line<br>\nthird." in page
    assert dict(part.facts)["Chains"] == "2, each 5 sweeps left out, then 40 draws"
    assert part.settings.rows[0] == ("Memory", "0.25", "0.5")
    assert [table.title for table in part.tables] == ["Numbers", "Hidden", "Convergence"]


def test_notes_are_markdown_and_those_on_what_was_found_stand_below_its_name():
    session, run = fitted()
    run.spec = replace(run.spec, dims={**run.spec.dims, "topic": "topics"})
    session.notes, run.notes = "# Aim\n\n- **one**", "See <https://x.org>."
    assert note_item(run, "topic", 1, "## Ships\nof *war*")
    assert note_item(run, "topic", 0, "[a](https://y.org)")
    name_item(run, "topic", 0, "sea")
    page = html_of(make_report(session, drawn))
    assert '<div class="note"><h3>Aim</h3>\n<ul>\n<li><strong>one</strong></li>\n</ul></div>' in page
    assert 'See <a href="https://x.org" rel="noreferrer noopener">https://x.org</a>.' in page
    at = [
        page.index(part)
        for part in ("Notes on what was found", "<h4>sea</h4>", "a (<a", "<h4>Topic 2</h4>", "<em>war</em>")
    ]
    assert at == sorted(at)
    assert "<h6>Ships</h6>" in page
    run.item_notes = {"topic": {str(number): f"note {number}" for number in range(MOST_NOTES + 7)}}
    page = html_of(make_report(session, drawn))
    assert f"note {MOST_NOTES - 1}" in page
    assert f"note {MOST_NOTES}<" not in page
    assert "7 more notes are in the session" in page
    session.notes = run.notes = ""
    run.item_notes = {}
    assert 'class="note"' not in html_of(make_report(session, drawn))


def test_the_best_figures_come_first_and_each_kind_once():
    session, run = fitted()
    assert [view.title for view in best_views(session, run)] == ["Course", "Places", "More places"]
    part = make_report(session, drawn).runs[0]
    assert [figure.drawing.width for figure in part.figures] == [812, 396, 396]
    assert part.left_out == ()
    part = make_report(session, drawn, chosen=["course", "MORE/More places"]).runs[0]
    assert [figure.headline for figure in part.figures] == ["Course", "More places"]
    assert part.left_out == ("Places",)
    assert not make_report(session, lambda *view: None).runs[0].figures


def test_a_figure_of_one_number_is_not_proposed():
    session, _ = fitted()

    def slight(*view):
        found = drawn(*view)
        return replace(found, slight=found.headline in ("Course", "Places"))

    part = make_report(session, slight).runs[0]
    assert [figure.headline for figure in part.figures] == ["Course", "More places"]  # the first stays
    assert part.left_out == ("Places",)
    assert len(make_report(session, slight, chosen=["all"]).runs[0].figures) == 3


def test_no_text_of_a_session_becomes_part_of_the_page(tmp_path):
    session, run = fitted()
    session.name = session.notes = run.title = run.notes = HOSTILE
    run.results["found"] = HOSTILE
    run.results["numbers"] = Table({HOSTILE: np.array([HOSTILE], dtype=object)}, {HOSTILE: HOSTILE})
    run.environment[HOSTILE] = HOSTILE
    run.item_notes = {"topic": {"0": f"![{HOSTILE}](https://x.org/a.png)\n\n[x](javascript:alert) {HOSTILE}"}}
    run.spec = replace(run.spec, dims={"topic": HOSTILE}, title=HOSTILE, summary=HOSTILE, citation=HOSTILE)
    data = session.datasets["my data"]
    session.datasets["my data"] = replace(data, source=Source(HOSTILE, HOSTILE), row_label=HOSTILE)

    def hostile(*view):
        return Figure(HOSTILE, HOSTILE, HOSTILE, Drawing("image/png", b"", 396, 300, HOSTILE))

    other = session.add_run(make_plan(Told(), {"X": data}), 'second" onload="x')
    path = write_report(make_report(session, hostile), tmp_path / "r.html")
    page = Page(path.read_text(encoding="utf-8"))
    kinds = {tag for tag, _ in page.tags}
    assert "script" not in kinds
    assert all(attrs.get("src", "data:").startswith("data:") for tag, attrs in page.tags if tag == "img")
    assert not {name for _, attrs in page.tags for name in attrs if name.startswith("on")}
    assert not [attrs for tag, attrs in page.tags if tag == "a" and "script" in attrs.get("href", "")]
    assert not [attrs for tag, attrs in page.tags if tag == "img" and "x.org" in str(attrs)]
    assert other.title in " ".join(page.texts)
    assert "\x1b" not in path.read_text(encoding="utf-8")
    assert any("default-src 'none'" in str(attrs.get("content")) for tag, attrs in page.tags if tag == "meta")


def test_runs_without_results_and_sessions_without_runs():
    session, _ = fitted()
    with pytest.raises(SessionError):
        make_report(Session(), drawn)
    waiting = session.add_run(make_plan(Told(), {"X": session.datasets["my data"]}))
    report = make_report(session, drawn)
    assert report.runs[1].verdict == "Nothing was kept yet: ready"
    assert report.runs[1].figures == ()
    page = html_of(report)
    assert page.count("<nav>") == 1
    assert make_report(session, drawn, [waiting]).runs[0].title == waiting.title
    del session.datasets["my data"]
    assert "not in the session any more" in html_of(make_report(session, drawn))
    assert len(make_report(session, drawn).runs[0].commands) == 1


@pytest.mark.long
@pytest.mark.parametrize("params", [{}, {"memory": 0.0, "start": -1.5}])
def test_the_commands_repeat_the_run(tmp_path, monkeypatch, capsys, params):
    """Both commands of a report, typed as they stand there, give the draws that are stored."""
    monkeypatch.setattr(registries, "_shared", registry_of(Told))
    session, run = fitted(**params)
    session.name = "it's a session"
    path = session.save(tmp_path / "it's here.plaidwork")
    monkeypatch.chdir(tmp_path)
    (_, check), (_, again) = make_report(open_session(path), drawn).runs[0].commands
    assert main(shlex.split(check)[1:]) == 0
    assert "over 45 sweeps, to the bit" in capsys.readouterr().out
    assert main(shlex.split(again)[1:]) == 0
    (repeated,) = open_session(tmp_path / "again.plaidwork").runs.values()
    assert repeated.params == run.params
    for one, other in zip(run.chains, repeated.chains, strict=True):
        assert np.array_equal(one.trace.rows(), other.trace.rows())


def test_figures_stand_beside_each_other_where_two_fit():
    session, _ = fitted()
    page = html_of(make_report(session, drawn))
    assert page.count('class="beside"') == 1
    assert re.findall(r'<img [^>]*width="(\d+)"', page) == ["812", "396", "396"]
    half = html_of(make_report(session, drawn), width=406)
    assert re.findall(r'<img [^>]*width="(\d+)"', half) == ["406", "198", "198"]


def test_a_page_is_written_as_a_whole(tmp_path, monkeypatch):
    session, _ = fitted()
    path = tmp_path / "r.html"
    path.write_text("before")
    report = make_report(session, drawn)
    monkeypatch.setattr("plaidwork.core.report.page.html_of", lambda report: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_report(report, path)
    assert [p.name for p in tmp_path.iterdir()] == ["r.html"]
    assert path.read_text() == "before"


def test_numbers_of_a_column_have_the_same_decimals():
    made = listed(
        "T",
        Table(
            {
                "name": ["a", "b", "c"],
                "share": [0.84, 0.9178, 7e-102],
                "n": [1, 20, 3],
                "x": [1.5, 2.25, np.nan],
            }
        ),
    )
    assert made.rows == (
        ("a", "0.8400", "1", "1.50"),
        ("b", "0.9178", "20", "2.25"),
        ("c", "< 0.0001", "3", "–"),
    )
    assert made.numbers == frozenset({1, 2, 3})

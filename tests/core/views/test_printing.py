"""What leaves the program with a picture: the words of its model, the mark of a run that has not settled, its origin."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from toys import Steady, Walk

from plaidwork.core.api import Input, Result, Schedule, View
from plaidwork.core.contract.hyperparameter import DeclarationError
from plaidwork.core.data.dataset import Dataset, Source
from plaidwork.core.inference.execution import execute, named_executor
from plaidwork.core.inference.executor import Control
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.pictures import describe
from plaidwork.core.session.session import Session
from plaidwork.core.views.printing import (
    chosen_before,
    doubt_of,
    drawn_views,
    leading_view,
    offered,
    origin_of,
    printed_view,
    words_above,
)
from plaidwork.core.views.sources import Sources

BARS = View("bars", "Places", {"values": "place"}, headline="found")


SCHEDULE = Schedule(chains=4, warmup=10, draws=200)


class Shown(Steady):
    """Draws that settle, or one chain of which stays elsewhere; shown as bars under a headline of its own."""

    spec = replace(Steady.spec, views=(BARS, View("table", "Numbers", "table")))

    def summarise(self, kept, data, params):
        return {**super().summarise(kept, data, params), "found": "It <b>stands</b>"}


def fitted(draws=400, **params):
    session = Session(name="Printing")
    data = Dataset(
        "my data",
        np.arange(8.0).reshape(4, 2),
        tuple("abcd"),
        ("x", "y"),
        source=Source("my.csv", "abcdef0123456789"),
    )
    settings = {"memory": 0.0, **params}
    plan = make_plan(Shown(), {"X": data}, settings, schedule=SCHEDULE.with_(draws=draws), seed=7)
    run = session.add_run(plan)
    execute(run, plan, named_executor("inline", Control()))
    return session, run


@pytest.fixture(scope="module")
def settled():
    return fitted()


def test_the_words_of_the_model_stand_above(settled):
    session, run = settled
    picture = printed_view(Sources(session, run, BARS))
    assert (picture.headline, picture.doubt, picture.origin) == ("It <b>stands</b>", "", "")
    assert "my data" not in describe(picture)


def test_a_run_that_has_not_settled_says_so(settled):
    assert not doubt_of(settled[1])
    session, run = fitted(lost=9.0)
    picture = printed_view(Sources(session, run, BARS))
    assert picture.doubt == run.diagnosis().verdict.title
    assert picture.doubt in describe(picture)
    assert picture.caption.startswith("All chains, which found 2 different solutions")
    run.status = "running"
    assert "still running" in doubt_of(run)
    fresh = make_plan(Walk(), {"X": session.datasets["my data"]})
    waiting = session.add_run(fresh)
    assert not doubt_of(waiting)


def test_the_origin_names_what_decides_the_numbers(settled):
    session, run = settled
    told = origin_of(session, run)
    assert told.startswith("Data: my data (SHA-256 abcdef01). Steady 1.0. 4 chains, 1\u202f600 draws, seed 7")
    run.inputs = {"X": ("my data", "gone", "more", "and more")}
    assert origin_of(session, run).startswith("Data: my data, gone and 2 more (SHA-256 abcdef01).")
    run.inputs = {"X": ("my data",)}


def test_what_was_chosen_comes_along(settled):
    _, run = settled
    grouped = replace(BARS, group="All")
    run.view_settings["choices"] = {"All / Places": {"Order": "given"}, "Places": "damaged"}
    assert chosen_before(run, grouped) == {"Order": "given"}
    assert chosen_before(run, BARS) == {}


def test_a_view_without_a_result_says_why(settled):
    session, run = settled
    missing = printed_view(Sources(session, run, View("bars", "Other", {"values": "none"})))
    assert not missing.panels
    assert "none" in missing.empty[1]
    empty = session.add_run(make_plan(Shown(), {"X": session.datasets["my data"]}))
    assert printed_view(Sources(session, empty, BARS)).empty[0] == "No result yet"
    assert [view.title for view in drawn_views(session, run)] == ["Places"]


@pytest.mark.parametrize(
    ("told", "number"), [({}, 0), ({"opens_on": "All/Other"}, 1), ({"opens_on": "Other"}, 0)]
)
def test_a_run_opens_on_the_view_that_its_model_names(told, number):
    views = (BARS, replace(BARS, title="Other", group="All"))
    run = SimpleNamespace(spec=SimpleNamespace(views=views, inputs=()), params={}, inputs={}, results=told)
    assert leading_view(None, run) == number


@pytest.mark.parametrize(("gap", "holdout", "number"), [(False, 0.0, 1), (True, 0.0, 2), (False, 0.2, 2)])
def test_a_view_of_gaps_is_there_only_where_there_are_gaps(gap, holdout, number):
    session, run = fitted(draws=4)
    (name,) = run.inputs["X"]
    values = np.array(session.datasets[name].values, float)
    values[0, 0] = np.nan if gap else values[0, 0]
    session.datasets[name] = session.datasets[name].with_(values=values)
    run.holdout = holdout
    run.spec = replace(run.spec, views=(BARS, View("imputed", "Gaps", "fitted:X", gaps="X")))
    assert len(drawn_views(session, run)) == number


def test_a_view_of_gaps_names_an_input(settled):
    _, run = settled
    with pytest.raises(DeclarationError, match="needs gaps in unknown input 'Z'"):
        replace(run.spec, views=(View("imputed", "Gaps", "fitted:X", gaps="Z"),))


def test_captions_are_sentences(settled):
    session, run = settled
    sources = Sources(session, run, View("bars", "Places", {"values": "place"}))
    assert words_above(sources, "", "A caption.", ("2 of 3 rows",)) == (
        "Places",
        "A caption. Shown: 2 of 3 rows.",
    )
    assert words_above(sources, "Head", "") == ("Head", "")
    assert words_above(sources, "Head", "Text.", before=("All",)) == ("Head", "All. Text.")


def test_one_bar_alone_is_no_view_beside_others(settled):
    """One length for all inputs has nothing to be compared with; the table beside it tells it."""
    session, run = settled
    view = View("coefficients", "Relevance", {"values": "relevance"}, group="Covariance")
    for count, wanted in ((1, False), (3, True)):
        run.results["relevance"] = Result(np.ones(count), ("input",))
        assert offered(session, run, view) == wanted
        assert offered(session, run, replace(view, group="")), "where there is no other"
    del run.results["relevance"]
    assert offered(session, run, view), "it is not known yet"


def test_a_view_for_an_optional_input_is_there_where_that_is_given():
    session = Session()
    view = View("bars", "Along", {"values": "place"}, columns={"when": (1, 9)})
    spec = replace(Steady.spec, inputs=(*Steady.spec.inputs, Input("when", "matrix", "real", required=False)))
    given = SimpleNamespace(spec=spec, inputs={"when": ("when",)}, params={}, results={})
    session.datasets["when"] = Dataset("when", np.zeros((4, 1)), ("a", "b", "c", "d"), ("day",))
    assert offered(session, given, view)
    assert not offered(session, SimpleNamespace(**{**vars(given), "inputs": {}}), view)

"""What headlines claim is computed: each is made of data in which it does not hold."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from plaidwork import plugins
from plaidwork.plugins.gp_auxiliary.classes.posterior import fastest
from plaidwork.plugins.gp_auxiliary.raters.results import _apart
from plaidwork.plugins.plaid.pooling import Together
from plaidwork.plugins.plaid.wording import Findings, _shared_headline
from plaidwork.plugins.plaid.wording import texts as plaid_texts
from plaidwork.plugins.rank_factor.fit_of_features import order_fit
from plaidwork.plugins.supervised_ibp.wording import _together, findings

RNG = np.random.default_rng(5)


def order_title(turn: float) -> str:
    """The headline of a rank fit of 6 features whose fitted values are ``turn`` times the data's order."""
    scores = RNG.normal(size=(80, 1))
    loadings = np.full((1, 6), 2.0)
    values = turn * (scores @ loadings) + 0.1 * RNG.normal(size=(80, 6))
    block = SimpleNamespace(
        values=values,
        observed=np.ones((80, 6), bool),
        shape=(80, 6),
        names=((), tuple(f"g{j}" for j in range(6))),
    )
    posterior = SimpleNamespace(scores=scores, loadings=loadings)
    return str(order_fit(posterior, SimpleNamespace(rows=np.arange(6)), block, 0)["order_fit_title"])


@pytest.mark.parametrize(("turn", "found"), [(1.0, "in 6 of 6 (100 %)"), (-1.0, "in 0 of 6 (0 %)")])
def test_fitted_values_are_said_to_rise_only_where_they_do(turn, found):
    assert order_title(turn) == f"Fitted values rise with the order of the data {found} features"


@pytest.mark.parametrize(
    ("agreement", "told"),
    [(0.98, "much alike"), (0.7, "partly alike"), (-0.1, "hardly alike")],
)
def test_blocks_that_rows_share_are_called_alike_only_where_the_chains_agree(agreement, told):
    shared = {"row": SimpleNamespace(agreement=agreement)}
    headline = _shared_headline("row", SimpleNamespace(shared=shared))
    assert headline.startswith(f"Which rows share blocks: {told} in two halves of the chains, correlation ")


def test_an_input_changes_f_fastest_only_when_most_draws_say_so():
    clear = np.column_stack([np.full(50, 3.0), np.full(50, 1.0)])
    assert fastest(clear, ("a", "b")) == "“a” changes f fastest, in all 50 draws"
    often = np.vstack([clear, [[1.0, 3.0]]])
    assert fastest(often, ("a", "b")) == "“a” changes f fastest (probability 0.98)"
    even = np.abs(RNG.normal(size=(200, 2))) + 0.1
    assert fastest(even, ("a", "b")).startswith("No input clearly changes f fastest")
    assert fastest(clear[:, :1], ("a",)) == "“a” is the only input with a length"


def test_topics_go_together_only_beyond_chance():
    alone = RNG.random((60, 4))
    assert _together(alone).startswith("No two topics clearly go together or keep apart")
    alone[:, 1] = alone[:, 0]
    assert _together(alone).startswith("Topic 1 and topic 2 go together most: correlation ")
    alone[:, 1] = 1 - alone[:, 0]
    assert "keep apart most: correlation −" in _together(alone)


def test_what_explains_nothing_is_not_said_to_explain_best():
    corpus = SimpleNamespace(y=np.array([1.0, -1.0, 0.5, -0.5]), y_mean=0.0, y_scale=1.0)
    fit = SimpleNamespace(free=RNG.random((4, 2)), bound=1.0, chain=SimpleNamespace(chain=0))
    words, shares = np.array(["one", "two"]), np.array([-0.2, -0.1])
    found = findings(corpus, fit, [fit], words, shares, -corpus.y)
    assert found["words_headline"] == "The topics explain no word's variance"
    assert "explains nothing of the outcome's variance" in found["outcome_headline"]
    assert "not known" not in found["restarts_headline"]


def test_no_rater_is_stricter_unless_an_interval_says_so():
    raters, count = np.array(["A", "B"]), np.array([5, 5])
    ends = np.array([[-0.4, 0.6], [-0.9, 0.1]])
    assert _apart(raters, ends.mean(axis=1), ends, count).startswith("No rater is clearly")


@pytest.mark.parametrize("means", [(3, 3, 3, 3), (2, 8, 2, 9)])
def test_captions_of_blocks_leave_it_to_the_verdict_whether_chains_agree(means):
    numbers = [np.full(20, mean) for mean in means]
    present, covered = np.ones(3), 0.7
    shared = dict.fromkeys(("row", "column"), Together(np.eye(4), 0.9))
    facts = Findings(numbers, covered, present, np.ones(4, bool), shared, None, None)
    caption = plaid_texts(facts, "")["caption"]
    assert "agree" not in caption
    assert f"{min(means)}.0" in caption


VERDICTS = re.compile(r"\b(settled|trust(ed)?|converged|chains agree|R-hat|same optimum)\b", re.IGNORECASE)


def _said(tree: ast.AST) -> Iterator[str]:
    """Strings within functions that are not their docstrings."""
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            doc = ast.get_docstring(function, clean=False)
            for node in ast.walk(function):
                if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value != doc:
                    yield node.value


@pytest.mark.parametrize("path", sorted(Path(plugins.__path__[0]).glob("*/*.py")), ids=lambda path: path.stem)
def test_no_model_says_itself_whether_its_draws_can_be_trusted(path):
    """That is the host's verdict; what a model holds against its draws is its result ``doubt``."""
    said = [text for text in _said(ast.parse(path.read_text(encoding="utf-8"))) if " " in text]
    assert not [text for text in said if VERDICTS.search(text)]

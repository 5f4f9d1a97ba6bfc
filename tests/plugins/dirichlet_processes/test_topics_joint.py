"""Faults of concentrations, tables, births and quick sweeps: the joint-distribution test (Geweke 2004) or the enumeration finds them."""

import pytest
from hdp_tools import settings, smallest_p
from plaid_tools import with_fault

from plaidwork.core.checks import CheckFailed, checks_for
from plaidwork.plugins.dirichlet_processes.topics import sweep
from plaidwork.plugins.dirichlet_processes.topics.kernels import collapsed, sparse, tables
from plaidwork.plugins.dirichlet_processes.topics.model import HdpTopics
from plaidwork.plugins.dirichlet_processes.topics.sweep import Updates

FOUND = 1e-6
ALL, QUICK, EXACTLY = "all tokens, no moves", "quick sweeps between", "enumeration"
BOTH = "moves and quick sweeps"


def geweke(trial):
    (check,) = [one for one in checks_for(HdpTopics, only=("geweke",)) if str(one) == f"geweke[{trial}]"]
    return check


def wrong_method(name, old, new):
    def plant(monkeypatch):
        monkeypatch.setattr(Updates, name, with_fault(getattr(Updates, name), old, new))

    return plant


def wrong_tables(old, new):
    def plant(monkeypatch):
        draw = with_fault(tables.draw_tables, old, new)
        for name in ("seat_documents", "seat_words"):
            monkeypatch.setattr(tables, name, with_fault(getattr(tables, name), draw_tables=draw))

    return plant


def wrong_birth(old, new):
    def plant(monkeypatch):
        birth = with_fault(collapsed.found_topic, old, new)
        monkeypatch.setattr(collapsed, "draw_tokens", with_fault(collapsed.draw_tokens, found_topic=birth))

    return plant


def wrong_kernel(module, name, old, new):
    def plant(monkeypatch):
        monkeypatch.setattr(module, name, with_fault(getattr(module, name), old, new))

    return plant


FAULTS = {
    "documents without their share in alpha": (
        wrong_kernel(sweep, "draw_shared_alpha", "+ seats - ended", "+ seats"), ALL,
    ),
    "lengths of topics forgotten in eta": (
        wrong_method("draw_eta", "- n_words * log_q.sum()", "- log_q.sum()"),
        ALL,
    ),
    "gamma forgotten in the rest": (
        wrong_method("draw_weights", "np.append(seats, law[GAMMA])", "np.append(seats, 3.0)"),
        EXACTLY,
    ),
    "one table more": (wrong_tables("tables, left, mark = 1,", "tables, left, mark = 2,"), ALL),
    "one table for all tokens": (wrong_tables("tables += 1", "tables += 0"), ALL),
    "a new topic takes all that is left": (wrong_birth("kept = ", "kept = 0.01 * "), EXACTLY),
    "a new topic as likely as if it had one word": (
        wrong_kernel(collapsed, "draw_tokens", "law[REST] / counts.shape[0])", "law[REST])"),
        ALL,
    ),
    "the last token of a topic may leave in a quick sweep": (
        wrong_kernel(sparse, "draw_given_words", "if totals[old] == 1:", "if totals[old] == 0:"),
        QUICK,
    ),
    "one table for all tokens, between moves": (wrong_tables("tables += 1", "tables += 0"), BOTH),
    "words of topics without their counts": (
        wrong_kernel(sparse, "draw_words", "eta + counts[w, k]", "eta + 0.2 * counts[w, k]"),
        EXACTLY,
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_found(fault, monkeypatch):
    plant, trial = FAULTS[fault]
    plant(monkeypatch)
    if trial == EXACTLY:  # what is right passes this in test_topics_exact.py
        assert smallest_p(settings(moves=0, quick_sweeps=2), 20_000) < FOUND
        return
    with pytest.raises(CheckFailed):
        geweke(trial)()

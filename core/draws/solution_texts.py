"""What is said of chains that found different solutions: part of the one verdict on a run."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from plaidwork.core.contract.schedule import Schedule
from plaidwork.core.contract.spec import Trace
from plaidwork.core.draws.counting import agree, counted, plural
from plaidwork.core.draws.diagnostics import RHAT_MARKS, Diagnosis, Verdict
from plaidwork.core.draws.numbers import format_amount
from plaidwork.core.draws.solutions import Solution, group_chains
from plaidwork.core.draws.verdicts import listed
from plaidwork.core.spelling import inside_sentence

Weigh = Callable[[tuple[Solution, ...]], tuple[tuple[Solution, ...], str]]
"""Finds the weights of solutions, and says in a sentence what they are."""

MOST_NAMED = 4


def with_solutions(diagnosis: Diagnosis, weigh: Weigh, schedule: Schedule | None = None) -> Diagnosis:
    """The diagnosis with the solutions that the chains found, where they do not agree; else as it is.

    Chains are grouped when some quantity has an R-hat above 1.05, restarts when they ended at different objectives by the
    tolerance of their ``schedule``.
    """
    spec = diagnosis.kept.spec
    sampled = spec.algorithm == "mcmc"
    unsettled = [q for q in diagnosis.judged if q.rhat > RHAT_MARKS[1]]
    if (sampled and not unsettled) or diagnosis.kept.under_way:
        return diagnosis
    found = group_chains(diagnosis.kept, spec, [diagnosis.series(q) for q in unsettled], schedule)
    if len(found) < 2:
        return diagnosis
    if diagnosis.verdict.settled:  # the best restart was reached several times, and is what is shown
        return replace(diagnosis, solutions=found)
    found, note = weigh(found)
    named = _named(found, "chain" if sampled else "restart", spec.primary_trace)
    word = _chains if sampled else _restarts
    return replace(diagnosis, solutions=found, verdict=word(diagnosis.verdict, found, named, note))


def with_what_holds(diagnosis: Diagnosis, text: str) -> Diagnosis:
    """The diagnosis with what the model says can be used, in whole sentences, where draws have not settled."""
    verdict = diagnosis.verdict
    if not text or verdict.settled:
        return diagnosis
    return replace(diagnosis, verdict=replace(verdict, text=f"{verdict.text} {text}"))


def weight_text(weight: float) -> str:
    """``0.62``; empty where it is not known."""
    if math.isnan(weight):
        return ""
    return f"{weight:.2f}" if weight >= 0.005 else "<0.01"


def solutions_text(found: tuple[Solution, ...], between: str = " of weights ") -> str:
    """``3 solutions of weights 0.62, 0.30, 0.08``; ``between`` stands before the weights where they are known."""
    shown = [weight_text(one.weight) for one in found]
    if not all(shown):
        return f"{counted(len(found), 'solution')}"
    rest = ", …" if len(shown) > MOST_NAMED + 1 else ""
    return f"{counted(len(found), 'solution')}{between}{', '.join(shown[: MOST_NAMED + 1])}{rest}"


def shown_solution(found: tuple[Solution, ...], number: int, word: str) -> tuple[str, ...]:
    """What a caption says of the draws that are shown, where there are several solutions: all (0), or those of one.

    ``word`` is what the chains of the run are called.
    """
    if len(found) < 2:
        return ()
    if not number:  # of restarts models show the best
        return (
            (f"All chains, which found {counted(len(found), 'different solution')}",)
            if word == "chain"
            else ()
        )
    chains = found[number - 1].chains
    told = listed([chain + 1 for chain in chains])
    return (f"Solution {number} of {len(found)}, {agree(len(chains), word, plural(word))} {told}",)


def _members(one: Solution, word: str) -> str:
    return f"{agree(len(one.chains), word, plural(word))} {listed([chain + 1 for chain in one.chains])}"


def _named(found: tuple[Solution, ...], word: str, objective: Trace | None) -> str:
    """Who found which, the heaviest first, and how far from the best of them they stand."""
    sign = -1.0 if objective is not None and objective.goal == "down" else 1.0
    best = max(sign * one.level for one in found)
    where = "" if objective is None else f" in {inside_sentence(objective.title)}"
    parts = []
    for number, one in enumerate(found[:MOST_NAMED], start=1):
        gap = best - sign * one.level
        apart = gap > 0 and not one.same_level
        away = f", {format_amount(gap)} {'below' if sign > 0 else 'above'} the best{where}" if apart else ""
        where = "" if away else where  # said once
        parts.append(f"{number}: {_members(one, word)}{away}")
    rest = len(found) - len(parts)
    return "; ".join(parts) + (f"; and {rest} more" if rest else "")


def _chains(verdict: Verdict, found: tuple[Solution, ...], named: str, note: str) -> Verdict:
    apart = tuple(sorted(chain for one in found[1:] for chain in one.chains))
    title = f"The chains found {solutions_text(found)}"
    if all(one.same_level for one in found):
        note = f"All stand at the same level: they differ in their factors, blocks or the like. {note}"
    text = (
        f"Solution {named}. {note} Averages over all chains would mix different solutions: look at each "
        "by itself, or run longer."
    )
    actions = ("compare_chains", "run_longer")
    detail = solutions_text(found, ": ")
    return replace(
        verdict, kind="error", title=title, text=text, chains=apart, actions=actions, word="Chains differ", detail=detail
    )  # fmt: skip


def _restarts(verdict: Verdict, found: tuple[Solution, ...], named: str, note: str) -> Verdict:
    text = f"{verdict.text} The restarts found {solutions_text(found)}. Solution {named}. {note}"
    return replace(verdict, text=text.rstrip())

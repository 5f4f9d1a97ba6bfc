"""What gene set enrichment shows: tables, pictures and sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from plaidwork.core.api import Params, Result, Results, Table, agree, counted
from plaidwork.plugins.factor_tools.common import p_text
from plaidwork.plugins.factor_tools.gene_sets import GeneSets, Matched
from plaidwork.plugins.factor_tools.set_tests import SetTests

MOST_ROWS = 20_000
"""Rows of the table at most, those with the smallest p."""
MOST_MAPPED = 25
"""Sets in the map at most."""
FEWEST_MAPPED, _CLOSE = 10, 0.25
"""Sets in the map where so many have an adjusted p above this everywhere."""
STRONGEST = 60.0
"""Least adjusted p drawn is 10 to the minus this."""
_LEADING = 6


@dataclass(frozen=True, slots=True)
class Part:
    """A view: the places of its features, what was matched, the sets of the right size and their members.

    ``tested`` are numbers of sets, ``members`` for each of them places within the view.
    """

    view: str
    places: np.ndarray
    matched: Matched
    tested: np.ndarray
    members: tuple[np.ndarray, ...]


@dataclass(frozen=True, slots=True)
class Test:
    """All sets of a view for one factor and direction."""

    part: int
    factor: int
    direction: str
    result: SetTests


def one_sided(weights: np.ndarray, direction: str) -> np.ndarray:
    """Weights of a direction (positive, negative, size) as numbers from 0 on; the other sign is 0."""
    if direction == "size":
        return np.abs(weights)
    return np.maximum(weights if direction == "positive" else -weights, 0.0)


def _evidence(
    used: Sequence[Part], tests: Sequence[Test], adjusted: Sequence[np.ndarray], n_factors: int
) -> tuple[np.ndarray, np.ndarray]:
    """Signed -log10 of the smallest adjusted p of each set, and that p: (factors, tested sets of all views)."""
    starts = np.cumsum([0, *(len(part.tested) for part in used)])
    best = np.ones((n_factors, starts[-1]))
    sign = np.ones((n_factors, starts[-1]))
    for test, p in zip(tests, adjusted, strict=True):
        here = slice(starts[test.part], starts[test.part + 1])
        smaller = p < best[test.factor, here]
        best[test.factor, here][smaller] = p[smaller]
        sign[test.factor, here][smaller] = -1.0 if test.direction == "negative" else 1.0
    with np.errstate(divide="ignore"):
        return sign * np.minimum(-np.log10(best), STRONGEST), best


def pictures(
    sets: GeneSets,
    used: Sequence[Part],
    tests: Sequence[Test],
    adjusted: Sequence[np.ndarray],
    factors: Sequence[str],
    dim: str,
    params: Params,
) -> Results:
    evidence, best = _evidence(used, tests, adjusted, len(factors))
    names = np.array([sets.names[s] for part in used for s in part.tested])
    views = np.array([part.view for part in used for _ in part.tested])
    strongest = best.min(axis=0)
    order = np.argsort(strongest, kind="stable")
    close = int((strongest <= _CLOSE).sum())
    top = order[: min(max(close, FEWEST_MAPPED), MOST_MAPPED)]
    several = len({part.view for part in used}) > 1
    labels = [f"{names[s]} ({views[s]})" if several else str(names[s]) for s in top]
    kind = (
        "positive for positive weights, negative for negative"
        if params["direction"] != "size"
        else "size of weights"
    )
    text = f"−log10 of the adjusted p, {kind}; {-np.log10(params['significance']):.2g} is the level chosen"
    if len(order) > len(top):
        text += f"; the map has the first {len(top)} of {counted(len(order), 'set')}"
    label = "Evidence"
    return {
        "evidence": Result(evidence, (dim, "gene_set"), label=label),
        "tested": Result(names, ("gene_set",)),
        "tested_view": Result(views, ("gene_set",)),
        "top_evidence": Result(evidence[:, top].T, ("top_set", dim), label=label),
        "top_significant": Result((params["significance"] >= best[:, top].T).astype(float), ("top_set", dim)),
        "top_set": Result(np.array(labels), ("top_set",)),
        "evidence_caption": text,
    }


def tables(
    sets: GeneSets,
    used: Sequence[Part],
    tests: Sequence[Test],
    adjusted: Sequence[np.ndarray],
    factors: Sequence[str],
    features: Sequence[str],
    weights: np.ndarray,
    params: Params,
) -> Results:
    test_of = np.concatenate([np.full(len(test.result.p), t) for t, test in enumerate(tests)])
    row_of = np.concatenate([np.arange(len(test.result.p)) for test in tests])
    flat = {
        name: np.concatenate([getattr(test.result, name) for test in tests])
        for name in ("effect", "low", "high", "auc", "p")
    }
    q = np.concatenate(adjusted)
    order = np.lexsort((-flat["effect"], flat["p"], q))[:MOST_ROWS]
    picked = [
        (tests[t], used[tests[t].part], int(row))
        for t, row in zip(test_of[order], row_of[order], strict=True)
    ]
    columns = {
        "Factor": np.array([factors[test.factor] for test, _, _ in picked]),
        "Gene set": np.array([sets.names[part.tested[row]] for _, part, row in picked]),
        "Weights": np.array([test.direction for test, _, _ in picked]),
        "Adjusted p": q[order],
        "AUC": flat["auc"][order],
        "Effect": flat["effect"][order],
        "Low": flat["low"][order],
        "High": flat["high"][order],
        "p": flat["p"][order],
        "Found": np.array([len(part.members[row]) for _, part, row in picked]),
        "Of": np.array([len(sets.members[part.tested[row]]) for _, part, row in picked]),
        "View": np.array([part.view for _, part, _ in picked]),
        "Leading": np.array([_leading(weights, features, *one) for one in picked]),
    }
    if all(not part.view for part in used):
        del columns["View"]
    table = Table(
        columns,
        units=dict.fromkeys(("Effect", "Low", "High"), "sd"),
        label="Gene sets",
        doc="Found: genes of the set among the features. Low and High: 95 % interval of the effect.",
    )
    first = (
        picked[0][0].direction,
        str(columns["Factor"][0]),
        str(columns["Gene set"][0]),
        float(q[order[0]]),
    )
    return {
        "enrichment": table,
        "headline": _headline(*first, significant=bool(q[order[0]] <= params["significance"])),
        "caption": _caption(q, len(order), len(factors), params),
    }


def _headline(direction: str, factor: str, name: str, p: float, significant: bool) -> str:
    if not significant:
        return f"No gene set stands out: smallest adjusted {p_text(p)}"
    sign = "Weights of either sign" if direction == "size" else f"{direction.capitalize()} weights"
    return f"{sign} of {factor} gather in {name}: adjusted {p_text(p)}"


def _caption(adjusted: np.ndarray, listed: int, factors: int, params: Params) -> str:
    kind = "rank test" if params["test"] == "rank" else "t test"
    if params["permutations"]:
        kind += f", {counted(params['permutations'], 'permutation')}"
    else:
        kind += f", correlation {params['within']:g} within sets"
    hits = int((adjusted <= params["significance"]).sum())
    parts = [
        f"{counted(len(adjusted), 'test')} of {counted(factors, 'factor')}, adjusted together (Benjamini and Hochberg)",
        kind,
        f"{hits:,} with adjusted p ≤ {params['significance']:g}",
    ]
    if len(adjusted) > listed:
        parts.append(f"the first {listed:,} are listed")
    return "; ".join(parts)


def _leading(weights: np.ndarray, features: Sequence[str], test: Test, part: Part, row: int) -> str:
    """The features of the set that weigh most in that direction."""
    places = part.places[part.members[row]]
    values = one_sided(weights[test.factor, places], test.direction)
    first = np.argsort(-values, kind="stable")[:_LEADING]
    return ", ".join(features[places[i]] for i in first if values[i] > 0)


def matching(sets: GeneSets, parts: Sequence[Part], params: Params) -> Results:
    genes = len(sets.genes)
    sizes = [part.matched.sizes for part in parts]
    table = Table(
        {
            "View": np.array([part.view or "all" for part in parts]),
            "Features": np.array([len(part.places) for part in parts]),
            "Genes found": np.array([part.matched.genes for part in parts]),
            "Not found": np.array([genes - part.matched.genes for part in parts]),
            "Differ in case": np.array([part.matched.only_case for part in parts]),
            "Sets tested": np.array([len(part.tested) for part in parts]),
            "Too small": np.array([int((size < params["smallest"]).sum()) for size in sizes]),
            "Too large": np.array([int((size > params["largest"]).sum()) for size in sizes]),
        },
        label="Matching",
        doc="Genes of the file by name among the features of each view.",
    )
    found = max(part.matched.genes for part in parts)
    case = max(part.matched.only_case for part in parts)
    tested = len({int(index) for part in parts for index in part.tested})
    notes = [
        f"{tested:,} of {counted(len(sets), 'set')} {agree(tested, 'has', 'have')} {params['smallest']:,} to "
        f"{params['largest']:,} of their genes there and {agree(tested, 'is', 'are')} tested"
    ]
    if case:
        notes.append(f"{case:,} more match when upper and lower case are the same")
    return {
        "matching": table,
        "match_headline": f"{found:,} of {counted(genes, 'gene')} of the file {agree(found, 'is', 'are')} among the features",
        "match_caption": "; ".join(notes),
    }

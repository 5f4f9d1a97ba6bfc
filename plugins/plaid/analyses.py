"""Work beyond the fit: which labels gather in which blocks, and how the blocks compare with known ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from plaidwork.core.api import (
    Analysis,
    AnalysisData,
    AnalysisSpec,
    Annotation,
    Annotations,
    Choice,
    Hyperparameter,
    Input,
    ModelError,
    Params,
    Result,
    Results,
    Table,
    View,
    agree,
    counted,
)
from plaidwork.core.api_blocks import nmi_overlap_ishiguro
from plaidwork.core.api_scores import benjamini_hochberg
from plaidwork.plugins.plaid import association as stats

THRESHOLD = Hyperparameter(
    "threshold",
    "float",
    0.5,
    minimum=0,
    maximum=1,
    open_minimum=True,
    label="Membership from",
    doc="An item is in a block when its membership probability is at least this.",
)
NEEDS = {"rows": "block_rows", "columns": "block_columns"}
SIGNIFICANT = 0.05
MOST_SHOWN = 60.0
"""Least adjusted p drawn in the map is 10 to the minus this."""


class BlocksAndAnnotations(Analysis):
    """Enrichment of labels, or shift of numbers, in every block."""

    spec = AnalysisSpec(
        id="plaid.annotations",
        version="1.0.0",
        title="Blocks and annotations",
        summary="Which labels of rows or columns gather in which block, and where a number is shifted.",
        needs=NEEDS,
        annotations=(
            Annotations(
                "annotation",
                label="Annotation",
                doc="A column of labels or numbers that came with the data, such as the class of each sample.",
            ),
        ),
        hyperparameters=(
            THRESHOLD,
            Hyperparameter(
                "treat",
                "choice",
                "auto",
                label="Treat as",
                choices=(
                    Choice(value="auto", label="As imported"),
                    Choice(value="labels", label="Labels"),
                    Choice(value="numbers", label="Numbers"),
                ),
                doc="Numbers that are codes of groups are better treated as labels.",
            ),
            Hyperparameter(
                "direction",
                "choice",
                "both",
                label="Look for",
                choices=(
                    Choice(value="both", label="More or fewer than expected"),
                    Choice(value="more", label="More than expected"),
                ),
                doc="Two-sided or one-sided p of the hypergeometric distribution (labels).",
                advanced=True,
            ),
            Hyperparameter(
                "least",
                "int",
                2,
                minimum=1,
                label="Least items of a label",
                doc="Labels that fewer items have are left out, as chance alone explains what they show.",
                advanced=True,
            ),
            Hyperparameter(
                "interval",
                "float",
                0.95,
                minimum=0.5,
                maximum=0.999,
                label="Interval",
                doc="Coverage of the interval of odds ratio or difference.",
                advanced=True,
            ),
        ),
        views=(
            View("table", "Associations", {"values": "associations"}, headline="headline", caption="caption"),
            View(
                "heatmap",
                "Map of adjusted p",
                {"values": "signed"},
                headline="headline",
                caption="map_caption",
                options={"signed": True},
            ),
        ),
        help=(
            "Labels: among the items whose label is known, the number inside a block is compared with the "
            "hypergeometric distribution (Fisher's exact test). The odds ratio has 0.5 added to every cell, its "
            "interval is that of Woolf for these counts. Numbers: difference of the means inside and outside in "
            "pooled standard deviations, with the large-sample interval of Hedges and Olkin, and the Mann-Whitney "
            "test. All p are adjusted together by Benjamini and Hochberg. The blocks were found without these "
            "annotations, so the tests are not circular; the uncertainty of the memberships is not in them."
        ),
    )

    def run(self, results: Mapping[str, Any], data: AnalysisData, params: Params, report: Any) -> Results:
        chosen = data.annotations["annotation"]
        members = _members(results["rows" if chosen.axis == "row" else "columns"], chosen, params)
        as_labels = not chosen.is_number if params["treat"] == "auto" else params["treat"] == "labels"
        names = np.array([f"Block {k + 1}" for k in range(len(members))], dtype=object)
        if as_labels:
            return _with_labels(members, names, chosen, params, report)
        if not chosen.is_number:
            raise ModelError(f"“{chosen.title}” holds text.", "Treat it as labels.")
        return _with_numbers(members, names, chosen, params, report)


def _members(result: Result, chosen: Annotation, params: Params) -> np.ndarray:
    probability = np.asarray(result.values)
    if probability.ndim != 2 or probability.shape[1] != len(chosen.values):
        raise ModelError(
            f"“{chosen.title}” has {counted(len(chosen.values), 'entry')}, the memberships have shape {probability.shape}."
        )
    if len(probability) == 0:
        raise ModelError("The run found no block.", "There is nothing to compare.")
    members = probability >= params["threshold"]
    if not members.any():
        raise ModelError(
            f"No block has a member from {params['threshold']:g} on. The strongest membership is "
            f"{probability.max():.2f}.",
            "Lower the threshold.",
        )
    return members


def _with_labels(
    members: np.ndarray, names: np.ndarray, chosen: Annotation, params: Params, report: Any
) -> Results:
    labels, levels, left_out = stats.label_codes(chosen.values, chosen.known, params["least"])
    if not len(levels):
        raise ModelError(
            f"No label of “{chosen.title}” occurs at least {params['least']} times.",
            "Choose another annotation, or lower the least number of items.",
        )
    known = chosen.known
    counts = stats.label_counts(members[:, known], labels[known], len(levels))
    report(0.1)
    p = stats.hypergeometric_p(*counts, both=params["direction"] == "both", report=report)
    odds, low, high = stats.odds_ratios(*counts, params["interval"])
    inside, size, total, n = counts
    expected = size[:, None] * total[None, :] / n
    shape = inside.shape
    tested = np.broadcast_to(((size > 0) & (size < n))[:, None], shape) & (total < n)
    adjusted = benjamini_hochberg(np.where(tested, p, np.nan))
    block, level = (grid.ravel() for grid in np.indices(shape))
    order = _by_p(adjusted, p)
    columns = {
        "Block": names[block],
        "Label": levels[level],
        "Inside": inside.ravel(),
        "Expected": expected.ravel(),
        "Odds ratio": odds.ravel(),
        "Low": low.ravel(),
        "High": high.ravel(),
        "Adjusted p": adjusted.ravel(),
        "p": np.where(tested, p, np.nan).ravel(),
        "In block": np.broadcast_to(size[:, None], shape).ravel(),
        "With label": np.broadcast_to(total[None, :], shape).ravel(),
    }
    table = Table(
        {title: column[order] for title, column in columns.items()},
        label=f"Blocks and {chosen.title}",
        doc=f"Low and High: {100 * params['interval']:g} % interval of the odds ratio.",
    )
    best = np.unravel_index(order[0], shape)
    strongest = f"{names[best[0]]} has {inside[best]} of {total[best[1]]} “{levels[best[1]]}”"
    test = "two-sided Fisher test" if params["direction"] == "both" else "one-sided Fisher test"
    more = (
        [f"{counted(left_out, 'rarer label')} left out"]
        if left_out > 1
        else ["1 rarer label left out"] * left_out
    )
    return {
        "associations": table,
        **_map(adjusted, inside - expected, names, levels),
        "headline": _headline(adjusted, tested, "pairs", strongest),
        "caption": _caption(chosen, int(n), params, test, (size == 0).sum(), more),
    }


def _with_numbers(
    members: np.ndarray, names: np.ndarray, chosen: Annotation, params: Params, report: Any
) -> Results:
    known = chosen.known
    values, inside = chosen.values[known], members[:, known]
    found = stats.shifts(inside, values, params["interval"], report)
    adjusted = benjamini_hochberg(found["p"])
    order = _by_p(adjusted, found["p"])
    columns = {
        "Block": names,
        "In block": inside.sum(axis=1),
        "Mean inside": found["mean_inside"],
        "Mean outside": found["mean_outside"],
        "Difference": found["difference"],
        "Low": found["low"],
        "High": found["high"],
        "Adjusted p": adjusted,
        "p": found["p"],
    }
    table = Table(
        {title: column[order] for title, column in columns.items()},
        units=dict.fromkeys(("Difference", "Low", "High"), "sd"),
        label=f"Blocks and {chosen.title}",
        doc=f"Low and High: {100 * params['interval']:g} % interval of the difference.",
    )
    best = order[0]
    word = "higher" if found["difference"][best] > 0 else "lower"
    strongest = f"in {names[best]} it is {abs(found['difference'][best]):.2f} sd {word}"
    tested = ~np.isnan(found["p"])
    headline = _headline(adjusted, tested, f"blocks, by “{chosen.title}”,", strongest)
    return {
        "associations": table,
        **_map(
            adjusted[:, None], found["difference"][:, None], names, np.array([chosen.title], dtype=object)
        ),
        "headline": headline,
        "caption": _caption(
            chosen, len(values), params, "two-sided Mann-Whitney test", (~inside.any(axis=1)).sum(), []
        ),
    }


def _by_p(adjusted: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Smallest p first, in the order of blocks among equals; pairs that were not tested last."""
    return np.lexsort((np.nan_to_num(p.ravel(), nan=2.0), np.nan_to_num(adjusted.ravel(), nan=2.0)))


def _map(adjusted: np.ndarray, excess: np.ndarray, names: np.ndarray, levels: np.ndarray) -> Results:
    with np.errstate(divide="ignore"):
        strength = np.minimum(-np.log10(adjusted), MOST_SHOWN)
    return {
        "signed": Result(
            np.sign(excess) * strength,
            ("block", "level"),
            label="Evidence",
            doc="−log10 of the adjusted p; positive: more than expected, negative: fewer.",
        ),
        "block": Result(names.astype(str), ("block",)),
        "level": Result(levels.astype(str), ("level",)),
        "map_caption": "−log10 of the adjusted p: above zero more than expected, below fewer; 1.3 is p = 0.05",
    }


def _headline(adjusted: np.ndarray, tested: np.ndarray, what: str, strongest: str) -> str:
    n, hits = int(tested.sum()), int((adjusted <= SIGNIFICANT).sum())
    if not n:
        return "Nothing could be tested"
    if not hits:
        return f"None of {n} {what} differs from chance"
    return f"{hits} of {n} {what} {agree(hits, 'differs', 'differ')} from chance: {strongest}"


def _caption(chosen: Annotation, n: int, params: Params, test: str, empty: int, more: list[str]) -> str:
    parts = [f"{n} {chosen.axis_label} with “{chosen.title}” known"]
    parts.append(f"membership from {params['threshold']:g}")
    parts.append(f"{test}; adjusted p ≤ {SIGNIFICANT:g} counts")
    if empty:
        parts.append(f"{counted(empty, 'block')} without members left untested")
    return "; ".join([*parts, *more])


class KnownBlocks(Analysis):
    """How well the blocks found agree with known ones."""

    spec = AnalysisSpec(
        id="plaid.known_blocks",
        version="1.0.0",
        title="Compare with known blocks",
        summary="Agreement with blocks that are known: NMI, and the best match of every block.",
        needs=NEEDS,
        inputs=(
            Input(
                "true_rows",
                "matrix",
                "binary",
                dims=("row", "true_block"),
                label="Known rows",
                doc="Rows of each known block (1 = in the block).",
            ),
            Input(
                "true_columns",
                "matrix",
                "binary",
                dims=("column", "true_block"),
                label="Known columns",
                doc="Columns of each known block (1 = in the block).",
            ),
        ),
        hyperparameters=(THRESHOLD,),
        views=(
            View("table", "Known blocks", {"values": "known"}, headline="headline", caption="caption"),
            View("table", "Found blocks", {"values": "found"}, headline="headline", caption="caption"),
            View(
                "heatmap",
                "Jaccard",
                {"values": "jaccard"},
                headline="headline",
                caption="caption",
                options={"scale": "sequential", "minimum": 0, "maximum": 1},
            ),
        ),
        help=(
            "A block is a set of cells. Jaccard is the cells in both over the cells in either. NMI is the overlapping "
            "normalised mutual information of Ishiguro et al. (2016), with the cells in no block as one more set; "
            "1 when the two lists are equal."
        ),
    )

    def run(self, results: Mapping[str, Any], data: AnalysisData, params: Params, report: Any) -> Results:
        true_rows, true_columns = (data[name].values.T > 0.5 for name in ("true_rows", "true_columns"))
        rows, columns = (np.asarray(results[name].values) >= params["threshold"] for name in NEEDS)
        for side, found, true in (("rows", rows, true_rows), ("columns", columns, true_columns)):
            if found.shape[1:] != true.shape[1:]:
                raise ModelError(
                    f"The known blocks are for {true.shape[1]} {side}, the run has {found.shape[1]}."
                )
        names = np.array([f"Block {k + 1}" for k in range(len(rows))], dtype=object)
        true_names = np.array(data["true_rows"].names[1], dtype=object)
        filled, true_filled = (_filled(*sides) for sides in ((rows, columns), (true_rows, true_columns)))
        rows, columns, names = rows[filled], columns[filled], names[filled]
        true_rows, true_columns = true_rows[true_filled], true_columns[true_filled]
        true_names = true_names[true_filled]
        if not len(true_names):
            raise ModelError("The known blocks are all empty.", "Choose other data.")
        report(0.2)
        jaccard = stats.jaccard(rows, columns, true_rows, true_columns)
        nmi = nmi_overlap_ishiguro(rows, columns, true_rows, true_columns)
        report(0.9)
        hits = int((jaccard.max(axis=0, initial=0.0) >= 0.5).sum())
        return {
            "known": _best("Known block", true_names, (true_rows, true_columns), names, jaccard.T),
            "found": _best("Block", names, (rows, columns), true_names, jaccard),
            "jaccard": Result(jaccard, ("block", "true_block"), label="Jaccard"),
            "block": Result(names.astype(str), ("block",)),
            "true_block": Result(true_names.astype(str), ("true_block",)),
            "nmi": Result(np.array(nmi), label="NMI"),
            "headline": f"{hits} of {counted(len(true_names), 'known block')} found, NMI {nmi:.2f}",
            "caption": f"Found: Jaccard of the cells at least 0.5; membership from {params['threshold']:g}; "
            f"{counted(len(names), 'block')} in the run",
        }


def _filled(rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    return np.asarray(rows.any(axis=1) & columns.any(axis=1))


def _best(
    what: str,
    names: np.ndarray,
    sides: tuple[np.ndarray, np.ndarray],
    others: np.ndarray,
    jaccard: np.ndarray,
) -> Table:
    best = jaccard.argmax(axis=1) if len(others) else np.zeros(len(names), int)
    value = jaccard.max(axis=1, initial=0.0)
    match = np.array([others[k] if v > 0 else "none" for k, v in zip(best, value, strict=True)], dtype=object)
    return Table(
        {
            what: names,
            "Rows": sides[0].sum(axis=1),
            "Columns": sides[1].sum(axis=1),
            "Best match": match,
            "Jaccard": value,
        },
        label=f"{what}s",
        doc="Jaccard: cells in both over cells in either.",
    )

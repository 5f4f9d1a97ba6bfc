"""The analysis “Factors and covariates”: every factor against everything known of the items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
    ModelError,
    Params,
    Result,
    Results,
    Table,
    View,
    counted,
)
from plaidwork.core.api_scores import benjamini_hochberg
from plaidwork.plugins.factor_tools import association as stats
from plaidwork.plugins.factor_tools.common import SIGNIFICANCE, listed, p_text, scores_by_item

INTERVAL = Hyperparameter(
    "interval",
    "float",
    0.95,
    minimum=0.5,
    maximum=0.999,
    label="Interval",
    doc="Probability with which the intervals hold the true value: 0.95 is usual.",
    advanced=True,
)
HELP = (
    "Each factor is compared with each covariate, over the items of which both are known (n in the table). Numbers: "
    "Pearson's and Spearman's correlation; the one chosen is tested and has an interval (Fisher's z; for ranks with "
    "the standard error of Bonett and Wright 2000). Two classes: the area under the ROC curve (AUC), 0.5 when the "
    "factor says nothing and 1 when it tells the classes apart, with the interval of DeLong and others "
    "(1988), at its ends that of Newcombe (2006), the test of Mann and Whitney, and the difference of the means in pooled standard "
    "deviations. A number with two values counts as two classes. More classes: eta squared, the share of the factor's "
    "variance between the classes, with the test of Kruskal and Wallis. All p are adjusted together by Benjamini and "
    "Hochberg (1995). The direction of a factor is arbitrary. The uncertainty of the factor values is not in the "
    "tests; and a covariate that is also among the data that were fitted is bound to be associated."
)


class FactorsAndCovariates(Analysis):
    """Association of every factor with every annotation of the items."""

    spec = AnalysisSpec(
        id="factor_tools.covariates",
        version="0.1.0",
        title="Factors and covariates",
        summary="Which factor follows which known property of the samples: correlation, AUC or eta squared, tested.",
        needs={"scores": "scores"},
        annotations=(
            Annotations(
                "covariates",
                label="Covariates",
                doc="Columns of numbers or labels that came with the data.",
                many=True,
                of="scores",
            ),
        ),
        hyperparameters=(
            Hyperparameter(
                "correlation",
                "choice",
                "spearman",
                label="Correlation tested",
                choices=(
                    Choice(value="spearman", label="Spearman", doc="of ranks"),
                    Choice(value="pearson", label="Pearson", doc="of values"),
                ),
                doc="For covariates that are numbers. Both are in the table.",
            ),
            SIGNIFICANCE,
            Hyperparameter(
                "least",
                "int",
                3,
                minimum=1,
                label="Least items of a class",
                doc="Labels that fewer items have are left out, as chance alone explains what they show.",
                advanced=True,
            ),
            Hyperparameter(
                "most_classes",
                "int",
                12,
                minimum=2,
                label="Most classes",
                doc="Text with more different labels is taken for names, and left out.",
                advanced=True,
            ),
            INTERVAL,
        ),
        views=(
            View(
                "heatmap",
                "Map of effects",
                {"values": "signed", "mark": "significant"},
                headline="headline",
                caption="map_caption",
                options={"scale": "diverging", "minimum": -1, "maximum": 1},
            ),
            View("table", "Associations", {"values": "associations"}, headline="headline", caption="caption"),
        ),
        help=HELP,
        citation="Benjamini and Hochberg (1995), Journal of the Royal Statistical Society B 57, 289-300.",
    )

    def run(self, results: Mapping[str, Any], data: AnalysisData, params: Params, report: Any) -> Results:
        chosen: Sequence[Annotation] = data.annotations["covariates"]
        scores, dim = scores_by_item(results["scores"], chosen[0].dim)
        read = [_read(one, params) for one in chosen if one.dim == chosen[0].dim]
        used = [one for one in read if not one.left_out]
        if not used:
            reasons = listed([f"“{one.title}” ({one.left_out})" for one in read], 4)
            raise ModelError(
                f"None of the covariates can be compared: {reasons}.", "Choose other annotations."
            )
        factors = data.names_along(dim, scores.shape[1])
        cells: list[list[Cell]] = []
        for index, covariate in enumerate(used):
            cells.append([_compare(covariate, factor, params) for factor in scores.T])
            report((index + 1) / (len(used) + 1))
        p = np.array([[cell.found.p for cell in row] for row in cells])
        adjusted = benjamini_hochberg(p)
        significant = np.nan_to_num(adjusted, nan=2.0) <= params["significance"]
        signed = np.array([[cell.found.signed for cell in row] for row in cells])
        level = f"adjusted p ≤ {params['significance']:g}"
        return {
            "associations": _table(used, factors, cells, adjusted, params),
            "signed": Result(signed, ("covariate", dim), label="Effect"),
            "significant": Result(significant.astype(float), ("covariate", dim)),
            "covariate": Result(np.array([one.label for one in used]), ("covariate",)),
            dim: Result(np.array(factors), (dim,)),
            "headline": _headline(used, factors, cells, adjusted, params),
            "map_caption": (
                f"Correlation, 2 AUC − 1 for two classes (positive: higher in the class named), correlation ratio "
                f"for more; dots: {level}"
            ),
            "caption": _caption(
                read, used, p, chosen[0].axis_label, f"{int(significant.sum())} with {level}"
            ),
        }


@dataclass(frozen=True, slots=True)
class Covariate:
    """A column as it is compared: numbers, or codes of classes (-1 where missing or rare)."""

    title: str
    values: np.ndarray
    classes: tuple[str, ...] = ()
    left_out: str = ""

    @property
    def label(self) -> str:
        """Name in the map, with the class that positive means."""
        return f"{self.title}: {self.classes[1]}" if len(self.classes) == 2 else self.title

    @property
    def known(self) -> np.ndarray:
        return self.values >= 0 if self.classes else ~np.isnan(self.values)

    @property
    def type(self) -> str:
        return f"{counted(len(self.classes), 'class')}" if self.classes else "number"


@dataclass(frozen=True, slots=True)
class Cell:
    found: stats.Found
    n: int


def _read(column: Annotation, params: Params) -> Covariate:
    """Whether it is a number, two classes or more; or why it is left out."""
    known = column.known
    if not known.any():
        return Covariate(column.title, np.zeros(0), left_out="nothing is known")
    if column.is_number:
        levels = np.unique(column.values[known])
        if len(levels) > 2:
            few = int(known.sum()) < stats.LEAST_PAIRS
            return Covariate(column.title, column.values, left_out="too few known" if few else "")
        texts = np.array(
            [f"{value:.12g}" if k else "" for value, k in zip(column.values, known)], dtype=object
        )
        names = [f"{value:.12g}" for value in levels]
    else:
        texts = column.values
        names = sorted({str(value) for value in texts[known]})
    counts = {name: int((texts == name).sum()) for name in names}
    classes = tuple(name for name in names if counts[name] >= params["least"])
    codes = {name: code for code, name in enumerate(classes)}
    values = np.array([codes.get(str(value), -1) for value in texts], dtype=np.int64)
    left_out = ""
    if len(names) == 1:
        left_out = "one value only"
    elif len(classes) > params["most_classes"] or (len(classes) < 2 and len(names) > params["most_classes"]):
        left_out = f"{counted(len(names), 'label')}"
    elif len(classes) < 2:
        left_out = f"fewer than two labels occur {params['least']} times"
    return Covariate(column.title, values, classes, left_out)


def _compare(covariate: Covariate, factor: np.ndarray, params: Params) -> Cell:
    both = covariate.known & np.isfinite(factor)
    values, factor = covariate.values[both], factor[both]
    if not covariate.classes:
        ranks = params["correlation"] == "spearman"
        return Cell(stats.correlation(factor, values, ranks, params["interval"]), int(both.sum()))
    groups = [factor[values == code] for code in range(len(covariate.classes))]
    if len(groups) == 2:
        found = stats.two_classes(groups[0], groups[1], params["interval"])
    else:
        filled = [group for group in groups if len(group)]
        found = stats.several_classes(filled) if len(filled) > 1 else stats.Found()
    return Cell(found, int(both.sum()))


def _measure(covariate: Covariate, params: Params) -> str:
    if covariate.classes:
        return "AUC" if len(covariate.classes) == 2 else "Eta squared"
    return "Spearman" if params["correlation"] == "spearman" else "Pearson"


def _higher(covariate: Covariate, found: stats.Found) -> str:
    if len(covariate.classes) != 2 or not found.signed:
        return ""
    return covariate.classes[1 if found.signed > 0 else 0]


def _table(
    used: Sequence[Covariate],
    factors: Sequence[str],
    cells: Sequence[Sequence[Cell]],
    adjusted: np.ndarray,
    params: Params,
) -> Table:
    rows = [
        (factor, covariate, cells[index][k].found, cells[index][k].n, adjusted[index, k])
        for index, covariate in enumerate(used)
        for k, factor in enumerate(factors)
    ]
    rows.sort(key=lambda row: (_last(row[4]), _last(row[2].p), -_first(abs(row[2].signed))))
    found = [row[2] for row in rows]
    columns = {
        "Factor": np.array([row[0] for row in rows]),
        "Covariate": np.array([row[1].title for row in rows]),
        "Measure": np.array([_measure(row[1], params) for row in rows]),
        "Effect": np.array([one.effect for one in found]),
        "Low": np.array([one.low for one in found]),
        "High": np.array([one.high for one in found]),
        "Adjusted p": np.array([row[4] for row in rows]),
        "Higher in": np.array([_higher(row[1], row[2]) for row in rows]),
        "n": np.array([row[3] for row in rows]),
        "p": np.array([one.p for one in found]),
        "Type": np.array([row[1].type for row in rows]),
        "Pearson": np.array([one.pearson for one in found]),
        "Spearman": np.array([one.spearman for one in found]),
        "Difference": np.array([one.difference for one in found]),
    }
    return Table(
        columns,
        units={"Difference": "sd"},
        label="Factors and covariates",
        doc=f"Low and High: {100 * params['interval']:g} % interval of the effect.",
    )


def _last(value: float) -> float:
    """For sorting: NaN after all others."""
    return 2.0 if value != value else value


def _first(value: float) -> float:
    return 0.0 if value != value else value


def _headline(
    used: Sequence[Covariate],
    factors: Sequence[str],
    cells: Sequence[Sequence[Cell]],
    adjusted: np.ndarray,
    params: Params,
) -> str:
    tested = int((~np.isnan(adjusted)).sum())
    if not tested:
        return "Nothing could be tested"
    strength = [[_first(abs(cell.found.signed)) for cell in row] for row in cells]
    order = np.lexsort((-np.ravel(strength), np.nan_to_num(adjusted.ravel(), nan=2.0)))
    index, k = divmod(int(order[0]), len(factors))
    covariate, found, p = used[index], cells[index][k].found, adjusted[index, k]
    if p > params["significance"]:
        return f"None of {counted(tested, 'association')} stands out: smallest adjusted {p_text(p)}"
    verb = {"AUC": "separates", "Eta squared": "differs by"}.get(_measure(covariate, params), "follows")
    measure = _measure(covariate, params)
    shown = {
        "Eta squared": "eta squared",
        "Spearman": "Spearman correlation",
        "Pearson": "Pearson correlation",
    }
    return (
        f"{factors[k]} {verb} {covariate.title}: {shown.get(measure, measure)} {found.effect:.2f}, "
        f"adjusted {p_text(p)}"
    )


def _caption(
    read: Sequence[Covariate], used: Sequence[Covariate], p: np.ndarray, items: str, hits: str
) -> str:
    tested = int((~np.isnan(p)).sum())
    known = [int(one.known.sum()) for one in used]
    span = f"{min(known)}" if min(known) == max(known) else f"{min(known)} to {max(known)}"
    parts = [
        f"{counted(tested, 'test')} of {counted(p.shape[1], 'factor')} and {counted(len(used), 'covariate')}, adjusted "
        "together (Benjamini and Hochberg)",
        f"{span} {items} known",
        hits,
    ]
    out = [f"“{one.title}” ({one.left_out})" for one in read if one.left_out]
    if out:
        parts.append(f"left out: {listed(out, 4)}")
    return "; ".join(parts)

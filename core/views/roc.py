"""ROC and precision-recall curves of one class against the others, with areas and intervals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from plaidwork.core.draws.assessment import auc, average_precision, precision_recall, roc, wilson
from plaidwork.core.draws.numbers import format_count, format_number, format_percent, format_probability
from plaidwork.core.pictures import Axis, Line, Panel, Picture, Texts, ViewChoices
from plaidwork.core.pictures.words import capital
from plaidwork.core.views.assessed import (
    choose_class,
    choose_part,
    judged,
    nothing_known,
    with_interval,
)
from plaidwork.core.views.sources import Sources

SHOWN = (("roc", "ROC"), ("pr", "Precision and recall"))
_AXES = {"roc": ("false positive rate", "true positive rate"), "pr": ("recall", "precision")}


@dataclass(frozen=True)
class _Curve:
    """Places on the unit square by falling threshold; ``base`` is the height of guessing (None: the diagonal)."""

    x: np.ndarray
    y: np.ndarray
    thresholds: np.ndarray
    base: float | None
    title: str


def load(sources: Sources, choices: ViewChoices) -> Picture:
    """Options: ``positive`` (class shown first), ``show`` ("roc" or "pr")."""
    everything = judged(sources)
    if not len(everything.codes):
        return nothing_known(sources.view.title)
    k, part = choose_class(everything, sources, choices), choose_part(everything, choices)
    shown = choices.pick("show", "Show", SHOWN, str(sources.view.options.get("show", "roc")))
    data = everything.of(part)
    positive, score = data.codes == k, data.probability[:, k]
    curve, n_positive = _curve(shown, positive, score), int(positive.sum())
    name, area = data.classes[k], auc(positive, score)
    others = [other for j, other in enumerate(data.classes) if j != k]
    against = others[0] if len(others) == 1 else "all other classes"
    counts = (
        f"{format_count(n_positive)} of the class {name}",
        f"{format_count(len(positive) - n_positive)} of {'the class ' + against if len(others) == 1 else against}",
    )
    found = f"{capital(name)}: area under the ROC curve {with_interval(area)}"
    return Picture(
        found if area.value == area.value else f"{capital(name)}: all items are of one kind",
        f"{capital(name)} against {against}. Area 0.5 is guessing, 1 tells all apart.",
        (_panel(shown, curve, n_positive, (curve.title, *counts)),),
        f"{everything.counted(part)}; {', '.join(counts)}; interval of DeLong, 95 %",
        table={
            "Threshold": curve.thresholds,
            capital(_AXES[shown][0]): curve.x,
            capital(_AXES[shown][1]): curve.y,
        },
    )


def _curve(shown: str, positive: np.ndarray, score: np.ndarray) -> _Curve:
    count = int(positive.sum())
    if not 0 < count < len(positive):
        nothing = np.zeros(0)
        return _Curve(nothing, nothing, nothing, None, "No curve: one kind only")
    if shown == "roc":
        x, y, limits = roc(positive, score)
        return _Curve(x, y, limits, None, f"Area {with_interval(auc(positive, score))}")
    x, y, limits = precision_recall(positive, score)
    title = f"Average precision {format_probability(average_precision(positive, score))}"
    return _Curve(x, y, limits, count / len(positive), title)


def _panel(shown: str, curve: _Curve, n_positive: int, aside: tuple[str, ...]) -> Panel:
    """The curve in a square, and what guessing would give."""
    base = curve.base
    heights = (0.0, 1.0) if base is None else (base, base)
    above = 0.03 if base is None or base < 0.93 else -0.03
    word = (0.13, 0.06) if base is None else (0.05, base + above)
    names = _AXES[shown]
    return Panel(
        (
            Line([0, 1], heights, color="axis", width=1.2, dashed=True),
            Texts([word[0]], [word[1]], ("guessing",)),
            Line(curve.x, curve.y, name=names[1], read=_reader(shown, curve, n_positive)),
        ),
        Axis(names[0], low=0, high=1),
        Axis(names[1], low=0, high=1),
        equal=True,
        aside=aside,
    )


def _reader(shown: str, curve: _Curve, n_positive: int) -> Callable[[int], str]:
    """A place on the curve in words."""

    def read(i: int) -> str:
        limit, names = float(curve.thresholds[i]), _AXES[shown]
        words = "threshold above all" if limit == np.inf else f"threshold {format_number(limit, 3)}"
        hits = round(float(curve.y[i] if shown == "roc" else curve.x[i]) * n_positive)
        _, low, high = wilson(hits, n_positive)
        x, y = format_probability(curve.x[i]), format_probability(curve.y[i])
        found = f"{hits} of {n_positive} found ({format_percent(low)} to {format_percent(high)})"
        return f"{words}: {names[0]} {x}, {names[1]} {y}; {found}"

    return read

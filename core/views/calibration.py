"""Whether probabilities hold: the share of the class where so much was promised, with intervals and counts."""

from __future__ import annotations

import numpy as np

from plaidwork.core.draws.assessment import Bin, calibration, calibration_error, score
from plaidwork.core.draws.counting import plural
from plaidwork.core.draws.numbers import format_count, format_fixed, format_loss, format_probability
from plaidwork.core.pictures import Axis, Bars, Intervals, Items, Line, Panel, Picture, Points, ViewChoices
from plaidwork.core.views.assessed import (
    choose_class,
    choose_part,
    judged,
    nothing_known,
    with_interval,
)
from plaidwork.core.views.sources import Sources

_FEWEST, _MOST, _USUAL = 2, 20, 10
_WIDEST = 1.8
"""Width of the picture to its height at most."""


def load(sources: Sources, choices: ViewChoices) -> Picture:
    """Options: ``positive`` (class shown first), ``bins`` (10)."""
    everything = judged(sources)
    if not len(everything.codes):
        return nothing_known(sources.view.title)
    k, part = choose_class(everything, sources, choices), choose_part(everything, choices)
    default = min(max(_FEWEST, int(sources.view.options.get("bins", _USUAL))), _MOST)
    count = int(choices.number("bins", "Bins", _FEWEST, _MOST, default))
    data = everything.of(part)
    bins = calibration(data.codes == k, data.probability[:, k], count)
    judgement = score(data.codes, data.probability)
    losses = (("Log loss", judgement.log_loss), ("Brier score", judgement.brier))
    ends = [f"{format_loss(part.low)} to {format_loss(part.high)}" for _, part in losses]
    size, off = len(data.classes), format_loss(calibration_error(bins), 2)
    guessing = f"{format_fixed(float(np.log(size)), 3)} and {format_fixed((1 - 1 / size) / 2, 3)}"
    aside = [
        f"{name} {format_loss(part.value)} ({end})" for (name, part), end in zip(losses, ends, strict=True)
    ]
    return Picture(
        ", ".join(f"{name} {format_loss(part.value)}" for name, part in losses),
        f"95 % intervals {' and '.join(ends)}. Guessing all classes alike has {guessing}. "
        f"Probabilities of {data.classes[k]} are off by {off} on average.",
        _panels(bins, data.classes[k], data.word, count, (*aside, f"Off by {off} on average")),
        f"{everything.counted(part)}; points on the dashed line keep their promise; Wilson intervals, 95 %",
        table={
            "Mean probability": [part.mean for part in bins],
            "Share": [part.share.value for part in bins],
            "Low": [part.share.low for part in bins],
            "High": [part.share.high for part in bins],
            "Number": [part.count for part in bins],
        },
    )


def _panels(bins: list[Bin], name: str, word: str, count: int, aside: tuple[str, ...]) -> tuple[Panel, Panel]:
    """Shares against probabilities with the diagonal, and below how many items each point stands for."""
    mean = np.array([part.mean for part in bins])
    share = np.array([part.share for part in bins]).reshape(-1, 3)
    number = np.array([part.count for part in bins], dtype=float)
    read = tuple(
        f"mean probability {format_probability(part.mean)}: {name} in {with_interval(part.share)} of "
        f"{format_count(part.count)} {plural(word)}"
        for part in bins
    )
    same = Items("bin", np.arange(len(bins)), shared=False)
    shares = Panel(
        (
            Line([0, 1], [0, 1], color="axis", width=1.2, dashed=True),
            Intervals(mean, share[:, 1], share[:, 2]),
            Points(mean, share[:, 0], size=9, name=f"share of {name}", read=read, of=same),
        ),
        Axis(ticks=False, low=0, high=1),
        Axis(f"share of {name}", low=0, high=1),
        aside=aside,
        widest=_WIDEST,
        reads="across",
        zoom="",
    )
    labels = tuple(format_count(value) for value in number)
    wide = 0.5 / count
    bars = Bars(mean, 0 * number, number, wide, 28, labels, color="neutral", read=read, of=same)
    axis = Axis(f"probability of {name}; bars: {plural(word)}", low=0, high=1)
    counts = Panel(
        (bars,), axis, Axis(zero=True, ticks=False), height=2.6, reads="across", zoom="", lines=False
    )
    return shares, counts

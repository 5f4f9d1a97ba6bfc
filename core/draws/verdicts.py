"""What is said of a run: quantities, the marks of R-hat and effective sample size, and the verdict in words."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from plaidwork.core.contract.schedule import Schedule
from plaidwork.core.contract.spec import ModelSpec
from plaidwork.core.draws.counting import agree, counted
from plaidwork.core.draws.draws import Kept
from plaidwork.core.draws.mcstats import rhat
from plaidwork.core.draws.numbers import format_amount
from plaidwork.core.draws.solutions import same_optimum
from plaidwork.core.spelling import inside_sentence

RHAT_MARKS = (1.01, 1.05)
"""R-hat above which a quantity is marked: warn, error."""
ESS_MARKS = (400.0, 100.0)
"""Effective sample size below which a number is marked: warn, error."""
_STILL_MOVING = 1e-5
"""Relative change of the objective in the last sweep above which a restart was still on its way."""


Mark = Literal["ok", "warn", "error"]


Status = Literal["ok", "warn", "error", "constant", "missing"]


@dataclass(frozen=True, slots=True)
class Quantity:
    """One scalar over the kept draws; numbers are in ``unit``, R-hat and ESS without one.

    ``status`` is "error" for R-hat above 1.05, "warn" for R-hat above 1.01 or an ESS below 400, "constant" when it never
    changes, "missing" when a draw is not finite or there are fewer than 4; the last two have NaN where nothing holds.
    ``source`` is the kind of thing ``name`` names in the declaration, ``index`` the element of an array.
    """

    name: str
    title: str
    unit: str
    source: Literal["variable", "trace"]
    index: tuple[int, ...]
    rhat: float
    ess_bulk: float
    ess_tail: float
    mean: float
    sd: float
    mcse: float
    status: Status


@dataclass(frozen=True, slots=True)
class Verdict:
    """The state of a run in words: ``title`` (at most 70 characters), ``text`` (what it means, what to do).

    ``word`` and ``detail`` say the same where there is room for a word and a number. ``worst`` is the title of the
    quantity that the text is about; ``chains`` are those it names, counted from 0; ``actions`` are what helps, the main
    one first: "run_longer", "compare_chains", "more_chains".
    """

    kind: Mark
    title: str
    text: str
    worst: str = ""
    chains: tuple[int, ...] = ()
    actions: tuple[str, ...] = ()
    word: str = ""
    detail: str = ""

    @property
    def settled(self) -> bool:
        """Whether averages over the run can be trusted."""
        return self.kind == "ok"

    @property
    def phrase(self) -> str:
        """The title inside a sentence."""
        return f"{self.title[:1].lower()}{self.title[1:]}"


def mark_rhat(value: float) -> Mark:
    """How an R-hat is marked; NaN (one chain, or constant) is not."""
    return "error" if value > RHAT_MARKS[1] else "warn" if value > RHAT_MARKS[0] else "ok"


def mark_ess(value: float) -> Mark:
    """How an effective sample size is marked; NaN is not."""
    return "error" if value < ESS_MARKS[1] else "warn" if value < ESS_MARKS[0] else "ok"


@dataclass(frozen=True, slots=True)
class Found:
    name: str
    title: str
    unit: str
    source: Literal["variable", "trace"]
    index: tuple[int, ...]
    values: np.ndarray
    """(chain, draw)"""


def badness(quantity: Quantity) -> tuple[int, float, float]:
    order = ("error", "warn", "ok", "constant", "missing").index(quantity.status)
    ess = np.fmin(quantity.ess_bulk, quantity.ess_tail)
    ratio = -np.inf if np.isnan(quantity.rhat) else quantity.rhat
    if quantity.status == "warn":  # marked for its few effective draws alone: those decide
        ratio = max(ratio, RHAT_MARKS[0])
    return order, -ratio, float(np.inf if np.isnan(ess) else ess)


def verdict_of_draws(
    quantities: Sequence[Quantity], found: Sequence[Found], kept: Kept, spec: ModelSpec, n_draws: int
) -> Verdict:
    judged = [q for q in quantities if q.status not in ("constant", "missing")]
    unsettled = [q for q in judged if q.status in ("warn", "error")]
    if n_draws < 4:
        text = f"Each chain has kept {n_draws} of the 4 draws that a first look needs. Run longer."
        return Verdict("warn", "Too early to tell", text, actions=("run_longer",), word="Too early")
    if not judged:
        text = "Every recorded quantity kept one value in all draws, or is not a number. Look at the traces."
        return Verdict("warn", "No quantity varies", text, actions=("compare_chains",), word="Nothing varies")
    worst = judged[0]
    if len(kept) == 1:
        advice = "Run at least 4 chains to see whether they agree."
        fewest = min(judged, key=lambda q: np.fmin(q.ess_bulk, q.ess_tail))
        few = f" Fewest effective draws: {fewest.title}, {_ess_text(fewest)}." if unsettled else ""
        actions = ("more_chains", "run_longer") if unsettled else ("more_chains",)
        text = f"One chain cannot show whether another start would end elsewhere.{few} {advice}"
        return Verdict(
            "warn",
            "Exploratory: one chain",
            text,
            worst.title,
            actions=actions,
            word="One chain",
            detail="nothing to compare with",
        )
    apart = _chains_apart(kept, spec)
    if apart is not None:
        return apart
    if unsettled:
        values = next(i.values for i in found if (i.name, i.index) == (worst.name, worst.index))
        return _unsettled(worst, len(unsettled), len(judged), values, [c.chain for c in kept.chains])
    all_of = f"All {counted(len(judged), 'quantity')} have" if len(judged) > 1 else "The one quantity has"
    text = f"Largest R-hat: {worst.title}, {worst.rhat:.3f}. The chains agree, so averages can be trusted."
    detail = f"largest R-hat {worst.rhat:.3f}"
    return Verdict("ok", f"{all_of} settled", text, worst.title, word="Settled", detail=detail)


def _unsettled(worst: Quantity, n: int, total: int, values: np.ndarray, numbers: Sequence[int]) -> Verdict:
    detail = f"{n} of {counted(total, 'quantity')}"
    title = f"{n} of {counted(total, 'quantity')} {agree(n, 'has', 'have')} not settled yet"
    if worst.rhat > RHAT_MARKS[0]:
        chain = int(np.argmax(np.abs(values.mean(axis=1) - np.median(values.mean(axis=1)))))
        chain = numbers[chain]
        differs = f" Chain {chain + 1} differs most." if len(values) > 2 else ""
        ratio = f"{worst.rhat:.3f}" if np.isfinite(worst.rhat) else "infinite"
        text = (
            f"Worst: {worst.title}, R-hat {ratio}. The chains sit at different levels for a while, "
            f"so averages cannot be trusted yet.{differs} Run longer, or compare the chains."
        )
        chains = (chain,) if differs else ()
        actions = ("run_longer", "compare_chains")
        return Verdict("warn", title, text, worst.title, chains, actions, "Not settled", detail)
    text = (
        f"Worst: {worst.title}, {_ess_text(worst)}. The chains agree, but their draws are too alike for precise "
        "averages. Run longer."
    )
    return Verdict("warn", title, text, worst.title, (), ("run_longer",), "Not settled", detail)


def _ess_text(quantity: Quantity) -> str:
    part, value = min(("bulk", quantity.ess_bulk), ("tail", quantity.ess_tail), key=lambda pair: pair[1])
    return f"{part} ESS {value:.0f}"


def _objective(spec: ModelSpec) -> tuple[str, str, float] | None:
    """Name and title of the objective, and 1 when high is good or -1 when low is."""
    trace = spec.primary_trace
    if trace is None or trace.kind == "acceptance":
        return None
    return trace.name, trace.title, -1.0 if trace.goal == "down" else 1.0


def _chains_apart(kept: Kept, spec: ModelSpec) -> Verdict | None:
    """The verdict on chains that end on another level of the objective than the best one; None when they do not.

    Over the second half of the draws, the middle 90 % of a chain lies wholly below that of the best chain.
    """
    objective = _objective(spec)
    if objective is None:
        return None
    name, title, sign = objective
    values = sign * kept.kept_trace(name)
    half = values[:, values.shape[1] // 2 :]
    if half.shape[1] < 10 or not np.isfinite(half).all() or not rhat(values) > RHAT_MARKS[1]:
        return None
    low, high = np.quantile(half, (0.05, 0.95), axis=1)
    means = half.mean(axis=1)
    best = int(np.argmax(means))
    below = tuple(int(c) for c in np.flatnonzero(high < low[best]))
    if not below:
        return None
    gap = means[best] - means[list(below)].min()
    numbers = [chain.chain for chain in kept.chains]
    best, apart = numbers[best], tuple(numbers[c] for c in below)
    who = listed([c + 1 for c in apart])
    one = len(apart) == 1
    text = (
        f"{'Chain' if one else 'Chains'} {who} {'ends' if one else 'end'} up to {format_amount(gap)} "
        f"{'below' if sign > 0 else 'above'} chain {best + 1} in {inside_sentence(title)}, so averages would mix different solutions. "
        "Compare the chains, or run longer."
    )
    actions = ("compare_chains", "run_longer")
    heading, word = "The chains found different solutions", "Chains differ"
    detail = f"{len(apart)} of {len(numbers)} {'below' if sign > 0 else 'above'} the best"
    return Verdict("error", heading, text, title, apart, actions, word, detail)


def listed(numbers: Sequence[Any]) -> str:
    """Numbers in texts: ``1, 2 and 5``."""
    texts = [str(number) for number in numbers]
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"


def verdict_of_restarts(
    kept: Kept, spec: ModelSpec, unfinished: Collection[int] | None, schedule: Schedule | None
) -> Verdict:
    """Whether the restarts of a variational or optimising model end at the same objective."""
    objective = _objective(spec)
    if objective is None:
        text = "The model reports no objective, so restarts cannot be compared."
        return Verdict("warn", "Nothing to judge", text, word="No objective")
    name, quantity, sign = objective
    title = inside_sentence(quantity)
    numbers = [chain.chain for chain in kept.chains]
    curves = [sign * chain.trace(name) for chain in kept.chains]
    final = np.array([curve[-1] if len(curve) else np.nan for curve in curves])
    broken = tuple(numbers[c] for c in np.flatnonzero(~np.isfinite(final)))
    if broken:
        who = listed([c + 1 for c in broken])
        text = f"The final {title} of restart {who} is not a number. Look at its trace and at the settings."
        actions = ("compare_chains",)
        return Verdict("error", "A restart has failed", text, quantity, broken, actions, "Failed restart")
    best = int(np.argmax(final))
    cut = _cut_short(curves[best], numbers[best], unfinished, title)
    if cut:
        chains, detail = (numbers[best],), f"after {counted(len(curves[best]), 'sweep')}"
        return Verdict(
            "warn", "Not converged yet", cut, quantity, chains, ("run_longer",), "Not converged", detail
        )
    if len(curves) == 1:
        text = "One restart cannot show whether another start would end better. Run at least 5 restarts."
        heading, detail = "Exploratory: one restart", "nothing to compare with"
        return Verdict("warn", heading, text, quantity, (), ("more_chains",), "One restart", detail)
    return _reached(final, numbers, quantity, sign, same_optimum(schedule, final))


def _cut_short(curve: np.ndarray, number: int, unfinished: Collection[int] | None, title: str) -> str:
    """What to say of the best restart when it has ended, or stands, before it has converged; else empty."""
    if unfinished is not None:
        text = (
            f"Restart {number + 1}, the best, ended after {counted(len(curve), 'sweep')}, before it had converged. Allow more "
            "sweeps and fit again."
        )
        return text if number in unfinished else ""
    scale = max(1.0, abs(curve[-1]))
    if len(curve) > 1 and abs(curve[-1] - curve[-2]) > _STILL_MOVING * scale:
        return f"The {title} of restart {number + 1}, the best, was still changing at its last sweep. Run longer."
    return ""


def _reached(final: np.ndarray, numbers: Sequence[int], quantity: str, sign: float, within: float) -> Verdict:
    """How many restarts have come ``within`` so many nats of the best objective; final (restarts,), higher is better."""
    title, best = inside_sentence(quantity), int(np.argmax(final))
    same = int(np.sum(final[best] - final <= within))
    heading, detail = (
        f"{same} of {counted(len(final), 'restart')} reached the best {title}",
        f"{same} of {len(final)}",
    )
    if same == 1:
        second = np.sort(final)[-2]
        text = (
            f"The next best is {format_amount(final[best] - second)} {'below' if sign > 0 else 'above'}, so a better solution may "
            "exist. Run more restarts."
        )
        actions = ("more_chains", "compare_chains")
        return Verdict("warn", heading, text, quantity, (numbers[best],), actions, "Restarts differ", detail)
    text = (
        "Different starts end at the same solution. Restarts that end elsewhere are worse and can be ignored."
    )
    if same == len(final):
        text = "Different starts end at the same solution."
    return Verdict("ok", heading, text, quantity, word="Settled", detail=detail)

"""Can a run be trusted, and what next: one row per quantity, worst first, and a verdict in words."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from textwrap import shorten
from typing import Any

import numpy as np

from plaidwork.core.contract.model import Table
from plaidwork.core.contract.schedule import Schedule
from plaidwork.core.contract.spec import ModelSpec
from plaidwork.core.draws.draws import Kept
from plaidwork.core.draws.mcstats import (
    autocorrelation,
    ess_bulk,
    ess_tail,
    hdi,
    mcse_mean,
    rank_histogram,
    rhat,
)
from plaidwork.core.draws.solutions import Solution
from plaidwork.core.draws.verdicts import (
    ESS_MARKS,
    RHAT_MARKS,
    Found,
    Quantity,
    Status,
    Verdict,
    badness,
    mark_ess,
    mark_rhat,
    verdict_of_draws,
    verdict_of_restarts,
)

__all__ = [
    "ESS_MARKS",
    "RHAT_MARKS",
    "Diagnosis",
    "Quantity",
    "Verdict",
    "autocorrelation",
    "diagnose",
    "ess_bulk",
    "ess_tail",
    "hdi",
    "mark_ess",
    "mark_rhat",
    "mcse_mean",
    "rank_histogram",
    "rhat",
]


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """All quantities of a run, worst first, and the verdict. ``n_draws`` counts the draws per chain compared.

    ``kept`` is what was judged. ``solutions`` are the groups of chains that found the same, where they do not agree.
    """

    quantities: tuple[Quantity, ...]
    verdict: Verdict
    n_chains: int
    n_draws: int
    kept: Kept = field(repr=False, compare=False)
    solutions: tuple[Solution, ...] = ()

    def series(self, quantity: Quantity) -> np.ndarray:
        """(chain, draw) values of a quantity at the kept draws."""
        if quantity.source == "trace":
            return self.kept.kept_trace(quantity.name)
        values = np.asarray(self.kept.stack(quantity.name), dtype=float)
        where: tuple[Any, ...] = (slice(None), slice(None), *quantity.index)
        series: np.ndarray = values[where]
        return series

    @property
    def judged(self) -> tuple[Quantity, ...]:
        """The quantities that vary, which the verdict counts."""
        return tuple(q for q in self.quantities if q.status not in ("constant", "missing"))

    @property
    def unsettled(self) -> tuple[Quantity, ...]:
        return tuple(q for q in self.quantities if q.status in ("warn", "error"))

    def table(self) -> Table:
        """The rows as a table of equal-length columns, for export and reports."""
        rows = self.quantities
        columns: dict[str, np.ndarray] = {"Quantity": np.array([q.title for q in rows], dtype=object)}
        for title, name in _COLUMNS.items():
            columns[title] = np.array([getattr(q, name) for q in rows], dtype=float)
        columns["Unit"] = np.array([q.unit for q in rows], dtype=object)
        columns["Status"] = np.array([q.status for q in rows], dtype=object)
        return Table(columns, label="Diagnostics, worst first")


_TITLE = 70
"""Characters of a verdict's title at most."""
_COLUMNS = {
    "R-hat": "rhat", "Bulk ESS": "ess_bulk", "Tail ESS": "ess_tail", "Mean": "mean", "SD": "sd", "MCSE": "mcse"
}  # fmt: skip


def diagnose(
    kept: Kept,
    spec: ModelSpec | None = None,
    *,
    max_elements: int = 0,
    unfinished: Collection[int] | None = None,
    doubt: str = "",
    schedule: Schedule | None = None,
) -> Diagnosis:
    """Judge the kept draws: every scalar variable and every trace at the kept draws.

    Ragged variables, acceptance rates and traces that are not to be judged are left out, and a trace of the same name as a
    variable, or with its title and its values, counts once. What is shown of a run asks ``Run.diagnosis``, so that there is one verdict.

    Parameters
    ----------
    kept : snapshot of the chains, cut to the shortest
    spec : declaration of the model; that of ``kept`` when None
    max_elements : also judge the elements of each array variable of at most so many elements
    unfinished : numbers of the restarts that ended before they had converged; None when that is not known
    schedule : of the run, by whose tolerance restarts have stopped; half a nat alone tells them apart when None
    doubt : what the model itself holds against its draws, a sentence without its full stop; empty when nothing

    Notes
    -----
    For a sampler the verdict is "ok" when all quantities have settled, "warn" when some have not, "error" when some
    chain ends on another level of the objective than the best. For a variational or optimising model it compares the
    final objective of the restarts; R-hat and ESS then mean nothing and stay NaN.
    About 2 ms per quantity of 4 x 1000 draws.
    """
    spec = kept.spec if spec is None else spec
    n_chains = len(kept)
    n_draws = min((chain.n_draws for chain in kept.chains), default=0)
    if n_draws == 0:
        text = "No draw has been kept. The table fills as draws come in."
        verdict = Verdict("warn", "Nothing to judge yet", text, word="Too early")
        return Diagnosis((), verdict, n_chains, 0, kept)
    found = _collect(kept, spec, max_elements)
    quantities = tuple(sorted(_rows(found, spec.algorithm == "mcmc"), key=badness))
    if spec.algorithm == "mcmc":
        verdict = verdict_of_draws(quantities, found, kept, spec, n_draws)
    else:
        verdict = verdict_of_restarts(kept, spec, unfinished, schedule)
    return Diagnosis(quantities, _doubted(verdict, doubt, spec.algorithm), n_chains, n_draws, kept)


def _doubted(verdict: Verdict, doubt: str, algorithm: str) -> Verdict:
    """The verdict with what the model itself has found against its draws."""
    if not doubt:
        return verdict
    if not verdict.settled:
        return replace(verdict, text=f"{verdict.text} {doubt}.")
    title = shorten(doubt.partition(":")[0], _TITLE, placeholder="…")
    text = f"{doubt}. R-hat and ESS alone do not show it: averages cannot be trusted yet."
    if algorithm != "mcmc":
        text = f"{doubt}. Restarts that agree do not show it: the results cannot be trusted yet."
    return replace(verdict, kind="warn", title=title, text=text, word="Not settled", actions=("run_longer",))


def _collect(kept: Kept, spec: ModelSpec, max_elements: int) -> list[Found]:
    found = []
    for variable in spec.variables:
        if variable.ragged or (variable.dims and max_elements == 0):
            continue
        values = np.asarray(kept.stack(variable.name), dtype=float)
        shape = values.shape[2:]
        if shape and int(np.prod(shape)) > max_elements:
            continue
        title = variable.label or variable.name.replace("_", " ")
        for index in np.ndindex(*shape):
            label = f"{title} [{', '.join(str(i + 1) for i in index)}]" if index else title
            part = values[(slice(None), slice(None), *index)]
            found.append(Found(variable.name, label, variable.unit, "variable", index, part))
    variables = {item.name for item in found}
    shown = {item.title: item.values for item in found}
    for trace in spec.traces:
        if trace.judged and trace.kind != "acceptance" and trace.name not in variables:
            values = kept.kept_trace(trace.name)
            if trace.title not in shown or not np.array_equal(shown[trace.title], values):
                found.append(Found(trace.name, trace.title, trace.unit, "trace", (), values))
    return found


def _rows(found: Sequence[Found], sampled: bool) -> list[Quantity]:
    if not found:
        return []
    values = np.stack([item.values for item in found], axis=-1)
    nothing = np.full(len(found), np.nan)
    bulk, tail, error, ratio = (
        (f(values) if sampled else nothing) for f in (ess_bulk, ess_tail, mcse_mean, rhat)
    )
    rows = []
    for q, item in enumerate(found):
        flat = item.values.ravel()
        finite = bool(np.isfinite(flat).all())
        constant = finite and bool(np.all(flat == flat[0]))
        status: Status = "constant" if constant else "ok"
        if not finite or (sampled and not constant and np.isnan(bulk[q])):
            status = "missing"
        elif not constant and sampled:
            few = min(bulk[q], tail[q]) < ESS_MARKS[0]
            status = mark_rhat(ratio[q])
            status = "warn" if status == "ok" and few else status
        rows.append(
            Quantity(
                name=item.name,
                title=item.title,
                unit=item.unit,
                source=item.source,
                index=item.index,
                rhat=np.nan if constant else float(ratio[q]),
                ess_bulk=np.nan if constant else float(bulk[q]),
                ess_tail=np.nan if constant else float(tail[q]),
                mean=float(np.mean(flat)) if finite else np.nan,
                sd=float(np.std(flat, ddof=1)) if finite and flat.size > 1 else np.nan,
                mcse=float(error[q]),
                status=status,
            )
        )
    return rows

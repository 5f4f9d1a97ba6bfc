"""What to write in the paper: a methods paragraph of a run, each word of it computed from the run."""

from __future__ import annotations

import math

from plaidwork.core.draws.counting import counted
from plaidwork.core.draws.diagnostics import Diagnosis
from plaidwork.core.draws.numbers import format_count, format_number, format_percent
from plaidwork.core.draws.verdicts import listed
from plaidwork.core.findings.settings import shown_value
from plaidwork.core.inference.environment import environment
from plaidwork.core.inference.run import Run
from plaidwork.core.session.session import Session

RHAT = (
    "Vehtari, A., Gelman, A., Simpson, D., Carpenter, B., Bürkner, P.-C. (2021). Rank-normalization, folding, and localization: an "
    "improved R-hat for assessing convergence of MCMC. Bayesian Analysis 16, 667-718."
)
STACKING = (
    "Yao, Y., Vehtari, A., Gelman, A. (2022). Stacking for non-mixing Bayesian computations: the curse and blessing of multimodal "
    "posteriors. Journal of Machine Learning Research 23, 1-45."
)
_SOFTWARE = ("python", "numpy", "scipy", "numba")
_NAMES = {"python": "Python", "numpy": "NumPy", "scipy": "SciPy", "numba": "Numba"}


def methods_text(session: Session, run: Run) -> str:
    """Data, model, settings, inference, whether it settled, and software, as paragraphs of plain text with the references at the end.

    Nothing in it is a guess: what the run does not tell (why these data, why this model) is for the author. Takes the
    time of :meth:`Run.diagnosis`.
    """
    diagnosis = run.diagnosis() if run.n_draws else None
    references = references_of(run)
    paragraphs = [
        f"{_data(session, run)} {_model(run)} {_settings(run)}",
        f"{_inference(run)} {_settled(run, diagnosis)}".strip(),
        _software(run),
        "\n".join(("References", *references)) if references else "",
    ]
    return "\n\n".join(part for part in paragraphs if part) + "\n"


def references_of(run: Run) -> tuple[str, ...]:
    """What the methods of a run cite: the model's papers, and those of the diagnoses that were made."""
    found = [line.strip() for line in run.spec.citation.splitlines() if line.strip()]
    if run.spec.algorithm == "mcmc" and run.n_draws:
        found.append(RHAT)
    if run.n_draws and len(run.diagnosis().solutions) > 1:
        found.append(STACKING)
    return tuple(dict.fromkeys(found))


def _data(session: Session, run: Run) -> str:
    parts = []
    for name, used in run.inputs.items():
        for one in used:
            data = session.datasets.get(one)
            if data is None:
                parts.append(f"“{one}” ({run.spec.input(name).title.lower()})")
                continue
            steps = [
                str(step.options.get("text", step.name)) for step in data.steps if step.name != "annotation"
            ]
            done = f"; {', '.join(steps)}" if steps else ""
            parts.append(f"“{one}” ({data.described}{done})")
    held = (
        f" A share of {format_percent(run.holdout)} of the cells was held out and predicted."
        if run.holdout
        else ""
    )
    return f"The data were {listed(parts) if parts else 'none'}.{held}"


def _model(run: Run) -> str:
    cited = [line for line in run.spec.citation.splitlines() if line.strip()]
    names = "; ".join(_short(line) for line in cited)
    summary = run.spec.summary.replace("**", "").rstrip(".")
    return (
        f"They were fitted by the model “{run.spec.title}” (version {run.spec.version}{f'; {names}' if names else ''}): "
        f"{summary[:1].lower()}{summary[1:]}."
    )


def _short(citation: str) -> str:
    """“Caldas, Kaski 2008” of a citation that begins with authors and a year in brackets; else all of it."""
    authors, bracket, rest = citation.partition(" (")
    year = rest[:4]
    if not bracket or not year.isdigit():
        return citation.strip()
    names = [part.strip() for part in authors.replace("&", "").split(",")]
    family = [name for name in names if name and "." not in name]
    if not family:
        return f"{authors} {year}"
    return (
        f"{family[0]} et al. {year}"
        if len(family) > 2 or "et al." in authors
        else f"{', '.join(family)} {year}"
    )


def _settings(run: Run) -> str:
    changed = []
    for one in run.spec.hyperparameters:
        value = run.params.get(one.name, one.default)
        if one.active(run.params) and value != one.default:
            changed.append(
                f"{one.title}: {shown_value(one, value)} {one.unit}".strip()
                + f" (default {shown_value(one, one.default)})"
            )
    if not changed:
        return "All settings had their default values."
    return f"Settings that differ from the defaults: {'; '.join(changed)}."


def _inference(run: Run) -> str:
    chains, schedule = len(run.chains), run.schedule
    if run.spec.algorithm == "mcmc":
        kept = sorted({record.draws.count for record in run.chains})
        each = (
            counted(kept[0], "draw")
            if len(kept) == 1
            else f"{format_count(kept[0])} to {counted(kept[-1], 'draw')}"
        )
        every = f", one in {counted(schedule.thin, 'sweep')}" if schedule.thin > 1 else ""
        left = schedule.warmup + schedule.burn_in
        return (
            f"The posterior was sampled by Markov chain Monte Carlo in {counted(chains, 'chain')} with different starts (seed {run.seed}). "
            f"After {counted(left, 'warm-up sweep')} each chain kept {each}{every}, {format_count(run.n_draws)} in all."
        )
    how = (
        "The posterior was approximated by variational inference"
        if run.spec.algorithm == "variational"
        else "The parameters were found by optimisation"
    )
    sweeps = max((record.sweep for record in run.chains), default=0)
    return (
        f"{how} from {counted(chains, 'random start')} (seed {run.seed}), with at most {counted(sweeps, 'sweep')}; "
        "results are those of the best one."
        if chains > 1
        else f"{how} from one start (seed {run.seed}) in {counted(sweeps, 'sweep')}."
    )


def _settled(run: Run, diagnosis: Diagnosis | None) -> str:
    if diagnosis is None:
        return f"NOTE TO THE AUTHOR: nothing has been kept of this run yet ({run.status})."
    found, verdict = [], diagnosis.verdict
    if run.spec.algorithm == "mcmc":
        judged = diagnosis.judged
        worst = max((q.rhat for q in judged if math.isfinite(q.rhat)), default=math.nan)
        least = min((q.ess_bulk for q in judged if math.isfinite(q.ess_bulk)), default=math.nan)
        if math.isfinite(least):
            rhat = f"the largest R-hat was {format_number(worst)} and " if math.isfinite(worst) else ""
            found.append(
                f"Of {counted(len(judged), 'quantity')} judged, {rhat}the smallest bulk effective sample size "
                f"{format_count(round(least))} (Vehtari et al. 2021)."
            )
    elif verdict.settled:
        found.append(f"{verdict.title}.")
    if len(diagnosis.solutions) > 1:
        weights = ", ".join(f"{one.weight:.2f}" for one in diagnosis.solutions if math.isfinite(one.weight))
        told = f", with stacking weights {weights} (Yao et al. 2022)" if weights else ""
        found.append(f"The chains found {counted(len(diagnosis.solutions), 'different solution')}{told}.")
    if not verdict.settled:
        found.append(f"NOTE TO THE AUTHOR: this run has not settled ({verdict.phrase}). {verdict.text}")
    return " ".join(found)


def _software(run: Run) -> str:
    versions = run.environment or environment()
    made = versions.get("plaidwork", "")
    used = ", ".join(f"{_NAMES[name]} {versions[name]}" for name in _SOFTWARE if name in versions)
    return f"Computations were made with Plaidwork {made}{f' ({used})' if used else ''}."

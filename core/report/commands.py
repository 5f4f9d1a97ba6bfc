"""Commands that repeat a stored run."""

from __future__ import annotations

from typing import Any

from plaidwork.core.contract.spec import ModelSpec
from plaidwork.core.inference.run import Run
from plaidwork.core.plugins.registry import registry
from plaidwork.core.quoting import shell
from plaidwork.core.session.session import Session

_SAMPLER = ("chains", "warmup", "burn_in", "draws", "thin")
_OTHERS = ("chains", "max_sweeps", "tolerance", "window", "relaxation")


def repeating(session: Session, run: Run, file: str) -> tuple[tuple[str, str], ...]:
    """What a command does, and the command, for a run of the session in ``file``.

    The first repeats all sweeps and compares them with those stored; the second fits the stored data anew, where each
    input is one data set of the session.
    """
    sweeps = max((record.sweep for record in run.chains), default=0)
    check = _typed_line(["plaidwork", "verify", file, f"--run={run.title}", "--sweeps", str(max(sweeps, 1))])
    found = [("Repeats every sweep and compares it with what is stored", check)]
    if all(len(names) == 1 and names[0] in session.datasets for names in run.inputs.values()):
        found.append(("Fits the same model to the same data anew", _typed_line(_fit(run, file))))
    return tuple(found)


def _fit(run: Run, file: str) -> list[str]:
    words = ["plaidwork", "fit", run.spec.id]
    for name, (data,) in run.inputs.items():
        words += ["--input", f"{name}={file}", "--import-option", f"{name}.data={data}"]
    spec, params = _settings(run)
    for parameter in spec.hyperparameters:
        value = params.get(parameter.name, parameter.default)
        if value != parameter.default:
            words += ["--set", f"{parameter.name}={_typed(value)}"]
    for name in _SAMPLER if run.spec.algorithm == "mcmc" else _OTHERS:
        value = getattr(run.schedule, name)
        if value or name not in ("burn_in", "window", "relaxation"):
            words += [f"--{name.replace('_', '-')}", str(value)]
    if run.holdout:
        words += ["--holdout", str(run.holdout)]
    return [*words, "--seed", str(run.seed), "--out", "again.plaidwork"]


def _settings(run: Run) -> tuple[ModelSpec, dict[str, Any]]:
    """The declaration that a fit would go by now, and the settings of the run in it."""
    known = registry()
    spec = known.model(run.spec.id).spec if known.has(run.spec.id) else run.spec
    return spec, known.settings_of(run)


def _typed(value: Any) -> str:
    """A value as it is typed on the command line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (tuple, list)):
        return ",".join(_typed(item) for item in value)
    return repr(value) if isinstance(value, float) else str(value)


def _typed_line(words: list[str]) -> str:
    return " ".join(map(shell, words))

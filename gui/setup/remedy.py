"""What helps against a warning about the data, with one click: other settings, or a transformed copy of them, chosen in their place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from plaidwork.core.contract.spec import ModelSpec
from plaidwork.core.data.dataset import Dataset, Step
from plaidwork.core.data.transforms import TRANSFORMS, apply_step
from plaidwork.core.findings.settings import shown_value
from plaidwork.core.inference.plan import FitPlan

Remedy = tuple[Dataset, Step]
_TURNED = {"rows": "columns", "columns": "rows"}


def settings_of(plan: FitPlan) -> Mapping[str, Any]:
    """The settings that help against the first warning; none where it names none, or some that the model has not."""
    found, known = plan.warnings[0].settings, {item.name for item in plan.spec.hyperparameters}
    return found if set(found) <= known else {}


def words_of_settings(spec: ModelSpec, settings: Mapping[str, Any]) -> str:
    """What the button says, as "Row and column effects" or, of a choice, "Trend and season"."""
    last = spec.hyperparameter(list(settings)[-1])
    return next((choice.label for choice in last.choices if choice.value == settings[last.name]), last.title)


def told_settings(spec: ModelSpec, settings: Mapping[str, Any]) -> str:
    """Settings with their values in words, as "Start from: Chance; Start blocks: 7"."""
    items = [spec.hyperparameter(name) for name in settings]
    return "; ".join(
        f"{item.title}: {shown_value(item, item.check(settings[item.name]))} {item.unit}".strip()
        for item in items
    )


def remedy_of(plan: FitPlan, chosen: Mapping[str, Sequence[Dataset]]) -> Remedy | None:
    """The data that the first warning is about and the step that helps; None where it names none.

    The axis of the step is that of the data as they are in the session, which a plan may have turned.
    """
    first = plan.warnings[0]
    if first.transform not in TRANSFORMS or len(chosen.get(first.where, ())) != 1:
        return None
    dataset, fitted = chosen[first.where][0], plan.inputs[first.where][0]
    options = dict(first.options)
    axis = options.get("axis")
    if axis in _TURNED and not set(fitted.row_names) <= set(dataset.row_names):
        options["axis"] = _TURNED[axis]
    return dataset, Step(first.transform, options)


def words_of(step: Step) -> str:
    """What the button says, as "Standardise rows", or "Normal scores" of all values."""
    axis = step.options.get("axis", "")
    return " ".join(filter(None, (TRANSFORMS[step.name].title, axis if axis in _TURNED else "")))


def made(dataset: Dataset, step: Step) -> Dataset:
    """The transformed copy under a name that says so. Raises ``DataError``."""
    changed = apply_step(dataset, step)
    return changed.with_(name=f"{dataset.name}, {changed.steps[-1]}")

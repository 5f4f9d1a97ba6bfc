"""Named transformations of a dataset, recorded in its steps so that they can be shown, replayed and undone.

Nothing is changed in place: undoing means applying all steps but the last to the data as imported.
Every transformation passes over missing cells; none fills them in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from plaidwork.core.contract.hyperparameter import Choice, Hyperparameter
from plaidwork.core.data import _transforms as made
from plaidwork.core.data.dataset import Dataset, Step
from plaidwork.core.data.sparse_in_file import check_copy
from plaidwork.core.errors import DataError, SettingError

_ROWS_COLUMNS = (Choice(value="rows", label="Rows"), Choice(value="columns", label="Columns"))
_ALL = Choice(value="all", label="All values together")


def _axis(default: str = "rows", whole: bool = False) -> Hyperparameter:
    choices = (*_ROWS_COLUMNS, _ALL) if whole else _ROWS_COLUMNS
    return Hyperparameter("axis", "choice", default, label="Of", choices=choices)


_NAMES = Hyperparameter(
    "names", "text", "", label="Names", doc="One name per line, or separated by semicolons."
)


@dataclass(frozen=True, slots=True)
class Transform:
    """One entry of the catalogue: what a menu and a form need, and the function behind it."""

    name: str
    title: str
    doc: str
    apply: Callable[[Dataset, Mapping[str, Any]], tuple[Dataset, str]]
    options: tuple[Hyperparameter, ...] = ()

    def check(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Options in canonical type, defaults filled in. Raises ``DataError`` naming the rule and the value."""
        known = {option.name: option for option in self.options}
        for name in options:
            if name not in known and name != "text":
                listed = ", ".join(known) or "none"
                raise DataError(f"{self.title}: there is no option “{name}”.", f"Known: {listed}.")
        checked = {}
        for name, option in known.items():
            value = options.get(name, option.default)
            if name == "names" and isinstance(value, (list, tuple)):
                checked[name] = [str(item) for item in value]
                continue
            try:
                checked[name] = option.check(value)
            except SettingError as error:
                raise DataError(f"{self.title}: {error.message}") from error
        return checked


TRANSFORMS: Mapping[str, Transform] = {
    item.name: item
    for item in (
        Transform("log", "Logarithm", "Natural logarithm of every value; all must be positive.", made.log),
        Transform(
            "log1p", "Logarithm of 1 + value", "Keeps zeros at zero; all must be above −1.", made.log1p
        ),
        Transform(
            "log2", "Logarithm to base 2", "A doubling becomes a step of 1; all must be positive.", made.log2
        ),
        Transform(
            "centre",
            "Centre",
            "Subtracts the mean of each row or column, or of all values.",
            made.centre,
            (_axis(whole=True),),
        ),
        Transform(
            "standardise",
            "Standardise",
            "Mean 0 and standard deviation 1 (divisor n − 1) of each row or column, or of all values.",
            made.standardise,
            (_axis(whole=True),),
        ),
        Transform(
            "normal_scores",
            "Normal scores",
            "Each value becomes the standard normal value of its rank, ties that of their mean rank: the order stays, values far out come nearer. Of each "
            "row or column, or of all values.",
            made.normal_scores,
            (_axis("all", whole=True),),
        ),
        Transform(
            "binarise",
            "Split at a threshold",
            "1 above the threshold, 0 at it and below.",
            made.binarise,
            (Hyperparameter("threshold", "float", 0.0),),
        ),
        Transform(
            "top_variance",
            "Keep what varies most",
            "The rows or columns with the largest variance, in their present order.",
            made.top_variance,
            (_axis(), Hyperparameter("n", "int", 500, label="How many", minimum=1)),
        ),
        Transform("transpose", "Turn", "Rows become columns.", made.transpose),
        Transform(
            "drop_missing",
            "Leave out what is missing",
            "Leaves out rows or columns in which this share of the cells, or more, is missing; 0: any cell.",
            made.drop_missing,
            (_axis(), Hyperparameter("share", "float", 1.0, label="Missing share", minimum=0, maximum=1)),
        ),
        Transform(
            "drop_constant",
            "Leave out what is constant",
            "Leaves out rows or columns that have one value everywhere.",
            made.drop_constant,
            (_axis(),),
        ),
        Transform(
            "select",
            "Select by name",
            "Keeps the named rows or columns, in the order given, or leaves them out.",
            made.select,
            (
                _axis(),
                _NAMES,
                Hyperparameter(
                    "mode",
                    "choice",
                    "keep",
                    label="Named ones",
                    choices=(Choice(value="keep", label="Keep"), Choice(value="drop", label="Leave out")),
                ),
            ),
        ),
        Transform(
            "set_aside",
            "Use as annotation",
            "Named rows or columns are no longer measurements: they become annotations of the others, as an outcome or a class is.",
            made.set_aside,
            (_axis("columns"), _NAMES),
        ),
    )
}

_OUT_OF_MEMORY = ("transpose", "select", "drop_missing")
"""What makes no copy in memory of a sparse matrix that stays out of it."""


def apply_step(dataset: Dataset, step: Step | Mapping[str, Any]) -> Dataset:
    """One transformation. Raises ``DataError`` naming the row, the column and the value that stand in its way."""
    if not isinstance(step, Step):
        step = Step(str(step.get("name", "")), step.get("options", {}))
    transform = TRANSFORMS.get(step.name)
    if transform is None:
        raise DataError(f"There is no transformation “{step.name}”.", f"Known: {', '.join(TRANSFORMS)}.")
    options = transform.check(step.options)
    if dataset.kind == "categorical" and step.name not in ("select", "drop_missing"):
        raise DataError(f"{transform.title}: “{dataset.name}” holds labels, not numbers.")
    if dataset.is_sparse and dataset.stays and step.name not in _OUT_OF_MEMORY:
        check_copy(dataset, f"“{transform.title}”")
    with np.errstate(over="ignore", invalid="ignore"):
        changed, text = transform.apply(dataset, options)
    if not (changed.is_sparse or changed.stays) and np.isinf(changed.values).any():
        raise DataError(f"{transform.title}: the numbers of “{dataset.name}” are too large for it.")
    done = Step(step.name, {**options, "text": text})
    return changed.with_(steps=(*dataset.steps, done))


def apply_steps(dataset: Dataset, steps: Iterable[Step | Mapping[str, Any]]) -> Dataset:
    """Transformations in order; each is appended to ``dataset.steps`` with a text such as ``rows standardised``."""
    for step in steps:
        dataset = apply_step(dataset, step)
    return dataset

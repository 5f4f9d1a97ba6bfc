"""How long to sample: a section of fields made from the schedule."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from plaidwork.core.contract.hyperparameter import Choice, Hyperparameter
from plaidwork.core.contract.schedule import DEFAULT_BUDGET, Schedule
from plaidwork.core.contract.spec import ModelSpec
from plaidwork.core.errors import SettingError
from plaidwork.gui.setup.fields import SettingField
from plaidwork.gui.setup.form import FieldProblem
from plaidwork.gui.setup.sections import Section


def _int(name: str, label: str, low: int, high: int, **more: Any) -> Hyperparameter:
    return Hyperparameter(name, "int", max(low, 1), label=label, minimum=low, maximum=high, **more)


SETTLED, FIXED = "settled", "draws"
_SAMPLER = (
    _int("chains", "Chains", 1, 64, doc="Independent repeats; at least 4, so that they can be compared"),
    Hyperparameter(
        "until",
        "choice",
        FIXED,
        label="Length",
        choices=(
            Choice(
                value=SETTLED,
                label="Until settled",
                doc="The chains go on until R-hat and ESS say that they agree",
            ),
            Choice(
                value=FIXED,
                label="Fixed number of draws",
                doc="The chains make as many draws as are asked for",
            ),
        ),
    ),
    Hyperparameter(
        "budget",
        "float",
        DEFAULT_BUDGET,
        label="Time budget",
        minimum=0,
        open_minimum=True,
        maximum=1e7,
        log=True,
        unit="seconds",
        doc="Settled or not, the chains end about then; a warm-up that would take longer is begun again and shorter",
    ),
    _int(
        "warmup",
        "Warm-up",
        0,
        10_000_000,
        unit="sweeps",
        log=True,
        doc="At least so many are left out of the results",
    ),
    _int(
        "draws",
        "Kept draws",
        1,
        10_000_000,
        unit="per chain",
        log=True,
        doc="At least so many, as far as the time budget allows",
    ),
)
_OPTIMISER = (
    _int("chains", "Restarts", 1, 64, doc="Each from another start; the best one is reported first"),
    Hyperparameter(
        "most_chains", "int", 0, label="Restarts at most", minimum=0, maximum=64,
        doc="Where they are quick, up to 16 are made in half a minute, and more, for a minute, while only one has reached the best objective. 0: no more than above",
    ),
    _int("max_sweeps", "Sweeps at most", 1, 10_000_000, unit="sweeps", log=True),
    Hyperparameter(
        "tolerance", "float", 0.1, label="Tolerance", minimum=0, log=True,
        doc="A restart ends when the objective has gained less than this over its last sweeps",
    ),
)  # fmt: skip
_ASCENT = (
    _int(
        "window", "Tolerance is over", 0, 10_000_000, unit="sweeps",
        doc="0: the tolerance is a change in one sweep, relative to the size of the objective",
    ),
    Hyperparameter(
        "relaxation", "float", 0.0, label="Steps beyond a sweep", minimum=0, maximum=100,
        doc="Longest step beyond a sweep, as a multiple of it; steps that end lower are taken back. 0: plain sweeps",
    ),
)  # fmt: skip
_ADVANCED = (
    _int("thin", "Keep every", 1, 100_000, unit="sweeps", doc="1 keeps each sweep after the warm-up"),
    _int(
        "burn_in",
        "Leave out after the warm-up",
        0,
        1_000_000_000,
        unit="sweeps",
        doc="Sweeps in which the model adapts no more and that are left out of the results too",
    ),
)
_HOLDOUT = Hyperparameter(
    "holdout", "float", 0.0, label="Share of cells held out", minimum=0, maximum=0.5,
    doc="Kept from the fit to score its predictions",
)  # fmt: skip
_SEED = Hyperparameter(
    "seed",
    "int",
    1,
    label="Seed",
    minimum=0,
    maximum=2**53,
    doc="Same seed, same draws: to the last bit on the same kind of processor with the same libraries",
)


class ScheduleForm(Section):
    """Chains, how long, warm-up, draws, share held out and seed; restarts, sweeps and tolerance for optimisers.

    ``advanced`` holds the fields that belong under the fold (thinning, sweeps left out; what the tolerance is about, steps beyond).
    """

    changed = Signal()
    judged = Signal()

    def __init__(self, spec: ModelSpec, seed: int = 1, parent: QWidget | None = None) -> None:
        sampler = spec.algorithm == "mcmc"
        super().__init__("Sampling" if sampler else "Fitting", parent=parent)
        self.spec = spec
        beyond = spec.schedule.relaxation > 0  # else the model names no arrays for it
        folded = _ADVANCED if sampler else _ASCENT if beyond else _ASCENT[:1]
        self.advanced: list[SettingField] = [SettingField(parameter, self) for parameter in folded]
        for field in self.advanced:
            field.hide()  # until the fold takes it
        own = [SettingField(parameter) for parameter in (_SAMPLER if sampler else _OPTIMISER)]
        if any(item.holdout for item in spec.inputs):
            own.append(SettingField(_HOLDOUT))
        seed_field = SettingField(_SEED)
        seed_field.hide_range()
        own.append(seed_field)
        for field in own:
            self.add(field)
        self._fields = {field.name: field for field in (*own, *self.advanced)}
        usual = asdict(spec.default_schedule)
        if usual["budget"]:
            usual["until"] = SETTLED
        else:
            del usual["budget"]
        for name, field in self._fields.items():
            if name in usual:
                field.set_default(usual[name])
                field.set_value(field.default)
            if name == "until":
                field.changed.connect(self._show_budget)
            field.changed.connect(self.changed)
            field.judged.connect(self.judged)
        seed_field.set_value(seed)
        self._show_budget()

    @property
    def _settles(self) -> bool:
        return "until" in self._fields and bool(self._fields["until"].value == SETTLED)

    def _show_budget(self) -> None:
        if "budget" in self._fields:
            self._fields["budget"].setVisible(self._settles)

    def field(self, name: str) -> SettingField:
        """The field of this name."""
        return self._fields[name]

    def schedule(self) -> Schedule:
        """The schedule chosen. Raises ``SettingError``."""
        left_out = ("seed", "holdout", "until")
        changes = {name: field.value for name, field in self._fields.items() if name not in left_out}
        return self.spec.schedule.with_(
            **changes | {"budget": changes.get("budget", 0.0) if self._settles else 0.0}
        )

    values = schedule

    @property
    def seed(self) -> int:
        """The seed."""
        return int(self._fields["seed"].value)

    @property
    def holdout(self) -> float:
        """Share of cells held out; 0 when no input allows it."""
        return float(self._fields["holdout"].value) if "holdout" in self._fields else 0.0

    def as_dict(self) -> dict[str, Any]:
        """All fields by name, for presets."""
        return {name: field.value for name, field in self._fields.items()}

    def set_values(self, values: dict[str, Any]) -> None:
        """Show values by name (those of ``Schedule``, ``until``, ``seed``, ``holdout``); others are ignored."""
        if "until" not in values and (
            "budget" in values or "draws" in values
        ):  # as Schedule.with_ takes them
            values = {**values, "until": SETTLED if values.get("budget") else FIXED}
        if not values.get("budget", 1.0):
            values = {name: value for name, value in values.items() if name != "budget"}
        known = {name: value for name, value in values.items() if name in self._fields}
        checked = {name: self._fields[name].parameter.check(value) for name, value in known.items()}
        for name, value in checked.items():
            self._fields[name].set_value(value)

    def reset(self) -> None:
        """All back to the model's own schedule."""
        for field in self._fields.values():
            field.reset()

    def problems(self) -> list[FieldProblem]:
        """Fields that need a change."""
        found = [
            FieldProblem(n, f.problem, f)
            for n, f in self._fields.items()
            if f.problem and (n != "budget" or self._settles)
        ]
        if not found:
            try:
                self.schedule()
            except SettingError as error:
                first = next(iter(self._fields))
                found.append(FieldProblem(first, error.message, self._fields[first]))
        return found

    def leave_all(self) -> None:
        """Judge all fields."""
        for field in self._fields.values():
            field.leave()

"""Which field of the set-up an error of the plan belongs to."""

from __future__ import annotations

import re
from typing import Any

from plaidwork.core.errors import DataError, SettingError
from plaidwork.gui.setup.form import HyperparameterForm
from plaidwork.gui.setup.inputs_form import InputsForm
from plaidwork.gui.setup.schedule_form import ScheduleForm


def field_of(
    error: BaseException, inputs: InputsForm, form: HyperparameterForm, schedule: ScheduleForm
) -> Any:
    """The field that the message of an error names; None when it names none."""
    if isinstance(error, SettingError):
        for name in re.findall(r"\((\w+)\)", error.message):
            if name in form.values():
                return form.field(name)
        for name in schedule.as_dict():
            if error.message.startswith(name) or f"The {name}" in error.message:
                return schedule.field(name)
    if isinstance(error, DataError):
        for item in inputs.spec.inputs:
            if f"“{item.title}”" in error.message:
                return inputs.field(item.name)
        for key, names in inputs.values().items():
            if any(name in error.message for name in names):
                return inputs.field(key)
    return None

"""Settings of a fit that is being set up, as steps that can be taken back."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer

from plaidwork.core.draws.counting import counted
from plaidwork.core.session.edits import Setting
from plaidwork.gui.editing import Editing

if TYPE_CHECKING:
    from plaidwork.gui.setup.setup_page import SetupPage


@dataclass(frozen=True)
class _State:
    """Model, data and settings of a page."""

    model: str
    inputs: dict[str, list[str]]
    params: dict[str, Any]
    schedule: dict[str, Any]

    @classmethod
    def of(cls, page: SetupPage) -> _State:
        return (
            cls("", {}, {}, {}) if page.spec is None else cls(page.spec.id, page.inputs(), *page.settings())
        )


class SetupSteps(QObject):
    """Follows a set-up page: what somebody sets there becomes a step; data that are chosen, and what follows from them, do not.

    What is typed into one field is one step.
    """

    def __init__(self, page: SetupPage, editing: Editing) -> None:
        super().__init__(page)
        self._page, self._editing = page, editing
        self._last = _State.of(page)
        self._quiet = QTimer(self, singleShot=True, interval=0)  # a preset changes many settings at once
        self._quiet.timeout.connect(self._look)
        page.changed.connect(self._quiet.start)
        page.workbench.data_changed.connect(self._follow)

    def _follow(self) -> None:
        """What is shown was not set by somebody."""
        self._last = _State.of(self._page)

    def _look(self) -> None:
        before, self._last = self._last, _State.of(self._page)
        now = self._last
        if before.model == now.model and before.inputs != now.inputs:
            return
        name, key = self._words(before, now)
        if name:
            back, forth = partial(self._put, before), partial(self._put, now)
            self._editing.made(Setting(name, key, self._page, back, forth))

    def _words(self, before: _State, now: _State) -> tuple[str, str]:
        """Name and key of the step; empty when nothing was set."""
        spec = self._page.spec
        if spec is None or before.model != now.model:
            return (f"Choose “{spec.title}”", "model") if spec is not None else ("", "")
        params = [name for name, value in now.params.items() if before.params.get(name) != value]
        others = [name for name, value in now.schedule.items() if before.schedule.get(name) != value]
        titles = [self._page.form.field(name).parameter.title for name in params]
        titles += [self._page.schedule_form.field(name).parameter.title for name in others]
        named = f"“{titles[0]}”" if len(titles) == 1 else f"{counted(len(titles), 'setting')}"
        return (f"Set {named}", " ".join([*params, "and", *others])) if titles else ("", "")

    def _put(self, state: _State) -> None:
        page = self._page
        if state.model:
            page.set_model(state.model)
            page.fill(params=state.params)
            page.schedule_form.set_values(state.schedule)
        self._follow()

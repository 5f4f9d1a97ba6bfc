"""What was chosen in a view, kept with its run: every control that stands in the view takes part by standing there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QCheckBox, QComboBox, QWidget
from shiboken6 import isValid

from plaidwork.gui.results.search_picker import SearchPicker
from plaidwork.gui.widgets import DataTable, SegmentedControl, SliderField


class _Control:
    """How one kind of control is read, set as by hand, and listened to. Values are JSON-ready."""

    def __init__(
        self,
        read: Callable[[Any], Any],
        write: Callable[[Any, Any], bool],
        changed: Callable[[Any], Any],
    ) -> None:
        self.read, self.write, self.changed = read, write, changed


def _set_segment(control: SegmentedControl, value: Any) -> bool:
    if not control.offers(value):
        return False
    control.set_current(value)
    return True


def _set_slider(control: SliderField, value: Any) -> bool:
    control.set_value(float(value))
    return True


def _set_search(control: SearchPicker, value: Any) -> bool:
    return value == control.currentText() or control.take(value)


def _set_combo(control: QComboBox, value: Any) -> bool:
    index = control.findText(value)
    if index >= 0:
        control.setCurrentIndex(index)
    return index >= 0


def _set_box(control: QCheckBox, value: Any) -> bool:
    if control.isChecked() != value:
        control.click()
    return True


_KINDS: tuple[tuple[type[QWidget], _Control], ...] = (
    (SegmentedControl, _Control(lambda c: c.current, _set_segment, lambda c: c.changed)),
    (SliderField, _Control(lambda c: c.value, _set_slider, lambda c: c.value_changed)),
    (SearchPicker, _Control(lambda c: c.currentText(), _set_search, lambda c: c.chosen)),
    (QComboBox, _Control(lambda c: c.currentText(), _set_combo, lambda c: c.currentIndexChanged)),
    (QCheckBox, _Control(lambda c: c.isChecked(), _set_box, lambda c: c.toggled)),
    (DataTable, _Control(lambda c: c.sorting(), lambda c, v: c.sort_by(*v), lambda c: c.sorted_by)),
)
"""First match counts: a search picker is a combo box too."""


def controls_in(root: QWidget) -> Iterator[tuple[str, QWidget, _Control]]:
    """Name, widget and kind of every control in a widget, itself included, in the order in which they were made."""
    used: dict[str, int] = {}
    for widget in (root, *root.findChildren(QWidget)):
        kind = next((kind for made, kind in _KINDS if isinstance(widget, made)), None)
        if kind is None:
            continue
        name = widget.accessibleName() or (widget.text() if isinstance(widget, QCheckBox) else "")
        name = name or type(widget).__name__
        used[name] = used.get(name, 0) + 1
        yield (name if used[name] == 1 else f"{name} {used[name]}"), widget, kind


class Choices(QObject):
    """Keeps in ``kept`` what the user chooses in the controls that are adopted, and chooses it again.

    Only what somebody has chosen is kept, so that the rest follows the model and the data. ``changed`` is called
    after each choice.
    """

    def __init__(self, kept: dict[str, Any], changed: Callable[[], object], parent: QObject) -> None:
        super().__init__(parent)
        self._kept, self._changed = kept, changed
        self._pending = dict(kept)
        self._touched = set(kept)
        self._controls: dict[str, tuple[QWidget, _Control]] = {}
        self._quiet = 0

    def adopt(self, root: QWidget) -> None:
        """Take part in every control that stands in a widget now; once is enough."""
        self._controls = {name: held for name, held in self._controls.items() if isValid(held[0])}
        known = {widget for widget, _ in self._controls.values()}
        for label, widget, kind in controls_in(root):
            if widget in known:
                continue
            name, number = label, 2
            while name in self._controls:
                name, number = f"{label} {number}", number + 1
            self._controls[name] = (widget, kind)
            kind.changed(widget).connect(lambda *_, name=name: self._chosen(name))

    @contextmanager
    def quiet(self) -> Iterator[None]:
        """What the view itself puts into its controls is nobody's choice."""
        self._quiet += 1
        try:
            yield
        finally:
            self._quiet -= 1

    def restore(self) -> None:
        """Choose again what was kept and is offered now; the rest waits until it is."""
        for name, (widget, kind) in list(self._controls.items()):
            if name not in self._pending or not isValid(widget):
                continue
            value = self._pending[name]
            try:
                done = kind.read(widget) == value or kind.write(widget, value)
            except (TypeError, ValueError):  # a file may hold anything
                done = True
            if done:
                self._pending.pop(name, None)

    def follow(self, signal: Any) -> None:
        """Look again at what was chosen after a signal that moves controls silently, as the shared selection does."""
        signal.connect(self._collect_later)

    def _collect_later(self, *_: object) -> None:
        QTimer.singleShot(0, self, self._collect)

    def _chosen(self, name: str) -> None:
        if self._quiet:
            return
        self._pending.pop(name, None)
        self._touched.add(name)
        self._collect()
        self._changed()

    def _collect(self) -> None:
        for name, (widget, kind) in self._controls.items():
            if name in self._touched and name not in self._pending and isValid(widget):
                self._kept[name] = kind.read(widget)


def kept_choices(settings: dict[str, Any], *path: str) -> dict[str, Any]:
    """Where the choices of a view are kept in the settings of its run: by its group and title."""
    found = settings.setdefault("choices", {})
    return found.setdefault(" / ".join(part for part in path if part), {})

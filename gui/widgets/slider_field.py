"""Label, slider and value in one row."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QSlider, QWidget

from plaidwork.gui.language import tr
from plaidwork.gui.theme import space
from plaidwork.gui.widgets.label import Label
from plaidwork.gui.widgets.layouts import horizontal


class SliderField(QWidget):
    """Slider over real numbers from `minimum` to `maximum` in steps of `step`.

    Emits `value_changed` with the value; `text` turns a value into what is shown.
    """

    value_changed = Signal(float)

    def __init__(
        self,
        label: str,
        minimum: float = 0.0,
        maximum: float = 1.0,
        value: float = 0.5,
        *,
        step: float = 0.01,
        text: Callable[[float], str] | None = None,
        width: int = 84,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._text = text or _plain(step)
        self._minimum, self._step = minimum, step
        self._name = Label(label, "body", "muted")
        self._slider = QSlider(Qt.Orientation.Horizontal)
        self._slider.setFixedWidth(width)
        self._slider.setAccessibleName(tr(label))
        self._value = Label("")
        horizontal(self._name, self._slider, self._value, on=self, spacing=space.S)
        self._name.setVisible(bool(label))
        self._slider.valueChanged.connect(self._moved)
        self.set_range(minimum, maximum)
        self.set_value(value)
        self._moved(self._slider.value(), silent=True)

    @property
    def value(self) -> float:
        """The value chosen."""
        return round(self._minimum + self._slider.value() * self._step, 12)

    def set_value(self, value: float) -> None:
        """Move the slider; emits `value_changed` when the value differs."""
        self._slider.setValue(round((value - self._minimum) / self._step))

    def set_range(self, minimum: float, maximum: float) -> None:
        """Change the limits; the value stays as near as it can."""
        value = self.value
        self._minimum = minimum
        steps = max(0, round((maximum - minimum) / self._step))
        widest = max((self._text(minimum), self._text(maximum)), key=len)
        self._value.setMinimumWidth(self._value.fontMetrics().horizontalAdvance(widest) + 2)
        blocked = self._slider.blockSignals(True)
        self._slider.setRange(0, steps)
        self._slider.setPageStep(max(1, steps // 10))
        self._slider.blockSignals(blocked)
        self.set_value(value)
        self._value.setText(self._text(self.value))

    @property
    def slider(self) -> QSlider:
        """The slider itself."""
        return self._slider

    def _moved(self, _: int, silent: bool = False) -> None:
        shown = self._text(self.value)
        self._value.setText(shown)
        if not silent:
            self.value_changed.emit(self.value)


def _plain(step: float) -> Callable[[float], str]:
    digits = 0
    while digits < 6 and abs(round(step, digits) - step) > 1e-9:
        digits += 1
    return lambda value: f"{value:.{digits}f}".replace("-", "\u2212")

"""What a pane shows while it has no picture: empty, computing, nothing found, failed ..."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QProgressBar, QSizePolicy, QWidget

from plaidwork.gui.icons import pixmap
from plaidwork.gui.language import tr
from plaidwork.gui.theme import size, space, theme
from plaidwork.gui.widgets.button import button, clear_layout
from plaidwork.gui.widgets.label import Label
from plaidwork.gui.widgets.layouts import STRETCH, horizontal, vertical

#: (text, callback), optionally with kind: normal, primary, quiet; and an icon name
PaneAction = (
    tuple[str, Callable[[], object]]
    | tuple[str, Callable[[], object], str]
    | tuple[str, Callable[[], object], str, str]
)
_TEXT_WIDTH = 400
_BAR_WIDTH = 220


class StatePane(QWidget):
    """Icon, title, one or two sentences, actions and, while computing, a progress line."""

    def __init__(
        self,
        icon: str,
        title: str,
        text: str = "",
        actions: Sequence[PaneAction] = (),
        progress: float | None = None,
        *,
        icon_color: str = "muted",
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._icon_name, self._icon_color = icon, icon_color
        self._icon = Label()
        self._title = Label(title, "title", wrap=True)
        self._text = Label(text, "body", "muted", wrap=True)
        self._bar = QProgressBar()
        self._buttons = horizontal(spacing=space.S)
        self._build()
        self.set(icon, title, text, actions, progress, icon_color=icon_color)
        theme().changed.connect(self._restyle)

    def _build(self) -> None:
        centre = Qt.AlignmentFlag.AlignHCenter
        for label in (self._icon, self._title, self._text):
            label.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._bar.setTextVisible(False)
        self._bar.setRange(0, 1000)
        self._bar.setFixedSize(_BAR_WIDTH, size.PROGRESS)
        row = horizontal(STRETCH, self._buttons, STRETCH)
        inner = QWidget()
        vertical(
            STRETCH,
            (self._icon, 0, centre),
            space.S,
            self._title,
            self._text,
            space.S,
            (self._bar, 0, centre),
            space.XS,
            row,
            STRETCH,
            on=inner,
            spacing=space.XS,
            margins=None,
        )
        self._inner = inner
        horizontal(STRETCH, (inner, 1000), STRETCH, on=self, margins=(space.XL, space.L, space.XL, space.L))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    def set(
        self,
        icon: str,
        title: str,
        text: str = "",
        actions: Sequence[PaneAction] = (),
        progress: float | None = None,
        *,
        icon_color: str = "muted",
    ) -> None:
        """Show another state; the arguments are those of the class."""
        self._icon_name, self._icon_color = icon, icon_color
        self._title.setText(title)
        self.set_text(text)
        self.set_progress(progress)
        clear_layout(self._buttons)
        for entry in actions:
            label, callback, *rest = entry
            kind = rest[0] if rest else "normal"
            name = rest[1] if len(rest) > 1 else ""
            self._buttons.addWidget(button(label, callback, kind=kind, icon_name=name, parent=self))
        self.setAccessibleName(tr(f"{title}. {text}"))
        self._restyle()

    def set_text(self, text: str) -> None:
        """Change the sentence, such as the time left."""
        self._text.setText(text)
        self._text.setVisible(bool(text))

    def set_progress(self, progress: float | None) -> None:
        """Set the share done, 0 to 1; None hides the line."""
        self._bar.setVisible(progress is not None)
        if progress is not None:
            self._bar.setValue(round(1000 * min(max(progress, 0.0), 1.0)))

    @property
    def title(self) -> str:
        """The title shown."""
        return self._title.text()

    @property
    def text(self) -> str:
        """The sentence below it."""
        return self._text.text()

    def _restyle(self) -> None:
        picture = pixmap(self._icon_name, size.ICON_EMPTY, self._icon_color, self.devicePixelRatioF())
        self._icon.setPixmap(picture)
        wide = round(_TEXT_WIDTH * theme().text_scale)
        self._title.setMaximumWidth(wide)
        self._text.setMaximumWidth(wide)
        self._inner.setMaximumWidth(wide + 2 * space.M)


class Skeleton(QWidget):
    """Still grey shapes of what comes, for waits of 0.3 to 2 s."""

    def __init__(self, columns: int = 5, rows: int = 2, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._columns, self._rows = max(1, columns), max(1, rows)
        self.setAccessibleName(tr("Loading"))
        theme().changed.connect(self.update)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Two lines of text and a grid of tiles."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme().color("hover"))
        left, top = space.VIEW_EDGE, space.VIEW_EDGE
        width = self.width() - 2 * left
        painter.drawRoundedRect(QRectF(left, top, width * 0.42, 14), 4, 4)
        painter.drawRoundedRect(QRectF(left, top + 22, width * 0.7, 10), 4, 4)
        tile = (width - space.M * (self._columns - 1)) / self._columns
        high = min(tile * 0.72, (self.height() - top * 2 - 48 - space.M * (self._rows - 1)) / self._rows)
        if tile > 4 and high > 4:
            for k in range(self._rows * self._columns):
                x = left + (k % self._columns) * (tile + space.M)
                y = top + 48 + (k // self._columns) * (high + space.M)
                painter.drawRoundedRect(QRectF(x, y, tile, high), 4, 4)
        painter.end()

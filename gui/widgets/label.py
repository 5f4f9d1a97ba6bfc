"""Text in a type role and a colour that follow the theme."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPalette, QTextLayout
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from plaidwork.gui.language import tr
from plaidwork.gui.theme import theme

_ROLES = {
    "text": QPalette.ColorRole.WindowText,
    "muted": QPalette.ColorRole.PlaceholderText,
    "error": QPalette.ColorRole.BrightText,
    "link": QPalette.ColorRole.Link,
    "accent": QPalette.ColorRole.Accent,
    "control": QPalette.ColorRole.Dark,
}

_MOST = 4000
"""Characters of a text that may be cut: more are never seen, and to lay out a hundred thousand takes seconds."""


class Label(QLabel):
    """Plain text; never interprets markup, so that names from files are safe.

    Parameters
    ----------
    role : type role: display, figure, headline, title, strong, body or caption
    color : any colour token: text, muted, faint, link, ok, warn, error ...
    wrap : break lines at words
    elide : cut with "…" when narrow, show the whole as tool tip, never widen the window
    lines : at most so many lines, where the text would be cut
    given : whether it shows what somebody called something, which is not translated
    """

    def __init__(
        self,
        text: str = "",
        role: str = "body",
        color: str = "text",
        wrap: bool = False,
        elide: bool = False,
        lines: int = 1,
        given: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(text if given else tr(text), parent)
        self._given = given
        self._role = role
        self._color = color
        self._elide = elide
        self._lines = lines
        self._own_tip = ""
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setWordWrap(wrap)
        if elide:
            high = QSizePolicy.Policy.Fixed if lines == 1 else QSizePolicy.Policy.Minimum
            self.setSizePolicy(QSizePolicy.Policy.Preferred, high)
        if wrap:
            self.show_whole()
        theme().changed.connect(self.restyle)
        self.restyle()

    def show_whole(self) -> None:
        """Break lines at words from now on, where the text was cut: on paper nobody points at it."""
        self._elide = False
        self.setWordWrap(True)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def set_lines(self, lines: int) -> None:
        """Change how many lines there are at most before the text is cut."""
        if lines != self._lines:
            self._lines = lines
            self.updateGeometry()
            self.update()

    def cut(self, width: int) -> bool:
        """Whether not all of the text can be read at a width."""
        return self._elide and "".join("".join(self._shown(width)).split()) != "".join(self.text().split())

    def set_role(self, role: str) -> None:
        """Change the type role."""
        self._role = role
        self.restyle()

    def set_color(self, color: str) -> None:
        """Change the colour token."""
        if color != self._color:
            self._color = color
            self.restyle()

    @property
    def color(self) -> str:
        """The colour token in use."""
        return self._color

    def restyle(self) -> None:
        """Take font and colour from the theme."""
        self.setFont(theme().font(self._role))
        role = _ROLES.get(self._color)
        if role is not None:
            if self.testAttribute(Qt.WidgetAttribute.WA_SetPalette):
                self.setPalette(QPalette())
            self.setForegroundRole(role)
            return
        palette = QPalette()
        palette.setColor(QPalette.ColorRole.WindowText, theme().color(self._color))
        self.setForegroundRole(QPalette.ColorRole.WindowText)
        self.setPalette(palette)

    def minimumSizeHint(self) -> QSize:
        """Narrow when eliding."""
        hint = super().minimumSizeHint()
        return QSize(min(hint.width(), 24), hint.height()) if self._elide else hint

    def sizeHint(self) -> QSize:
        """Whole text, one pixel more so that rounding never elides it."""
        hint = super().sizeHint()
        return hint + QSize(1, 0) if self._elide else hint

    def hasHeightForWidth(self) -> bool:
        """Of several lines it has."""
        return self._lines > 1 if self._elide else super().hasHeightForWidth()

    def heightForWidth(self, width: int) -> int:
        """That of the lines it needs."""
        if not self._elide:
            return super().heightForWidth(width)
        return len(self._shown(width)) * self.fontMetrics().lineSpacing()

    def _shown(self, width: int) -> list[str]:
        """The text in at most as many lines as there may be, broken at words; the last one is cut where it is too long."""
        text, at = self.text(), 0
        found: list[str] = []
        layout = QTextLayout(text, self.font())
        layout.beginLayout()
        while len(found) < self._lines - 1:
            line = layout.createLine()
            if not line.isValid():
                break
            line.setLineWidth(width)
            end = line.textStart() + line.textLength()
            if end >= len(text):
                break
            found.append(text[at:end].rstrip())
            at = end
        layout.endLayout()
        return [*found, self.fontMetrics().elidedText(text[at:], Qt.TextElideMode.ElideRight, width)]

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the text, elided if asked and needed."""
        if not self._elide:
            super().paintEvent(event)
            return
        rect = self.contentsRect()
        lines = self._shown(rect.width())
        cut = lines[-1].endswith("…") and not self.text().endswith("…")
        if cut and not self.toolTip():
            self._own_tip = self.text()
            self.setToolTip(self._own_tip)
        elif self._own_tip and self.toolTip() == self._own_tip and not cut:
            self._own_tip = ""
            self.setToolTip("")
        painter = QPainter(self)
        painter.setPen(self._pen_color())
        if len(lines) == 1:
            painter.drawText(rect, int(self.alignment()) | Qt.TextFlag.TextSingleLine, lines[0])
        else:
            painter.drawText(rect, int(self.alignment()), "\n".join(lines))
        painter.end()

    def setText(self, text: str) -> None:
        """Set the text; a tool tip that showed the old one goes."""
        if self._own_tip and self.toolTip() == self._own_tip:
            self.setToolTip("")
        self._own_tip = ""
        text = text if self._given else tr(text)
        if self._elide and len(text) > _MOST:
            text = f"{text[:_MOST]}…"
        super().setText(text)

    def _pen_color(self) -> QColor:
        return self.palette().color(self.foregroundRole())

"""Chips that say how the columns of a file are used."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QMenu, QSizePolicy, QWidget

from plaidwork.core.data.importers import Preview
from plaidwork.core.draws.counting import counted
from plaidwork.gui.data.preview_table import ROLES
from plaidwork.gui.language import tr
from plaidwork.gui.theme import size, space, theme
from plaidwork.gui.widgets import Card, FlowLayout, Label, button
from plaidwork.gui.widgets.drawing import Drawing
from plaidwork.gui.widgets.layouts import horizontal

MENU_COLUMNS = 30


class RoleChip(Drawing):
    """Coloured square, column, role."""

    def __init__(self, text: str, role: str, color: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._text, self._role, self._color = text, tr(role), color
        self.setAccessibleName(tr(f"{text}: {role}"))
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    @property
    def text(self) -> str:
        """Column and role."""
        return f"{self._text}  {self._role}"

    def sizeHint(self) -> QSize:
        """Square, texts and padding."""
        metrics = self.fontMetrics()
        return QSize(metrics.horizontalAdvance(self._text + self._role) + 46, max(22, metrics.height() + 4))

    minimumSizeHint = sizeHint

    def paintEvent(self, event: QPaintEvent) -> None:
        """Ground, square, words."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme().color("tint"))
        painter.drawRoundedRect(QRectF(self.rect()), size.RADIUS_CHIP, size.RADIUS_CHIP)
        painter.setBrush(theme().category(self._color))
        painter.drawRoundedRect(QRectF(8, (self.height() - 9) / 2, 9, 9), 2, 2)
        painter.setPen(theme().color("text"))
        rect = self.rect().adjusted(23, 0, 0, 0)
        painter.drawText(rect, Qt.AlignmentFlag.AlignVCenter, self._text)
        painter.setPen(theme().color("link"))
        rect.adjust(painter.fontMetrics().horizontalAdvance(self._text) + 10, 0, 0, 0)
        painter.drawText(rect, Qt.AlignmentFlag.AlignVCenter, self._role)
        painter.end()


class RoleBar(Card):
    """ "Use columns as", one chip per name and label, one for the measurements, and a menu to change them."""

    role_chosen = Signal(int, str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, color="sunken")
        self._preview: Preview | None = None
        self._chips = QWidget()
        self._flow = FlowLayout(self._chips)
        self._flow.addWidget(
            Label("Use columns as", "body", "muted")
        )  # which breaks like the chips where texts are large
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        policy.setHeightForWidth(True)
        self._chips.setSizePolicy(policy)
        self.change = button("Change roles…", self.open_menu, kind="quiet")
        row = horizontal(
            (self._chips, 1),
            self.change,
            on=self,
            spacing=space.S,
            margins=(space.M, space.XS, space.XS, space.XS),
        )
        row.setAlignment(self._chips, Qt.AlignmentFlag.AlignVCenter)

    @property
    def texts(self) -> list[str]:
        """Words of the chips."""
        return [self._flow.itemAt(k).widget().text for k in range(1, self._flow.count())]

    def show_preview(self, preview: Preview, n_values: int, changeable: bool) -> None:
        """Show the roles of a preview."""
        self._preview = preview
        while self._flow.count() > 1:
            old = self._flow.takeAt(1).widget()
            old.hide()
            old.deleteLater()
        for wanted in ("name", "label", "skip"):
            titles = [t for t, role in zip(preview.header, preview.roles) if role == wanted]
            word, color = ROLES[wanted]
            if len(titles) > 3:
                self._add(tr(f"{counted(len(titles), 'column')}"), f"{word}s", color)
            else:
                for title in titles:
                    self._add(title[:24] or tr("first column"), word, color)
        if n_values:
            self._add(tr(f"{counted(n_values, 'column')}"), *ROLES["value"])
        self.change.setVisible(changeable)
        self.setVisible(bool(preview.header))

    def _add(self, text: str, word: str, color: int) -> None:
        self._flow.addWidget(RoleChip(text, word, color))

    def open_menu(self) -> QMenu | None:
        """A menu of the columns, each with its roles."""
        if self._preview is None:
            return None
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for column, title in enumerate(self._preview.header[:MENU_COLUMNS]):
            self._fill(menu.addMenu(tr(title[:40] or f"Column {column + 1}")), column)
        if len(self._preview.header) > MENU_COLUMNS:
            menu.addSeparator()
            menu.addAction(tr("Later columns: right-click their head")).setEnabled(False)
        menu.popup(self.change.mapToGlobal(QPoint(0, self.change.height())))
        return menu

    def open_column_menu(self, column: int, at: QPoint) -> QMenu | None:
        """The roles of one column."""
        if self._preview is None or self.change.isHidden():
            return None
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._fill(menu, column)
        menu.popup(at)
        return menu

    def _fill(self, menu: QMenu, column: int) -> None:
        assert self._preview is not None
        for role, (word, _) in ROLES.items():
            action = menu.addAction(tr(f"Use as {word}" if role != "skip" else "Leave out"))
            action.setCheckable(True)
            action.setChecked(self._preview.roles[column] == role)
            action.triggered.connect(lambda _=False, role=role: self.role_chosen.emit(column, role))

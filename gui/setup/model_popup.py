"""The list of models: what each does, and why one does not fit the data."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QWidget

from plaidwork.core.contract.spec import ModelSpec
from plaidwork.core.draws.counting import counted
from plaidwork.core.session.suitability import Choices
from plaidwork.gui.language import tr
from plaidwork.gui.theme import space
from plaidwork.gui.widgets import Card, Chip, Label, scrolled
from plaidwork.gui.widgets.layouts import STRETCH, add, horizontal, vertical

_WIDTH = 520


def plain_text(markdown: str) -> str:
    """The text of a short Markdown paragraph without its marks."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", markdown)
    return re.sub(r"(\*\*|__|`)", "", text).replace("*", "").strip()


def elsewhere_text(names: Sequence[str]) -> str:
    """That other data of the session suit, in a sentence."""
    if not names:
        return ""
    shown = (
        " and ".join(f"“{name}”" for name in names)
        if len(names) < 3
        else f"{counted(len(names), 'other data set')}"
    )
    return f"{shown} of this session would suit."


class ModelCard(Card):
    """One model as a button; ``reason`` says why it does not suit the data, ``elsewhere`` which other data it suits, ``meant`` for
    data of what size it is meant, where they are smaller."""

    def __init__(
        self,
        spec: ModelSpec,
        reason: str,
        current: bool,
        elsewhere: str = "",
        meant: str = "",
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent, clickable=True, color="sunken" if current else "surface")
        self.spec = spec
        self.reason = reason
        self.elsewhere = elsewhere
        self.meant = meant
        self.current = current
        title = Label(spec.title, "strong", "muted" if reason else "text")
        few = spec.tags[:2]  # more leave no room for the title
        head = horizontal(title, *map(Chip, few), STRETCH, spacing=space.S)
        if current:
            head.addWidget(Chip("chosen", "accent"))
        column = vertical(
            head,
            Label(plain_text(spec.summary), "caption", "muted", wrap=True),
            on=self,
            spacing=space.XS,
            margins=(space.M, space.S, space.M, space.S),
        )
        if reason:
            row = horizontal(Chip("Does not suit the data", "warn"), STRETCH)
            add(column, row, Label(f"{reason} {elsewhere}".strip(), "caption", "muted", wrap=True))
        if meant:
            column.addWidget(Label(meant, "caption", "muted", wrap=True))
        self.setAccessibleName(tr(" ".join(filter(None, (f"{spec.title}.", reason, elsewhere, meant)))))


class ModelPopup(QFrame):
    """Opens under a button; Up, Down and Enter choose; Esc closes. ``focus`` names the data that are to be fitted."""

    chosen = Signal(str)

    def __init__(
        self,
        specs: Iterable[ModelSpec],
        choices: Choices,
        focus: Sequence[str] = (),
        current: str = "",
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        cards = []
        for spec in specs:
            reason = choices.reason(spec, focus)
            other = elsewhere_text(choices.elsewhere(spec, focus)) if reason else ""
            meant = "" if reason else choices.meant_for(spec, focus)
            cards.append(ModelCard(spec, reason, spec.id == current, other, meant))
        self.cards = sorted(cards, key=lambda card: (bool(card.reason), bool(card.meant)))
        inner = QWidget()
        column = vertical(on=inner, spacing=space.S, margins=space.M)
        if not self.cards:
            column.addWidget(Label("No model is installed.", "body", "muted"))
        for card in self.cards:
            column.addWidget(card)
            card.clicked.connect(lambda card=card: self._choose(card))
        column.addStretch(1)
        scroll = scrolled(inner)
        vertical(scroll, on=self, margins=1)
        height = inner.heightForWidth(_WIDTH) if inner.hasHeightForWidth() else inner.sizeHint().height()
        inner.setFixedSize(_WIDTH, height)
        self.setFixedSize(_WIDTH + 14, min(560, max(80, height + 4)))

    def open_below(self, widget: QWidget) -> None:
        """Show with the right edges of both in line."""
        at = widget.mapToGlobal(QPoint(widget.width() - self.width(), widget.height() + space.XS))
        self.move(at)
        self.show()
        if self.cards:
            now = next((card for card in self.cards if card.current), self.cards[0])
            now.setFocus(Qt.FocusReason.PopupFocusReason)

    def _choose(self, card: ModelCard) -> None:
        self.chosen.emit(card.spec.id)
        self.close()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Arrows walk the cards."""
        step = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}.get(Qt.Key(event.key()), 0)
        now = next((k for k, card in enumerate(self.cards) if card.hasFocus()), -1)
        if step and self.cards:
            self.cards[min(max(now + step, 0), len(self.cards) - 1)].setFocus()
            return
        super().keyPressEvent(event)

"""The card at the head of a set-up: which model it is."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QSizePolicy, QWidget

from plaidwork.core.contract.spec import ModelSpec
from plaidwork.gui.setup.model_popup import plain_text
from plaidwork.gui.theme import space
from plaidwork.gui.widgets import Card, Chip, FlowLayout, Label, button
from plaidwork.gui.widgets.layouts import horizontal, vertical


class ModelCard(Card):
    """Title, tags and summary of a model, and the button that leads to the others."""

    def __init__(self, open_models: Callable[[], object], parent: QWidget | None = None) -> None:
        super().__init__(parent, color="sunken")
        self._title = Label("", "title", elide=True)
        tags = QWidget()  # one row high: tags without room fall into a second row, which is not seen
        tags.setFixedHeight(Chip(" ").sizeHint().height())
        tags.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._tags = FlowLayout(tags)
        self._summary = Label("", "body", "muted", wrap=True)
        self.change = button("Change model…", open_models)
        head = horizontal(self._title, (tags, 1), spacing=space.S)
        texts = vertical(head, self._summary, spacing=space.XS)
        horizontal(
            (texts, 1),
            self.change,
            on=self,
            spacing=space.L,
            margins=(space.L, space.M, space.L, space.M),
        )

    def show_model(self, spec: ModelSpec) -> None:
        """Another model."""
        self._title.setText(spec.title)
        self._summary.setText(plain_text(spec.summary))
        while self._tags.count():
            old = self._tags.takeAt(0).widget()
            old.hide()
            old.deleteLater()
        for tag in spec.tags[:3]:
            self._tags.addWidget(Chip(tag))

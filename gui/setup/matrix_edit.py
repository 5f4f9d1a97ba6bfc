"""One choice for each matrix of an input: name, who has it, the choice, and what its values look like."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget
from shiboken6 import isValid

from plaidwork.core.contract.hyperparameter import Hyperparameter, ValueKind
from plaidwork.core.contract.per_matrix import looks_together, per_matrix, split, suited, write
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.data.overview import Overview, ViewFacts, overview, with_samples_in_rows
from plaidwork.core.draws.counting import agree, counted
from plaidwork.core.errors import SettingError
from plaidwork.gui.data.presence import PresenceStrip
from plaidwork.gui.data.view_facts import KIND_LABELS, feature_text
from plaidwork.gui.language import tr
from plaidwork.gui.setup.editors import ChoiceEdit
from plaidwork.gui.setup.error_line import ErrorLine
from plaidwork.gui.tasks import Task, run_task
from plaidwork.gui.theme import space
from plaidwork.gui.widgets import Label
from plaidwork.gui.widgets.layouts import horizontal, vertical


class _Line(QWidget):
    """One matrix."""

    def __init__(self, parameter: Hyperparameter, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.name = name
        self._parameter = parameter
        self._facts: ViewFacts | None = None
        self._params: Mapping[str, Any] = {}
        self.choice = ChoiceEdit(parameter)
        self.choice.setObjectName(f"{parameter.name}_{name}")
        self.choice.setAccessibleName(tr(f"{parameter.title} of {name}"))
        self.choice.setMinimumContentsLength(18)
        self.strip = PresenceStrip()
        self._note = Label("", "caption", "muted", wrap=True)
        self._reason = Label("", "caption", "muted", wrap=True)
        self._warning = ErrorLine()
        label = Label(name, elide=True, given=True)
        label.setBuddy(self.choice)
        row = horizontal((label, 1), self.choice, spacing=space.S)
        vertical(row, self.strip, self._note, self._reason, self._warning, on=self, spacing=space.XS)
        self.strip.hide()
        self.choice.edited.connect(self.tell)

    def show_facts(self, found: Overview, index: int) -> None:
        """What is known of the matrix."""
        self._facts = found.views[index]
        self.strip.set_present(found.present[index])
        self.strip.setVisible(len(found.views) > 1)
        self.tell()

    def set_params(self, params: Mapping[str, Any]) -> None:
        """The settings of the form, on which it may depend what is taken."""
        self._params = params
        self.tell()

    def tell(self) -> None:
        """What the choice means here; a doubt is shown while nothing is chosen."""
        by_itself = self.choice.text_value() == self._parameter.choices[0].value
        parts, view = [], self._facts
        words = self._words(view) if view is not None and by_itself else ""
        if view is not None and view.n_words == view.n_features and words:
            parts.append(words)
        elif view is not None:
            label, features = self._taken(view), feature_text(view)
            looks = f"Looks like {KIND_LABELS[view.kind]}"
            parts.append(
                f"{looks}, taken as {label[:1].lower()}{label[1:]}" if by_itself and label else looks
            )
            parts += [words] if words else []
            parts += [f"{features} features"] if features else []
        self._note.setText("; ".join(parts) + ("." if parts else ""))
        self._note.setVisible(bool(parts))
        why = view is not None and by_itself and view.n_words < view.n_features
        self._reason.setText(self._why(view) if view is not None and why else "")
        self._reason.setVisible(bool(self._reason.text()))
        self._warning.set_text(view.doubt if view is not None and by_itself else "", "warning")

    def _taken(self, view: ViewFacts) -> str:
        """What the matrix is fitted as where nothing is chosen, by the rule of the fit (``core/data/by_values.py``)."""
        kind, params = self._kind(view), self._params
        taken = suited(self._parameter, kind, view.n_features, params, view.mean, view.together)
        return next((choice.label for choice in self._parameter.choices if choice.value == taken), "")

    def _words(self, view: ViewFacts) -> str:
        """As what columns of words are taken, where the model takes categories."""
        if not view.n_words or not any("categorical" in choice.suits for choice in self._parameter.choices):
            return ""
        return f"{counted(view.n_words, 'column')} of words {agree(view.n_words, 'is', 'are')} taken as categories"

    def _why(self, view: ViewFacts) -> str:
        """What decides, where it is whether the columns go together; empty elsewhere."""
        if not looks_together(self._parameter, self._kind(view), view.n_features, self._params):
            return ""
        if view.together:
            return "Its columns go together within groups of similar samples."
        return "Its columns do not go together within groups of similar samples."

    def _kind(self, view: ViewFacts) -> ValueKind:
        """What the values are to the fit."""
        return view.values_kind if self._params.get("whole_numbers") == "values" else view.kind

    @property
    def note(self) -> str:
        """What the line says of the matrix."""
        return self._note.text()

    @property
    def reason(self) -> str:
        """Why the matrix is taken so, where its columns decide."""
        return self._reason.text()

    @property
    def warning(self) -> str:
        """The doubt that is shown."""
        return self._warning.text


class MatrixEdit(QWidget):
    """An editor like those of single values: ``text``, ``put``, and the signals ``edited`` and ``left``."""

    edited = Signal()
    left = Signal()

    def __init__(self, parameter: Hyperparameter, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._parameter = parameter
        self._text = ""
        self._kept: dict[str, str] = {}
        self._datasets: list[Dataset] = []
        self._lines: list[_Line] = []
        self._task: Task | None = None
        self._params: Mapping[str, Any] = {}
        self._empty = Label("Choose data to see them here.", "caption", "muted", wrap=True)
        self._column = vertical(self._empty, on=self, spacing=space.M)

    @property
    def lines(self) -> list[_Line]:
        """A line for each matrix."""
        return self._lines

    def text(self) -> str:
        """The setting: choices by name, those that stay with the first choice left out."""
        if not self._lines:
            return self._text
        usual = self._parameter.choices[0].value
        return write(
            {line.name: line.choice.text_value() for line in self._lines if line.choice.text_value() != usual}
        )

    def put(self, value: Any) -> None:
        """Show a value; names of matrices that are not chosen now are kept for when they are."""
        if str(value) == self.text() and self._lines:
            return
        self._text = str(value)
        self._kept = {}
        self._spread()

    def set_datasets(self, datasets: Sequence[Dataset]) -> None:
        """The matrices that are chosen now; what was chosen for a name stays."""
        datasets = list(datasets)
        if [id(data) for data in datasets] == [id(data) for data in self._datasets]:
            return
        self._datasets = datasets
        for line in self._lines:
            line.hide()
            line.deleteLater()
        self._lines = [_Line(self._parameter, data.name) for data in datasets]
        for line in self._lines:
            self._column.addWidget(line)
            line.choice.edited.connect(self._chosen)
            line.set_params(self._params)
        self._empty.setVisible(not self._lines)
        self._spread()
        self.setFocusProxy(self._lines[0].choice if self._lines else self._empty)
        if self._task is not None:
            self._task.cancel()
        if datasets:
            self._task = run_task(lambda task: overview(with_samples_in_rows(datasets)), self._show)
        self.edited.emit()

    def set_params(self, params: Mapping[str, Any]) -> None:
        """The settings of the form: what a matrix is taken as may depend on them."""
        self._params = dict(params)
        for line in self._lines:
            line.set_params(self._params)

    def _spread(self) -> None:
        """Bring the text, or what was chosen before, to the lines."""
        if not self._lines:
            return
        names = [line.name for line in self._lines]
        texts: Sequence[str]
        try:
            texts = per_matrix(self._text, names)
        except SettingError:  # of other matrices
            texts = [self._of_name(name) for name in names]
        for line, word in zip(self._lines, texts, strict=True):
            line.choice.put(self._kept.get(line.name) or word or self._parameter.choices[0].value)
            line.tell()

    def _of_name(self, name: str) -> str:
        return dict(split(self._text)).get(name, "")

    def _chosen(self) -> None:
        self._kept |= {line.name: line.choice.text_value() for line in self._lines}
        self.edited.emit()

    def _show(self, found: Overview) -> None:
        if not isValid(self):  # the page was closed while the data were looked at
            return
        for index, line in enumerate(self._lines):
            line.show_facts(found, index)
        self.updateGeometry()

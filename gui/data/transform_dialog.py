"""A transformation: chosen from the catalogue, previewed, then recorded with the data."""

from __future__ import annotations

from typing import Any

import numpy as np
from PySide6.QtWidgets import QCheckBox, QListWidget, QWidget

from plaidwork.core.data.dataset import Dataset, Step
from plaidwork.core.data.transforms import TRANSFORMS, apply_step
from plaidwork.core.draws.counting import agree
from plaidwork.gui.data.facts import Facts, find_facts, missing_text, size_text
from plaidwork.gui.data.pane import Pane
from plaidwork.gui.data.thumbs import HistogramThumb, MatrixThumb
from plaidwork.gui.data.undo import undo_store
from plaidwork.gui.dialog_parts import foot_pane, head_pane
from plaidwork.gui.language import tr
from plaidwork.gui.numbers import format_number
from plaidwork.gui.setup.error_line import ErrorLine
from plaidwork.gui.setup.fields import SettingField
from plaidwork.gui.task_dialog import TaskDialog, error_text
from plaidwork.gui.tasks import Task
from plaidwork.gui.theme import space
from plaidwork.gui.widgets import Card, Label, button
from plaidwork.gui.widgets.layouts import horizontal, vertical

DELAY = 150


class _Side(Card):
    """Picture, spread and size of one version."""

    def __init__(self, title: str) -> None:
        super().__init__()
        self.matrix, self.histogram = MatrixThumb(), HistogramThumb()
        self.summary = Label("", "caption", "muted", wrap=True)
        vertical(
            Label(title, "strong"),
            self.summary,
            (self.matrix, 1),
            self.histogram,
            on=self,
            spacing=space.S,
            margins=(space.M, space.S, space.M, space.S),
        )

    def show_facts(self, dataset: Dataset, facts: Facts) -> None:
        """Show a version."""
        name = "loom" if facts.diverging else "tide"
        self.matrix.set_matrix(facts.thumb, facts.limits, name)
        self.histogram.set_counts(
            facts.counts, facts.edges, f"value ({dataset.unit})" if dataset.unit else "value"
        )
        low, high = format_number(facts.low, 3), format_number(facts.high, 3)
        self.summary.setText(
            f"{size_text(dataset)}, {missing_text(facts.shape, facts.n_missing)}. From {low} to {high}."
        )

    def show_nothing(self, text: str) -> None:
        """No version to show."""
        self.matrix.clear()
        self.histogram.set_counts(np.zeros(0), np.zeros(0))
        self.summary.setText(text)


class TransformDialog(TaskDialog):
    """Choose and set a transformation; after ``accept`` the result is in ``dataset``.

    Parameters
    ----------
    dataset : what it is applied to
    used_by : titles of runs fitted to it; then the result is offered as a new dataset

    ``as_new`` says whether the result is to be added beside the original.
    """

    def __init__(
        self, dataset: Dataset, used_by: tuple[str, ...] = (), parent: QWidget | None = None
    ) -> None:
        super().__init__(f"Transform {dataset.name}", parent)
        self.source = dataset
        self.dataset: Dataset | None = None
        self._fields: list[SettingField] = []
        self._quiet = self.later(DELAY, self._preview)
        self.list = QListWidget()
        self.list.setAccessibleName(tr("Transformations"))
        self.list.addItems([tr(item.title) for item in TRANSFORMS.values()])
        self._doc = Label("", "body", "muted", wrap=True)
        self._options = vertical(spacing=space.M)
        self.error = ErrorLine()
        self.before, self.after = _Side("Before"), _Side("After")
        self._as_new = QCheckBox(tr(f"Add as a new data set and keep “{dataset.name}” as it is"))
        self._as_new.setChecked(bool(used_by))
        used = ", ".join(used_by[:3])
        self._used = Label(
            f"{used} {agree(len(used_by), 'was', 'were')} fitted to these data; "
            "a fit can be resumed only while they stay as they are.",
            "caption",
            "muted",
            wrap=True,
        )
        self._used.setVisible(bool(used_by))
        self.apply_button = button("Apply", self._apply, kind="primary")
        self.apply_button.setDefault(True)
        self._build()
        self.resize(980, 640)
        self.begin(
            "facts",
            lambda task: find_facts(dataset),
            lambda facts: self.before.show_facts(dataset, facts),
            lambda error, details: self.before.show_nothing(error_text(error)),
        )
        self.list.currentRowChanged.connect(lambda _: self._choose())
        self.list.setCurrentRow(0)

    def _build(self) -> None:
        note = Label("Recorded with the data; the last step can be undone.", "body", "muted", elide=True)
        left = Pane("sunken", "right")
        left.setFixedWidth(340)
        vertical(
            (self.list, 1),
            self._doc,
            self._options,
            self.error,
            on=left,
            spacing=space.M,
            margins=(space.DIALOG_EDGE, space.L, space.L, space.L),
        )
        right = Pane("surface")
        horizontal(
            (self.before, 1),
            (self.after, 1),
            on=right,
            spacing=space.M,
            margins=(space.XL, space.L, space.DIALOG_EDGE, space.L),
        )
        middle = horizontal(left, (right, 1), spacing=0)
        foot = foot_pane((self._as_new, self._used), button("Cancel", self.reject), self.apply_button)
        vertical(head_pane(self.windowTitle(), note), (middle, 1), foot, on=self, spacing=0)

    # -- choice ---------------------------------------------------------------------------------
    @property
    def name(self) -> str:
        """Name of the transformation chosen."""
        return list(TRANSFORMS)[max(0, self.list.currentRow())]

    @property
    def as_new(self) -> bool:
        """Whether the original stays beside the result."""
        return self._as_new.isChecked()

    def choose(self, name: str) -> None:
        """Choose by name."""
        self.list.setCurrentRow(list(TRANSFORMS).index(name))

    def field(self, name: str) -> SettingField:
        """The field of an option."""
        return next(field for field in self._fields if field.name == name)

    def step(self) -> Step:
        """The step chosen."""
        return Step(self.name, {field.name: field.value for field in self._fields})

    def _choose(self) -> None:
        for field in self._fields:
            self._options.removeWidget(field)
            field.hide()
            field.deleteLater()
        transform = TRANSFORMS[self.name]
        self._doc.setText(transform.doc)
        self._fields = [SettingField(option) for option in transform.options]
        for field in self._fields:
            self._options.addWidget(field)
            field.changed.connect(self._changed)
        self._changed()

    def _changed(self) -> None:
        self.apply_button.setEnabled(False)
        self.dataset = None
        self._quiet.start()

    # -- preview --------------------------------------------------------------------------------
    def _preview(self) -> None:
        self.drop("preview")
        if any(field.problem for field in self._fields):
            return
        source, step = self.source, self.step()

        def work(task: Task) -> tuple[Dataset, Facts]:
            after = apply_step(source, step)
            task.check()
            return after, find_facts(after)

        def done(found: tuple[Dataset, Facts]) -> None:
            self.dataset = found[0]
            self.error.set_text("")
            self.after.show_facts(*found)
            self.apply_button.setEnabled(True)

        self.begin("preview", work, done, self._failed)

    def _failed(self, error: BaseException, details: str) -> None:
        self.error.set_text(error_text(error))
        self.after.show_nothing("Cannot be applied to these data")

    def _apply(self) -> None:
        if self.dataset is None:
            return
        undo_store().remember(self.dataset, self.source)
        self.accept()


def used_by(session: Any, name: str) -> tuple[str, ...]:
    """Titles of the runs of a session that use a dataset."""
    return tuple(
        run.title for run in session.runs.values() if any(name in names for names in run.inputs.values())
    )

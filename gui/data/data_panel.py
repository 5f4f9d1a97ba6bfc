"""The dock beside set-up and data: the matrix as the model sees it, its values and its steps."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QLayout, QScrollArea, QWidget
from shiboken6 import isValid

from plaidwork.core.data.dataset import Dataset
from plaidwork.core.data.glimpse import LARGE
from plaidwork.core.data.overview import Overview, overview, with_samples_in_rows
from plaidwork.core.draws.counting import counted
from plaidwork.core.errors import PlaidworkError
from plaidwork.gui.data.course import Course, CoursePicture
from plaidwork.gui.data.facts import Facts, figure_rows, find_facts, glimpse
from plaidwork.gui.data.image_strip import ImageStrip, first_images
from plaidwork.gui.data.presence import PresencePicture
from plaidwork.gui.data.thumbs import ClassBars, HistogramThumb, MatrixThumb
from plaidwork.gui.numbers import format_limits
from plaidwork.gui.tasks import Task, run_task
from plaidwork.gui.theme import space
from plaidwork.gui.widgets import ColorBar, Label
from plaidwork.gui.widgets.layouts import add, grid_layout, vertical


def _at_a_glance(dataset: Dataset) -> Facts | None:
    """What some of the rows of large data tell."""
    part = glimpse(dataset)
    return None if part is None else find_facts(dataset, part)


class DataPanel(QScrollArea):
    """Heat map, histogram, numbers, classes and transformations of one dataset; computed off-thread.

    Parameters
    ----------
    picture : False leaves the heat map out (a page beside shows it)
    """

    computed = Signal(object)
    unreadable = Signal(str)
    """The values cannot be read from their file any more; why."""

    def __init__(self, picture: bool = True, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._picture = picture
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._dataset: Dataset | None = None
        self._task: Task | None = None
        self.matrix = MatrixThumb(self)
        self.bar = ColorBar(parent=self)
        self.course = CoursePicture(self)
        self.course.hide()
        self._picture_title = Label("Matrix as the model sees it", "strong", elide=True, parent=self)
        self._views_title = Label("Views together", "strong", elide=True)
        self.views = PresencePicture(100)
        self._looking: Task | None = None
        self.images = ImageStrip()
        self.histogram = HistogramThumb()
        self.bars = ClassBars()
        self._bars_title = Label("", "strong", elide=True)
        self._steps = Label("", "body", "muted", wrap=True)
        self._empty = Label("Choose data to see them here.", "body", "muted", wrap=True)
        self._numbers = grid_layout(spacing=(space.M, space.XS))
        self._numbers.setColumnStretch(1, 1)
        self._body = QWidget()
        self._build()
        self.set_dataset(None)

    def _build(self) -> None:
        inner = QWidget()
        inner.setAutoFillBackground(True)
        self.viewport().setAutoFillBackground(True)
        vertical(
            self._empty,
            (self._body, 1),
            on=inner,
            margins=(space.DOCK_EDGE, space.XS, space.DOCK_EDGE, space.L),
        )
        column = vertical(on=self._body, spacing=space.S)
        for widget in (self._views_title, self.views):
            column.addWidget(widget)
            widget.hide()
        if self._picture:
            add(
                column,
                self._picture_title,
                (self.matrix, 1),
                (self.course, 1),
                self.bar,
                space.M,
            )
        else:
            for part in (self._picture_title, self.matrix, self.bar):
                part.hide()
        self._images_title = Label("", "strong", elide=True)
        add(
            column,
            self._images_title,
            self.images,
            Label("Spread of values", "strong", elide=True),
            self.histogram,
            space.M,
            self._bars_title,
            self.bars,
            space.S,
            self._numbers,
            space.S,
        )
        self._steps_title = Label("Steps applied", "strong")
        add(column, self._steps_title, self._steps)
        self._column = column
        self.setWidget(inner)
        self.setMinimumWidth(220)

    def add(self, item: QWidget | QLayout, stretch: int = 0) -> None:
        """Append a widget or layout below the steps."""
        add(self._column, (item, stretch))

    @property
    def dataset(self) -> Dataset | None:
        """The dataset shown."""
        return self._dataset

    def set_dataset(self, dataset: Dataset | None) -> None:
        """Show a dataset; pictures follow when they are computed."""
        if dataset is self._dataset and dataset is not None:
            return
        self._dataset = dataset
        if self._task is not None:
            self._task.cancel()
        self._body.setVisible(dataset is not None)
        self._empty.setVisible(dataset is None)
        self._show_images(dataset if dataset is not None and dataset.at_hand else None)
        if dataset is not None:
            whole = run_task(
                lambda task: find_facts(dataset), lambda facts: self._show(dataset, facts), self._failed
            )

            def first(facts: Facts | None) -> None:
                if facts is not None and not whole.finished and not whole.cancelled:
                    self._show(dataset, facts)

            self._task = whole
            if dataset.nbytes >= LARGE:
                run_task(lambda task: _at_a_glance(dataset), first, self._failed, at_once=True)

    def _show_images(self, dataset: Dataset | None) -> None:
        pictures = first_images(dataset) if dataset is not None else None
        self.images.set_images(pictures)
        self._images_title.setVisible(pictures is not None)
        if pictures is not None:
            self._images_title.setText(
                f"Images of {pictures.shape[1]} × {counted(pictures.shape[2], 'pixel')}"
            )

    def _show_course(self, course: Course | None) -> None:
        """What was measured over time in place of the matrix, which then is a column of times."""
        if course is not None:
            self.course.set_course(course)
        title = (
            f"{course.y_name} over {course.x_name}" if course is not None else "Matrix as the model sees it"
        )
        self._picture_title.setText(title)
        for widget, shown in (
            (self.matrix, course is None),
            (self.bar, course is None),
            (self.course, course is not None),
        ):
            widget.setVisible(self._picture and shown)

    def set_views(self, datasets: Sequence[Dataset]) -> None:
        """Show who has which of several views above the rest; nothing for fewer than two."""
        if self._looking is not None:
            self._looking.cancel()
        if len(datasets) < 2:
            self._views_title.hide()
            self.views.hide()
            return

        def work(task: Task) -> tuple[Overview, str]:
            views = with_samples_in_rows(datasets)
            return overview(views), views[0].row_label

        self._looking = run_task(work, lambda found: self._show_views(*found))

    def _show_views(self, found: Overview, word: str) -> None:
        if not isValid(self):  # closed while it was computed
            return
        self.views.set_overview(found, word if word != "rows" else "samples")
        self._views_title.show()
        self.views.show()

    def _failed(self, error: BaseException, details: str) -> None:
        if not isinstance(error, PlaidworkError):
            raise error
        if isValid(self):
            self.unreadable.emit(str(error))

    def _show(self, dataset: Dataset, facts: Facts) -> None:
        if not isValid(self):
            return
        self._show_images(dataset if dataset.at_hand else None)
        low, high = facts.limits
        name = "loom" if facts.diverging else "tide"
        self.matrix.set_matrix(facts.thumb, facts.limits, name)
        self._show_course(facts.course)
        bottom, middle, top = format_limits((low, 0 if facts.diverging else (low + high) / 2, high), 2)
        sign = "+" if facts.diverging else ""
        self.bar.set_limits(bottom, middle, sign + top, clipped=facts.clipped, map_name=name)
        word = "value" + (f" ({dataset.unit})" if dataset.unit else "")
        self.histogram.set_counts(
            facts.counts, facts.edges, facts.course.y_name if facts.course is not None else word
        )
        self.bars.set_classes(facts.classes)
        self._bars_title.setText(facts.classes_title)
        for widget in (self.bars, self._bars_title):
            widget.setVisible(bool(facts.classes))
        while self._numbers.count():
            old = self._numbers.takeAt(0).widget()
            old.hide()
            old.deleteLater()
        for row, (label, value) in enumerate(figure_rows(dataset, facts)):
            self._numbers.addWidget(Label(label, "caption", "muted"), row, 0)
            self._numbers.addWidget(Label(value, "caption", elide=True), row, 1)
        steps = [str(step) for step in dataset.steps]
        self._steps.setText("\n".join(f"{k}. {step}" for k, step in enumerate(steps, 1)) or "None")
        self.computed.emit(facts)

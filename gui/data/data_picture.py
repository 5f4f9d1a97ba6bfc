"""The picture on the page of a dataset: its matrix, averaged in the background, with the colour bar and a remark below."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtWidgets import QWidget
from shiboken6 import isValid

from plaidwork.core.data.dataset import Dataset
from plaidwork.core.findings.naming import shown_names
from plaidwork.gui.data.course import Course, CoursePicture
from plaidwork.gui.data.facts import SCALED_LIMITS, Facts, size_text
from plaidwork.gui.numbers import format_limits
from plaidwork.gui.tasks import run_task
from plaidwork.gui.widgets import ColorBar, Label, StatePane

if TYPE_CHECKING:
    from plaidwork.gui.plots import MatrixImage, Shrunk


class DataPicture:
    """The image of the dataset that is shown, None where it has none, or ``course``, what was measured over time; and what stands below:
    colour bar and remark on gaps."""

    def __init__(self) -> None:
        self.image: MatrixImage | None = None
        self.course: CoursePicture | None = None
        self.bar = ColorBar()
        self.hatched = Label("hatched: missing", "caption", "muted")
        self._facts: Facts | None = None

    @property
    def drawn(self) -> QWidget | None:
        """What there is to export."""
        return self.image if self.course is None else self.course

    def forget(self) -> None:
        """There is no picture any more."""
        self.image = self.course = None

    def make(self, dataset: Dataset, course: Course | None) -> QWidget:
        """An image that :meth:`draw` fills, the course where the data are one, or a pane that says why there is none, as far as the gaps are
        counted."""
        from plaidwork.gui.plots import MatrixImage

        self.forget()
        if course is not None:
            self.course = CoursePicture()
            self.course.set_course(course)
            return self.course
        if min(dataset.shape) == 0 or dataset.known_missing == int(np.prod(dataset.shape)):
            return StatePane("heatmap", "No values to show", f"{size_text(dataset)}, all missing.")
        self.image = MatrixImage()
        return self.image

    def show_foot(self, dataset: Dataset, shown: bool) -> None:
        """Show what stands below where the picture is shown and has need of it."""
        self.bar.setVisible(shown and self.image is not None)
        self.hatched.setVisible(shown and bool(dataset.known_missing))

    def draw(self, facts: Facts | None, dataset: Dataset | None, drawn: Callable[[], object]) -> None:
        """Show the matrix, averaged in the background (half a second for 5000 x 2000); ``drawn`` is called then."""
        from plaidwork.gui.plots import shrink

        if facts is None or dataset is None or self.image is None or facts.shape != dataset.shape:
            return
        image, self._facts = self.image, facts

        def done(shrunk: Shrunk) -> None:
            same = self.image is image and self._facts is facts
            if same and isValid(image):  # else the page was closed in the meantime, or shows something else
                self._show(image, shrunk, facts, dataset)
                drawn()

        run_task(lambda task: shrink(facts.pictured()), done, at_once=facts.in_part)

    def _show(self, image: MatrixImage, shrunk: Shrunk, facts: Facts, dataset: Dataset) -> None:
        rows = shown_names(facts.looked_at, 0)
        columns = shown_names(dataset, 1) or (dataset.name,)
        apart = facts.scales is not None
        diverging, (low, high) = (True, SCALED_LIMITS) if apart else (facts.diverging, facts.limits)
        name = "loom" if diverging else "tide"
        image.unit = "sd" if apart else dataset.unit
        image.set_matrix(shrunk, rows, columns, limits=(low, high), map_name=name)
        bottom, middle, top = format_limits((low, 0 if diverging else (low + high) / 2, high), 2)
        top = ("+" if diverging else "") + top
        clipped = image.clipped if apart else facts.clipped
        self.bar.set_limits(bottom, middle, top, clipped=clipped, map_name=name)
        value = f"value ({dataset.unit})" if dataset.unit else "value"
        self.bar.set_label("standard deviations from each column's mean" if apart else value)

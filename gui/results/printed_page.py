"""A result page whose picture leaves the program on paper, as the value that is drawn on it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QSize
from PySide6.QtGui import QImage

from plaidwork.core.draws.numbers import format_count
from plaidwork.core.pictures import File, Picture
from plaidwork.core.refusals import unwritten
from plaidwork.core.views.printing import origin_of
from plaidwork.gui.pictures.paper import paper_like, picture_image, write_picture
from plaidwork.gui.pictures.paper_dialog import PaperDialog
from plaidwork.gui.results.page import ResultPage
from plaidwork.gui.save_path import ask_save_path
from plaidwork.gui.tasks import Task


class PrintedPage(ResultPage):
    """Subclasses say in `shown_picture` what they show."""

    def shown_picture(self) -> Picture | None:
        """The picture as it is now; None while there is none."""
        raise NotImplementedError

    @property
    def printed(self) -> Picture:
        """The picture with the words that stand above it here; a state is told in words."""
        headline, caption, shown = self._headline.text(), self._caption.text(), self.shown_picture()
        if shown is None or self.state:
            return Picture(headline, caption, empty=(self.state or self.view.title, self.reason))
        return replace(shown, headline=headline, caption=caption, doubt=self._doubt.told)

    def export_picture(self, path: str | Path) -> Path:
        """Write the picture as PNG (2x), SVG or PDF, by the ending. Raises ``OSError`` or ``ValueError``."""
        return write_picture(self.printed, path, paper_like(self.size()))

    def export_dialog(self, proposed: Path) -> PaperDialog:
        """Asks how the picture is to be written."""
        session = self.workbench.session
        origin = origin_of(session, session.runs.get(self.run.id, self.run))
        return PaperDialog(self.printed, proposed, origin, self)

    def picture_image(self) -> QImage | None:
        """The picture with twice the dots of the screen."""
        return self.on_paper(self.size(), 2.0)

    def on_paper(self, size: QSize, scale: float) -> QImage | None:
        """The picture alone."""
        return picture_image(self.printed, paper_like(size, scale=scale))

    def ask_file(self, file: File) -> None:
        """Ask for a file and write what the picture offers beside itself, in the background."""
        ending = f"{file.suffix.lstrip('.').upper()} (*{file.suffix})"
        name = self.file_name(file.suffix, file.name)
        path = ask_save_path(self, file.title.rstrip("…"), name, ending)
        if path is not None:
            self.write_file(file, path)

    def write_file(self, file: File, path: Path) -> Task:
        """Write what the picture offers beside itself; messages tell the end."""

        def written(count: int) -> None:
            told = f"Exported {format_count(count)} {file.counted} to {path.name}"
            self.workbench.notified.emit("ok", told, "", "")

        def failed(error: BaseException, details: str) -> None:
            self.workbench.notified.emit("error", f"Could not write {path.name}", unwritten(error), "")

        return self.start(lambda task: file.write(path), written, failed)

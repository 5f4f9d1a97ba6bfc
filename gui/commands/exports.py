"""Commands that write files for others: pictures, results, reports, scripts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtWidgets import QFileDialog

from plaidwork.core.inference.run import Run
from plaidwork.core.refusals import unwritten
from plaidwork.core.session.session import Session
from plaidwork.gui.commands.base import CommandGroup
from plaidwork.gui.dialogs import show_text
from plaidwork.gui.language import tr
from plaidwork.gui.save_path import PICTURES, ask_save_path, proposed_name
from plaidwork.gui.tasks import Task, run_task

ANNOTATED = {".h5ad": "AnnData", ".h5mu": "MuData"}
"""What reads the files of annotated data, by their suffix."""
_METHODS = "All of this is computed from the run. Why these data and why this model is for you to say."


class ExportCommands(CommandGroup):
    """What the Export menu does."""

    def copy_picture(self) -> None:
        from plaidwork.gui.pictures.paper import copy_picture

        page = self._window.workspace.current_page()
        image = page.picture_image() if page is not None else None
        if image is None:
            self._window.status.tell("There is no picture in front")
            return
        copy_picture(image)
        self._window.status.say("Picture copied to the clipboard")

    def export_picture(self) -> None:
        window, page = self._window, self._window.workspace.current_page()
        if page is None:
            return
        title = window.workspace.current_title() or "picture"
        dialog = page.export_dialog(Path(window.settings.folder("export")) / self._about(title, ""))
        if dialog is not None:
            dialog.written.connect(self._picture_written)
            dialog.open()
            return
        path = self._save_name("Export picture", self._about(title, ".png"), PICTURES)
        if path is None:
            return
        try:
            written = page.export_picture(path)
        except (OSError, ValueError) as error:
            window.messages.post("error", f"Could not write {path.name}", unwritten(error))
            return
        if written is not None:
            self._picture_written(written)

    def _picture_written(self, path: Path) -> None:
        self._window.settings.set_folder("export", path)
        self._window.status.say(f"Picture saved to {path.name}")

    def _save_name(self, title: str, proposed: str, kinds: str) -> Path | None:
        window = self._window
        path = ask_save_path(window, title, Path(window.settings.folder("export")) / proposed, kinds)
        if path is not None:
            window.settings.set_folder("export", path)
        return path

    def _about(self, what: str, suffix: str) -> str:
        """A name for a file: session, what is in front (a run or data), and ``what`` is written of it."""
        run = self._window.current_run()
        title = run.title if run is not None else self._window.current_dataset()
        return proposed_name(self._workbench.session.name, title, what, suffix=suffix)

    def guard_tables(self) -> None:
        from plaidwork.core.quoting import guard_tables

        on = self._window.actions_by_key["guard_tables"].isChecked()
        run_task(lambda task: guard_tables(on), failed=self._not_remembered)

    def _not_remembered(self, error: BaseException, details: str) -> None:
        self._window.messages.post("warn", "The choice could not be remembered", str(error))

    def export_run(self) -> None:
        from plaidwork.core.session.exporting import export_run

        run, window = self._window.current_run(), self._window
        folder = QFileDialog.getExistingDirectory(
            window, tr("Export results to"), window.settings.folder("export")
        )
        if not folder or run is None:
            return
        target = Path(folder) / proposed_name(window.workbench.session.name, run.title, suffix="")
        session = self._workbench.session
        run_task(
            lambda task: export_run(run, target, session, self._workbench.registry),
            lambda _: window.status.say(f"Results exported to {target}"),
            lambda error, details: window.messages.post(
                "error", "Could not export the results", unwritten(error)
            ),
        )

    def export_annotated(self) -> None:
        from plaidwork.core.session.annotated import suffixes_of
        from plaidwork.core.session.exporting import export_annotated

        run = self._window.current_run()
        suffixes = suffixes_of(run) if run is not None else ()
        kinds = ";;".join(f"{ANNOTATED[suffix]} (*{suffix})" for suffix in suffixes)
        if suffixes:
            self._export_file(
                "Export annotated data",
                self._about("", suffixes[0]),
                kinds,
                lambda run, session, path: export_annotated(run, path, session),
            )

    def write_report(self) -> None:
        """The report of the session, drawn and written in the background."""
        from plaidwork.core.report import make_report, write_report
        from plaidwork.gui.results.report import drawer, write_pdf

        session, window = self._workbench.session, self._window
        proposed = proposed_name(session.name, "report", suffix=".html")
        path = self._save_name("Write report", proposed, "HTML (*.html);;PDF (*.pdf)")
        if path is None:
            return
        printed = path.suffix.lower() == ".pdf"
        draw = drawer(vector=not printed)
        window.status.tell(f"Writing {path.name}…", "clock")

        def write(task: Task) -> Path:
            made = make_report(session, draw, tell=lambda share: task.check())
            return (write_pdf if printed else write_report)(made, path)

        run_task(
            write,
            lambda written: window.status.say(f"Report written to {path.name}"),
            lambda error, details: window.messages.post(
                "error", f"Could not write {path.name}", unwritten(error)
            ),
            minutes=True,
        )

    def write_methods(self) -> None:
        """The methods paragraph of the run in front."""
        run = self._window.current_run()
        if run is not None:
            self.methods_of(run.id)

    def methods_of(self, run_id: str) -> None:
        """The methods paragraph of a run, judged in the background and shown to be copied."""
        from plaidwork.core.report import bibtex, methods_text, references_of

        session, window = self._workbench.session, self._window
        run = session.runs[run_id]
        run_task(
            lambda task: (
                f"{methods_text(session, run)}\nThe references as BibTeX\n\n{bibtex(references_of(run))}"
            ),
            lambda text: show_text(window, "What to write in the paper", text, _METHODS, wrapped=True),
            lambda error, details: window.messages.post("error", "Could not tell the methods", str(error)),
        )

    def export_script(self) -> None:
        from plaidwork.core.session.exporting import python_script

        self._export_file("Export as Python script", self._about("", ".py"), "Python (*.py)", python_script)

    def export_job(self) -> None:
        from plaidwork.core.session.exporting import job_toml

        self._export_file("Export as job", self._about("", ".toml"), "Job (*.toml)", job_toml)

    def _export_file(
        self, title: str, proposed: str, kinds: str, write: Callable[[Run, Session, Path], object]
    ) -> None:
        run = self._window.current_run()
        path = self._save_name(title, proposed, kinds) if run is not None else None
        if run is None or path is None:
            return
        session = self._workbench.session
        run_task(
            lambda task: write(run, session, path),
            lambda _: self._window.status.say(f"Saved to {path.name}"),
            lambda error, details: self._window.messages.post(
                "error", f"Could not write {path.name}", unwritten(error)
            ),
        )

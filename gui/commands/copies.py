"""Commands that write copies of a session, and what the user says about the files of linked data."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QFileDialog

from plaidwork.core.session.store.linked import link_of
from plaidwork.gui import dialogs
from plaidwork.gui.commands.base import SESSION_FILTER, SESSION_SUFFIX, CommandGroup
from plaidwork.gui.language import tr
from plaidwork.gui.save_path import ask_save_path, proposed_name
from plaidwork.gui.tasks import run_task

if TYPE_CHECKING:
    from plaidwork.core.session.session import Session
    from plaidwork.core.session.store.linked import Link

_NAMED = 5
"""Files that a message names at most."""


class CopyCommands(CommandGroup):
    """Copies to give away or to look at, and files that stay beside a session."""

    def save_without_data(self) -> None:
        """Ask for a file, and write a copy to give away."""
        from plaidwork.core.session.copying import save_without_data

        def write(session: Session, path: Path) -> list[str]:
            save_without_data(session, path)
            return []

        self._copy("Save a copy without data", "without data", write)

    def save_compact(self) -> None:
        """Ask whether the data stay, and write a small copy to look at."""
        from plaidwork.core.session.copying import DRAWS, save_compact

        text = (
            f"A compact copy keeps at most {DRAWS} draws of each chain, settings, traces, results and analyses. "
            "Its runs can be looked at, but cannot go on."
        )
        choices = (("cancel", "Cancel"), ("without", "Without data"), ("data", "With data"))
        chosen = dialogs.ask(self._window, "Save a compact copy", text, choices, "data")
        if chosen != "cancel":
            self._copy("Save a compact copy", "compact", partial(save_compact, data=chosen == "data"))

    def save_linked(self) -> None:
        """Ask for a file, and write a copy whose data stay in the files they were imported from."""
        from plaidwork.core.session.copying import save_linked

        folders = [Path(self._window.settings.folder("import"))]
        self._copy("Save a copy with linked data", "linked", partial(save_linked, folders=folders))

    def save_embedded(self) -> None:
        """Ask for a file, and write a copy that holds the values of linked data."""
        from plaidwork.core.session.copying import save_embedded

        self._copy("Save a copy with all data", "with data", save_embedded)

    def _copy(self, title: str, words: str, write: Callable[[Session, Path], list[str]]) -> None:
        """Ask for a file, and write it in the background; what became of what is said."""
        window, session = self._window, self._workbench.session
        proposed = proposed_name(session.name, words, suffix=SESSION_SUFFIX)
        path = ask_save_path(window, title, Path(window.settings.folder("open")) / proposed, SESSION_FILTER)
        if path is None:
            return

        def written(said: list[str]) -> None:
            window.status.say(f"Copy saved to {path.name}")
            if said:
                window.messages.post("info", f"Copy saved to {path.name}", _listed(said))

        failed = self._workbench.faults.report("Could not save the copy")
        run_task(lambda task: write(session, path), written, failed)

    # -- files of linked data ----------------------------------------------------------------------
    def tell_links(self) -> None:
        """Say which files of linked data are missing or have changed, or may not be read yet."""
        session = self._workbench.session
        links = list(session.links.values())
        strange = [link for link in links if not link.allowed]
        if strange:
            text = (
                "The session was made elsewhere and names files of this computer, which are not read before you say so: "
                f"{_listed([str(link.file) for link in strange])} All else can be looked at."
            )
            self._window.messages.post(
                "warn",
                "Read the data from these files?",
                text,
                [("Read these files", partial(self._allow, session, strange)), ("Later", lambda: None)],
                key="linked data",
            )
        known = [link for link in links if link.allowed]
        if known:
            run_task(
                lambda task: [(link, fault) for link in known if (fault := link.fault)],
                partial(self._tell_faults, session),
            )

    def _tell_faults(self, session: Session, faults: list[tuple[Link, str]]) -> None:
        if session is not self._workbench.session:
            return
        for link, fault in [told for told in faults if told[1]][:_NAMED]:
            self._window.messages.post(
                "warn",
                f"The values of “{link.name}” cannot be read",
                f"{fault} All else of the session can be looked at.",
                [("Find file…", partial(self._find_file, session, link, fault)), ("Later", lambda: None)],
                key=_key(link),
            )

    def _allow(self, session: Session, links: list[Link]) -> None:
        for link in links:
            link.allowed = True
        self._links_changed(session)
        self.tell_links()

    def find_linked(self, name: str) -> None:
        """Ask for the file of linked data of the session; nothing where the values are in the session itself."""
        session = self._workbench.session
        link = link_of(session.datasets[name], {}) if name in session.datasets else None
        if link is not None:
            self._find_file(session, link, "")

    def _find_file(self, session: Session, link: Link, fault: str) -> None:
        """Ask for the file of linked data; it has to have the content that the session knows. Else a fault that was told is told again."""
        window = self._window
        name, _ = QFileDialog.getOpenFileName(
            window, tr(f"Find {link.file.name}"), window.settings.folder("import"), "All files (*)"
        )
        if not name:
            self._tell_faults(session, [(link, fault)])
            return

        def found(_: object) -> None:
            link.file = Path(name)
            window.messages.dismiss(_key(link))
            self._links_changed(session)

        def failed(error: BaseException, details: str) -> None:
            self._workbench.faults.report("This is not the file")(error, details)
            self._tell_faults(session, [(link, fault)])

        run_task(lambda task: link.check(Path(name)), found, failed)

    def _links_changed(self, session: Session) -> None:
        if session is self._workbench.session:
            self._workbench.touch()
            for name in [name for name, data in session.datasets.items() if not data.at_hand]:
                session.datasets[name] = session.datasets[name].with_()  # which pages look at anew
                self._workbench.data_changed.emit(name)


def _key(link: Link) -> str:
    return f"linked data {link.digest}"


def _listed(sentences: list[str]) -> str:
    left = len(sentences) - _NAMED
    return " ".join([*sentences[:_NAMED], *([f"And {left} more."] if left > 0 else [])])

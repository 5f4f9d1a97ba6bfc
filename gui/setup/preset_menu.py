"""The menu behind *Presets*."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFileDialog, QMenu

from plaidwork.core.errors import SettingError
from plaidwork.gui.icons import icon
from plaidwork.gui.language import tr
from plaidwork.gui.save_path import ask_save_path, proposed_name
from plaidwork.gui.setup.presets import PresetStore, check_record, read_file, to_record, write_file

if TYPE_CHECKING:
    from plaidwork.gui.setup.setup_page import SetupPage


class PresetMenu(QObject):
    """Fills the menu each time it opens; works on the model that the page shows."""

    def __init__(self, page: SetupPage, store: PresetStore) -> None:
        super().__init__(page)
        self._page = page
        self.store = store
        page.foot.menu.aboutToShow.connect(self.fill)

    def fill(self) -> None:
        """Presets of the model, then what can be done."""
        menu: QMenu = self._page.foot.menu
        menu.clear()
        spec = self._page.spec
        if spec is None:
            return
        menu.addAction(icon("reset"), tr("Defaults of the model"), self._page.reset)
        names = self.store.names(spec)
        for name in names:
            menu.addAction(icon("sliders"), name, partial(self.apply, name))
        menu.addSeparator()
        menu.addAction(icon("save"), tr("Save as preset…"), self.ask_save)
        if names:
            remove = menu.addMenu(icon("trash"), "Remove preset")
            for name in names:
                remove.addAction(name, partial(self.remove, name))
        menu.addSeparator()
        menu.addAction(icon("import"), tr("Import settings…"), self.ask_import)
        menu.addAction(icon("export"), tr("Export settings…"), self.ask_export)

    def apply(self, name: str) -> None:
        """Fill in a preset."""
        assert self._page.spec is not None
        try:
            self._fill_in(*check_record(self._page.spec, self.store.get(self._page.spec, name)))
        except SettingError as error:
            self._tell(f"The preset “{name}” cannot be used", error)

    def save(self, name: str) -> None:
        """Keep the settings under a name."""
        assert self._page.spec is not None
        params, schedule = self._page.settings()
        try:
            self.store.save(self._page.spec, name, to_record(self._page.spec, params, schedule, name))
        except SettingError as error:
            self._tell("Could not save the preset", error)

    def remove(self, name: str) -> None:
        """Forget a preset."""
        assert self._page.spec is not None
        try:
            self.store.remove(self._page.spec, name)
        except SettingError as error:
            self._tell("Could not remove the preset", error)

    def read(self, path: Path) -> None:
        """Fill in the settings of a file."""
        assert self._page.spec is not None
        try:
            self._fill_in(*read_file(self._page.spec, path))
        except SettingError as error:
            self._tell("Could not import the settings", error)

    def write(self, path: Path) -> None:
        """Write the settings to a file."""
        assert self._page.spec is not None
        params, schedule = self._page.settings()
        try:
            write_file(path, to_record(self._page.spec, params, schedule))
        except SettingError as error:
            self._tell("Could not export the settings", error)

    def _fill_in(self, params: dict, schedule: dict, unknown: list[str]) -> None:
        self._page.fill(params=params, schedule=schedule)
        if unknown:
            text = ", ".join(f"“{name}”" for name in unknown)
            self._page.workbench.notified.emit(
                "warn", "Some settings are not known to this version", f"Left out: {text}.", ""
            )

    def _tell(self, title: str, error: SettingError) -> None:
        self._page.workbench.notified.emit("error", title, str(error), "")

    def ask_save(self) -> None:
        """Ask for a name and save."""
        from plaidwork.gui.dialogs import ask_text

        text = "Keeps the settings, not the data. A preset of the same name is replaced."
        name = ask_text(self._page, "Save as preset", text, "", "Save")
        if name and name.strip():
            self.save(name.strip())

    def ask_import(self) -> None:
        """Ask for a file and read it."""
        path, _ = QFileDialog.getOpenFileName(self._page, tr("Import settings"), "", "Settings (*.json)")
        if path:
            self.read(Path(path))

    def ask_export(self) -> None:
        """Ask for a file and write it."""
        assert self._page.spec is not None
        start = proposed_name(self._page.spec.id, suffix=".json")
        path = ask_save_path(self._page, "Export settings", start, "Settings (*.json)")
        if path is not None:
            self.write(path)

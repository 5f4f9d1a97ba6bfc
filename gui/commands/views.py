"""Commands on what is shown: views, panes, colours, plugins, help."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QApplication, QMenu, QWidget

from plaidwork.core import quoting
from plaidwork.core.draws.numbers import format_percent
from plaidwork.core.inference.run import Run
from plaidwork.gui import dialogs
from plaidwork.gui.commands.base import CommandGroup
from plaidwork.gui.icons import icon
from plaidwork.gui.language import LANGUAGES, chosen_language, tr
from plaidwork.gui.run_pages import part, put_beside, run_pages, splits_of
from plaidwork.gui.session_tree import RUN
from plaidwork.gui.theme import TEXT_SCALES, theme
from plaidwork.gui.tour import Tour, take_tour

if TYPE_CHECKING:
    from plaidwork.gui.main_window import MainWindow


class ViewCommands(CommandGroup):
    """What the Views, Window and Help menus do."""

    def hold(self) -> None:
        page = self._window.workspace.current_page()
        if page is not None:
            page.set_held(self._window.actions_by_key["hold"].isChecked())

    def show_beside(self) -> None:
        """The menu of the tab in front, below the tabs: for the keyboard."""
        tabs = self._window.workspace.tabs
        corner = tabs.tabRect(tabs.currentIndex()).bottomLeft()
        self.tab_menu(self._window.workspace.current_key(), tabs.mapToGlobal(corner))

    def tab_menu(self, key: str, point: QPoint) -> None:
        """What can be done with a tab of a run: show another view beside it, or part two that are."""
        run, menu = self._window.current_run(), QMenu(self._window)
        if run is not None:
            self.fill_tab_menu(menu, run, key)
            menu.exec(point)
        menu.deleteLater()

    def fill_tab_menu(self, menu: QMenu, run: Run, key: str) -> None:
        """The entries: views of this run, then of each other run."""
        workbench = self._workbench
        if key in splits_of(workbench, run):
            menu.addAction(tr("Show them apart"), partial(self._part, run, key))
            return
        for other in [
            run,
            *(one for one in workbench.session.runs.values() if one is not run and one.results),
        ]:
            inside = menu.addMenu(
                tr("Show beside" if other is run else f"Show beside {quoting.menu(other.title)}")
            )
            paired = splits_of(workbench, other)
            for info in run_pages(workbench, other):
                if info.key != key and info.key not in paired:
                    inside.addAction(
                        icon(info.icon),
                        tr(quoting.menu(info.title)),
                        partial(self._beside, run, key, info.key),
                    )

    def _beside(self, run: Run, first: str, second: str) -> None:
        key = put_beside(self._workbench, run, first, second)
        self._window.show_item(RUN, run.id)
        self._window.workspace.go_to(key)

    def _part(self, run: Run, key: str) -> None:
        part(self._workbench, run, key)
        self._window.show_item(RUN, run.id)

    def compare_runs(self) -> None:
        """The run in front beside those of its model; alone, its chains beside each other."""
        from plaidwork.gui.results.compare_dialog import MOST, CompareDialog

        run, window = self._window.current_run(), self._window
        if run is not None:
            session = self._workbench.session
            alike = [one.id for one in session.runs.values() if one.spec.id == run.spec.id and one.results]
            others = [one for one in alike if one != run.id][: MOST - 1]
            CompareDialog(session, [run.id, *others], window).show()

    def show_data(self) -> None:
        page = self._window.workspace.current_page()
        if page is not None:
            page.show_data()

    def next_tab(self) -> None:
        self._window.workspace.step(1)

    def previous_tab(self) -> None:
        self._window.workspace.step(-1)

    def next_pane(self) -> None:
        self._step_pane(1)

    def previous_pane(self) -> None:
        self._step_pane(-1)

    def _step_pane(self, by: int) -> None:
        window = self._window
        panes = [
            window.tree,
            window.workspace.tabs,
            window.workspace.stack,
            window.docks.side_stack,
            window.log,
        ]
        panes += [window.welcome, *window.findChildren(Tour)]
        panes = [pane for pane in panes if pane.isVisible()]
        if not panes:
            return
        focus = QApplication.focusWidget()
        at = next((i for i, pane in enumerate(panes) if focus is not None and pane.isAncestorOf(focus)), None)
        if at is None:
            at = next((i for i, pane in enumerate(panes) if pane is focus), -1 if by > 0 else 0)
        pane = panes[(at + by) % len(panes)]
        target = _first_focusable(pane)
        target.setFocus()

    def show_session(self) -> None:
        self._window.docks.session.setVisible(self._window.actions_by_key["show_session"].isChecked())

    def show_side(self) -> None:
        self._window.docks.ask_side(self._window.actions_by_key["show_side"].isChecked())

    def show_log(self) -> None:
        self._window.docks.log.setVisible(self._window.actions_by_key["show_log"].isChecked())

    def reset_layout(self) -> None:
        self._window.docks.reset()

    def plugins(self) -> None:
        self.show_plugin("")

    def show_plugin(self, name: str) -> None:
        """The window of plugins, on one of them when a name is given; there is one such window at most."""
        from plaidwork.gui.plugins import PluginsDialog

        window = self._window
        shown = next((d for d in window.findChildren(PluginsDialog) if d.isVisible()), None)
        if shown is None:
            shown = PluginsDialog(self._workbench, window, window.settings)
            shown.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            shown.show()
        if name:
            shown.choose(name)
        shown.raise_()
        shown.activateWindow()

    def light(self) -> None:
        self._set_mode("light")

    def dark(self) -> None:
        self._set_mode("dark")

    def follow_system(self) -> None:
        self._set_mode("system")

    def _set_mode(self, mode: str) -> None:
        theme().set_mode(mode)
        self._window.settings.set("theme", mode)

    def high_contrast(self) -> None:
        high = self._window.actions_by_key["high_contrast"].isChecked()
        self._window.settings.set("high_contrast", high)
        theme().set_contrast("high" if high else "usual")

    def english(self) -> None:
        self._set_language("en")

    def german(self) -> None:
        self._set_language("de")

    def system_language(self) -> None:
        self._set_language("")

    def _set_language(self, wanted: str) -> None:
        self._window.settings.set("language", wanted)
        chosen = chosen_language(wanted)
        self._window.messages.post(
            "info",
            f"The window speaks {LANGUAGES[chosen]} from the next start on",
            "Reports, exported files and the documentation stay English.",
        )

    def larger_text(self) -> None:
        self._step_text(1)

    def smaller_text(self) -> None:
        self._step_text(-1)

    def _step_text(self, step: int) -> None:
        at = TEXT_SCALES.index(theme().text_scale)
        scale = TEXT_SCALES[min(max(at + step, 0), len(TEXT_SCALES) - 1)]
        theme().set_text_scale(scale)
        self._window.settings.set("text_scale", str(scale))
        self._window.messages.post(
            "info",
            f"Texts are shown at {format_percent(scale)} of the system's size",
            "Rows and fields that are open now keep their height until the program is started again.",
        )

    def commands(self) -> None:
        from plaidwork.gui.command_palette import CommandPalette

        CommandPalette(list(self._window.actions_by_key.values()), self._window).exec()

    def documentation(self) -> None:
        """The page about what is in front, in the browser; it lies on this computer."""
        from plaidwork.gui.documentation import address, topic

        page = address(topic(self._window))
        if page is None or not QDesktopServices.openUrl(page):
            where = page.toLocalFile() if page is not None else ""
            text = f"Open this file yourself: {where}" if where else "This installation came without it."
            self._window.messages.post("warn", "The documentation could not be opened", text)

    def take_tour(self) -> None:
        take_tour(self._window)

    def shortcuts(self) -> None:
        dialogs.show_shortcuts(self._window)

    def system_information(self) -> None:
        dialogs.show_text(self._window, "System information", system_information(self._window))

    def about(self) -> None:
        from plaidwork.core import __version__

        text = (
            "A desktop workbench for Bayesian latent-structure models.\n"
            "BSD 3-clause licence. Qt is used under the LGPL. The font Inter is under the OFL 1.1."
        )
        dialogs.show_text(self._window, f"Plaidwork {__version__}", text)

    def show_details(self, title: str, text: str, details: str) -> None:
        """The traceback behind a message."""
        dialogs.show_text(self._window, title, details, text)


def _first_focusable(pane: QWidget) -> QWidget:
    from PySide6.QtCore import Qt

    if pane.focusPolicy() & Qt.FocusPolicy.TabFocus:
        return pane
    for child in pane.findChildren(QWidget):
        if child.isVisible() and child.isEnabled() and child.focusPolicy() & Qt.FocusPolicy.TabFocus:
            return child
    return pane


def system_information(window: MainWindow) -> str:
    """Versions, plugins and screens as text."""
    import PySide6

    from plaidwork.core.inference.environment import environment

    lines = [f"{name}: {value}" for name, value in environment().items()]
    lines.append(f"PySide6: {PySide6.__version__}")
    for screen in QApplication.screens():
        size = screen.size()
        lines.append(f"screen: {size.width()} x {size.height()} at {screen.devicePixelRatio():g}")
    for plugin in window.workbench.registry.plugins:
        lines.append(
            f"plugin: {plugin.name} {plugin.version} ({plugin.source}) {plugin.state} {plugin.message}"
        )
    return "\n".join(lines)

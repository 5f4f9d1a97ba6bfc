"""What can be done with the items selected in a run: select by annotation, copy, keep under a name, a data set of their own."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QWidget
from shiboken6 import isValid

from plaidwork.core.data.dataset import Dataset
from plaidwork.core.errors import DataError
from plaidwork.core.inference.run import Run
from plaidwork.core.session.subsets import KINDS, Items, items_of
from plaidwork.gui.dialogs import ask_text
from plaidwork.gui.language import tr
from plaidwork.gui.numbers import format_count
from plaidwork.gui.results.show_data import copy_text
from plaidwork.gui.selection import Selection
from plaidwork.gui.tasks import Task, run_task
from plaidwork.gui.workbench import Workbench

_AT_ONCE = 10_000
"""Items up to which the menu is complete when it opens."""


def offer_selection(menu: QMenu, workbench: Workbench, run: Run, window: QWidget) -> None:
    """Put a menu for each kind of items of the data that this run can have selected."""
    selection = workbench.selection(run)
    for kind in KINDS:
        items = items_of(run, workbench.session.datasets, kind)
        if items is None:
            continue
        chosen = items.named(selection.get(kind))
        counted = f"Selected {items.word} ({format_count(len(chosen))})"
        part = menu.addMenu(tr(counted if chosen else f"Select {items.word}"))
        _by_annotation(part, items, selection)
        _by_name(part, items, selection)
        if chosen:
            part.addSeparator()
            part.addAction(tr("Copy names"), partial(copy_text, "\n".join(chosen)))
            part.addAction(tr("Keep under a name…"), partial(_keep, workbench, run, items, window))
            part.addAction(
                tr("New data set of these"), partial(_new_data, workbench, items, selection.get(kind))
            )
            part.addAction(tr("Select nothing"), partial(selection.set, kind, ()))
        part.setEnabled(bool(part.actions()))


def _by_annotation(menu: QMenu, items: Items, selection: Selection) -> None:
    """Entries for the values of annotations; of many items they come when these were gone through (0.1 s for 200,000)."""
    if len(items.names) <= _AT_ONCE:
        _add_groups(menu, None, items, selection, items.groups())
        return
    waiting = menu.addAction(tr("Reading the annotations"))
    waiting.setEnabled(False)

    def done(groups: dict[str, dict[str, tuple[int, ...]]]) -> None:
        if isValid(menu):  # it was closed in the meantime
            _add_groups(menu, waiting, items, selection, groups)
            menu.removeAction(waiting)
            menu.setEnabled(bool(menu.actions()))

    run_task(lambda task: items.groups(), done)


def _add_groups(
    menu: QMenu,
    before: QAction | None,
    items: Items,
    selection: Selection,
    groups: dict[str, dict[str, tuple[int, ...]]],
) -> None:
    """A menu for each annotation, at the end or before another entry."""
    for title, values in groups.items():
        part = QMenu(tr(f"Where {_shown(title)} is"), menu)
        for value, indices in values.items():
            text = f"{_shown(value)} ({format_count(len(indices))})"
            part.addAction(tr(text), partial(selection.set, items.kind, indices))
        if before is None:
            menu.addMenu(part)
        else:
            menu.insertMenu(before, part)


def _by_name(menu: QMenu, items: Items, selection: Selection) -> None:
    """What was kept under a name."""
    kept = {name: held for name, (kind, held) in selection.named.items() if kind == items.kind}
    for name, indices in kept.items():
        known = [index for index in indices if index < len(items.names)]
        act: Callable[[], None] = partial(selection.set, items.kind, known)
        menu.addAction(f"“{_shown(name)}” ({format_count(len(known))})", act)


def _shown(text: str) -> str:
    """A text of the data in a menu, where & marks a key."""
    return text.replace("&", "&&")


def _keep(workbench: Workbench, run: Run, items: Items, window: QWidget) -> None:
    text = f"These {items.word} can be selected again by it in all views of the run; it is saved with the session."
    name = ask_text(window, f"Keep the selected {items.word}", text, f"My {items.word}", "Keep")
    if name and name.strip():
        workbench.keep_selected(run, name.strip(), items.kind)


def _new_data(workbench: Workbench, items: Items, indices: tuple[int, ...]) -> None:
    """Make the data sets in the background and put them into the session."""

    def done(made: list[Dataset]) -> None:
        names = [data.name for data in workbench.add_datasets(made)]
        workbench.notified.emit("ok", f"New data: {' and '.join(f'“{name}”' for name in names)}", "", "")

    def failed(error: BaseException, details: str) -> None:
        hint = error.hint if isinstance(error, DataError) else ""
        workbench.notified.emit("error", f"No data set was made: {error}", hint, details)

    def make(task: Task) -> list[Dataset]:
        return items.subsets(indices)

    run_task(make, done, failed)

"""What was in front: chosen item of the tree, and of every run, search and dataset the tab and the order of tabs.

Kept in the session under ``views``, so that a session opens as it was left; nobody is asked to save it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from plaidwork.gui.workbench import Workbench
from plaidwork.gui.workspace import PageInfo, Workspace

WINDOW = "window"


class WindowState:
    """Follows the tabs of a workspace and finds again what was in front."""

    def __init__(self, workbench: Workbench, workspace: Workspace) -> None:
        self._workbench, self._workspace = workbench, workspace
        self._item = ("", "")
        workspace.page_changed.connect(self._remember)
        workspace.tabs.tabMoved.connect(lambda *_: self._remember(moved=True))

    def chosen(self) -> tuple[str, str]:
        """Kind and key of the item that was chosen in the tree; empty texts when nothing is known."""
        found = self._kept().get("chosen")
        if isinstance(found, list) and len(found) == 2:
            return str(found[0]), str(found[1])
        return "", ""

    def show(self, item: tuple[str, str], infos: Sequence[PageInfo]) -> None:
        """Show the pages of an item of the tree in the order they were in, with the tab in front that was there."""
        self._item = ("", "")  # what comes up on the way there is not worth remembering
        kept = self._tabs(item)
        order = [str(key) for key in found] if isinstance(found := kept.get("order"), list) else []
        known = [info for key in order for info in infos if info.key == key]
        # a page that is new since then stays beside the one that it follows
        for index, info in enumerate(infos):
            if known and info not in known:
                before = infos[index - 1] if index else None
                known.insert(known.index(before) + 1 if before in known else 0, info)
        self._workspace.set_pages(known or infos, str(kept.get("front", "")))
        self._item = item
        self._keep("chosen", list(item))

    def forget(self) -> None:
        """Nothing is in front that is worth remembering."""
        self._item = ("", "")

    def _kept(self) -> dict[str, Any]:
        found = self._workbench.session.views.get(WINDOW)
        return found if isinstance(found, dict) else {}

    def _tabs(self, item: tuple[str, str]) -> dict[str, Any]:
        found = self._all_tabs().get(" ".join(item))
        return found if isinstance(found, dict) else {}

    def _all_tabs(self) -> dict[str, Any]:
        found = self._kept().get("tabs")
        return found if isinstance(found, dict) else {}

    def _keep(self, name: str, value: Any) -> None:
        kept = self._kept()
        if kept.get(name) != value:
            self._workbench.session.views[WINDOW] = kept | {name: value}
            if kept:  # what comes up by itself in a session that was never looked at is not worth a write
                self._workbench.note_view()

    def _remember(self, moved: bool = False) -> None:
        front = self._workspace.current_key()
        if not self._item[0] or not front:
            return
        about = {**self._tabs(self._item), "front": front}
        if moved:
            about["order"] = self._workspace.tab_keys()
        self._keep("tabs", {**self._all_tabs(), " ".join(self._item): about})

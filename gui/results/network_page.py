"""Which items belong together: a network with sliders, one node's neighbours, and tables beside."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMenu, QWidget
from shiboken6 import isValid

from plaidwork.core.findings.naming import findable
from plaidwork.gui.numbers import format_count, format_number, format_probability
from plaidwork.gui.results.chart import capital, plural
from plaidwork.gui.results.marks import MarkLegend
from plaidwork.gui.results.network import ALL, MOST_LINKS, Network, Shown, kept_layout, laid_out, load_network
from plaidwork.gui.results.network_map import NetworkMap
from plaidwork.gui.results.network_paint import prepare
from plaidwork.gui.results.option_row import Labelled, OptionRow, page_content
from plaidwork.gui.results.page import ResultPage
from plaidwork.gui.results.show_data import Content
from plaidwork.gui.results.source import Sources
from plaidwork.gui.save_path import ask_save_path
from plaidwork.gui.widgets import Label, SegmentedControl, SliderField, button

if TYPE_CHECKING:
    from plaidwork.gui.results.network_panel import NetworkPanel

_STEPS = 200
_AT_FIRST = 1500
"""Links shown at first, about."""


class NetworkPage(ResultPage):
    """Role ``values``: weights of all pairs (n, n), of the links listed in ``edges`` (e, 2), or between two kinds of
    nodes (K, m); ``confidence`` of the same shape, 0 to 1; ``names`` (n,), ``row_names`` (K,), ``strength`` (n,) and
    ``group`` (n,) of the nodes.

    Options: ``threshold`` (least size of a weight), ``top`` (strongest links of a node), ``two_kinds`` (a square matrix is
    between two kinds of nodes). The choices and the layout are kept in the session.
    """

    icon_name = "network"

    def __init__(self, workbench: Any, run: Any, view: Any, parent: QWidget | None = None) -> None:
        kept = run.view_settings.setdefault("network", {})
        self._kept: dict[str, Any] = kept.setdefault(view.title, {})
        self._least: float | None = view.options.get("threshold")
        self._top = int(view.options.get("top", ALL))
        self._layout = "force"
        self._panel: NetworkPanel | None = None
        self.shown: Shown | None = None
        self._selection = workbench.selection(run)
        super().__init__(workbench, run, view, parent)
        self._selection.changed.connect(self._on_selection)

    # -- widgets --------------------------------------------------------------------------------
    def build(self) -> QWidget:
        self.map = NetworkMap()
        self.map.chosen.connect(self.choose)
        self.map.pointed.connect(self._tell)
        self.threshold = SliderField("", 0, _STEPS, 0, step=1, text=self._weight_text, width=120)
        self.threshold.slider.setAccessibleName("Least size of a weight")
        self.threshold.value_changed.connect(self._set_threshold)
        self._threshold_field = Labelled("At least", self.threshold)
        self.top = SliderField("", 1, ALL, min(self._top, ALL), step=1, text=_top_text)
        self.top.slider.setAccessibleName("Strongest links of a node")
        self.top.setToolTip("A link stays when it is among the strongest of one of its two ends")
        self.top.value_changed.connect(self._set_top)
        self._top_field = Labelled("Strongest each", self.top)
        self.layout_choice = SegmentedControl([("force", "Force"), ("circle", "Circle")])
        self.layout_choice.set_current(self._layout if self._layout in ("force", "circle") else "force")
        self.layout_choice.changed.connect(self.set_layout)
        self.back = button("Show all", lambda: self.choose(-1), icon_name="network")
        self.back.hide()
        self.legend = MarkLegend()
        self._foot = Label("", "body", "muted", elide=True)
        options = OptionRow(
            self._threshold_field, self._top_field, Labelled("Layout", self.layout_choice), self.back
        )
        return page_content(options, self.map, self._foot, self.legend)

    def side_panel(self) -> QWidget:
        """Search and tables, for the right dock."""
        from plaidwork.gui.results.network_panel import NetworkPanel

        if self._panel is None or not isValid(self._panel):
            self._panel = NetworkPanel()
            self._panel.setWindowTitle("Selection")
            # the tables are filled anew, which must not happen while they tell what was selected
            self._panel.chosen.connect(self.choose, Qt.ConnectionType.QueuedConnection)
            self._panel.left.connect(lambda: self.choose(-1))
            self.destroyed.connect(self._panel.deleteLater)  # it may live in a dock of the window
            if self.shown is not None:
                self._panel.set_shown(self.shown, self.map.focus)
        return self._panel

    # -- loading --------------------------------------------------------------------------------
    def load(self, sources: Sources) -> Network:
        prepare()
        return load_network(sources, dict(self._kept))

    def show_loaded(self, loaded: Network) -> None:
        if not len(loaded.ends):
            self.show_state("network", "No links", "The run has found no links between the items.")
            return
        self._kept.update(kept_layout(loaded))
        low, high = loaded.limits
        if self._least is None:
            size = np.abs(loaded.weights)
            self._least = float(size[_AT_FIRST - 1]) if len(size) > _AT_FIRST else low
        self._threshold_field.setVisible(high > low)
        self.threshold.set_range(0, _STEPS)
        steps = round((self._least - low) / ((high - low) or 1.0) * _STEPS)
        blocked = self.threshold.blockSignals(True)
        self.threshold.set_value(min(max(steps, 0), _STEPS))
        self.threshold.blockSignals(blocked)
        self.legend.set_colouring(loaded.colours)
        if self.map.focus >= len(loaded.names):
            self.map.set_focus(-1)
        self._filter()

    def _filter(self) -> None:
        data: Network = self.loaded
        least = self._least if self._least is not None else 0.0
        self.shown = data.shown(min(least, data.limits[1]), self._top)
        self.map.set_shown(self.shown, self._places())
        self._show_chosen()

    def _places(self) -> np.ndarray:
        data: Network = self.loaded
        if self._layout != "circle" or self.shown is None:
            return data.places
        codes = data.colours.codes
        order = np.lexsort((-self.shown.degree, codes))
        linked = order[self.shown.degree[order] > 0]
        angle = 2 * np.pi * np.arange(len(linked)) / max(len(linked), 1)
        places = np.zeros((len(data.names), 2))
        places[linked] = np.column_stack([np.sin(angle), -np.cos(angle)])
        return places

    def _show_chosen(self) -> None:
        assert self.shown is not None
        self.back.setVisible(self.map.focus >= 0)
        if self._panel is not None and isValid(self._panel):
            self._panel.set_shown(self.shown, self.map.focus)
        self._tell_foot()
        self.update_head()

    # -- choices --------------------------------------------------------------------------------
    def _weight(self, steps: float) -> float:
        data = self.loaded
        if not isinstance(data, Network):
            return 0.0
        low, high = data.limits
        return low + steps / _STEPS * (high - low)

    def _weight_text(self, steps: float) -> str:
        return format_number(self._weight(steps), 2)

    def _set_threshold(self, steps: float) -> None:
        self._least = self._weight(steps)
        if isinstance(self.loaded, Network) and not self.state:
            self._filter()

    def _set_top(self, top: float) -> None:
        self._top = int(top)
        if isinstance(self.loaded, Network) and not self.state:
            self._filter()

    def set_layout(self, layout: str) -> None:
        """By forces, or around a circle, group by group."""
        self._layout = layout
        if isinstance(self.loaded, Network) and not self.state:
            self.map.reset_view()
            self._filter()

    def lay_out_again(self) -> None:
        """Another layout, of the links that are shown, with the next seed; in the background."""
        data: Network = self.loaded
        assert self.shown is not None
        links, seed = self.shown.links, data.seed + 1
        part = replace(data, ends=data.ends[links], weights=data.weights[links], seed=seed)

        def put(found: Network) -> None:
            if isinstance(self.loaded, Network) and self.loaded.key == data.key:
                self.loaded = replace(self.loaded, places=found.places, seed=seed)
                self._kept.update(kept_layout(self.loaded))
                self.layout_choice.set_current("force")
                self._filter()

        self.start(lambda task: laid_out(part, {}), put)

    def choose(self, node: int) -> None:
        """Show the neighbours of a node (-1: all), and select it in every view of the run."""
        if not isinstance(self.loaded, Network) or self.shown is None or node == self.map.focus:
            return
        self.map.set_focus(node)
        self._show_chosen()
        data = self.loaded
        if 0 <= node < data.first:
            self._selection.set("layer", (node,))
        elif data.items is not None:
            self._selection.set(
                data.selection_kind, (int(data.items[node - data.first]),) if node >= 0 else ()
            )

    def _on_selection(self, kind: str) -> None:
        data = self.loaded
        if not isinstance(data, Network) or self.state or kind != data.selection_kind or data.items is None:
            return
        chosen = self._selection.get(kind)
        found = np.flatnonzero(data.items == chosen[0]) + data.first if len(chosen) == 1 else np.zeros(0, int)
        if len(found) and self.shown is not None and self.shown.degree[found[0]]:
            self.choose(int(found[0]))

    def search(self, text: str) -> list[str]:
        """Show the neighbours of the node with the most links whose name holds the text."""
        if not isinstance(self.loaded, Network) or self.shown is None or not text:
            return []
        wanted, names = text.casefold(), self.loaded.names
        hits = [i for i, name in enumerate(names) if wanted in findable(name)]
        hits.sort(key=lambda i: -self.shown.degree[i])
        if hits:
            self.choose(hits[0])
        return [names[i] for i in hits]

    def leave(self) -> bool:
        """Show all nodes, then the whole picture."""
        if self.map.focus >= 0:
            self.choose(-1)
        elif self.map.zoomed:
            self.map.reset_view()
        else:
            return False
        return True

    # -- words ----------------------------------------------------------------------------------
    def _tell(self, node: int) -> None:
        self.hovered.emit(self.node_text(node) if node >= 0 else "")

    def node_text(self, node: int) -> str:
        """A node in words: its links, or its link to the chosen one."""
        data: Network = self.loaded
        assert self.shown is not None
        text = data.names[node]
        focus = self.map.focus
        if focus >= 0 and node != focus:
            links = self.shown.links_of(focus)
            link = links[self.shown.other(links, focus) == node]
            if len(link):
                text += f": {data.label.lower()} {format_number(float(data.weights[link[0]]), 3)}"
                if data.confidence is not None:
                    text += f", {data.confidence_label.lower()} {format_probability(float(data.confidence[link[0]]))}"
            return text
        text += f": {format_count(int(self.shown.degree[node]))} links"
        if data.strength is not None:
            text += f", {data.strength_label.lower()} {format_number(float(data.strength[node]), 3)}"
        return text

    def _counts(self) -> str:
        assert self.shown is not None
        data: Network = self.loaded
        nodes, links, groups = len(self.shown.nodes), len(self.shown.links), self.shown.groups
        text = f"{format_count(nodes)} {plural(data.word)}, {format_count(links)} {'link' if links == 1 else 'links'}"
        return f"{text}, {format_count(groups)} separate groups" if groups > 1 else text

    def _key(self) -> str:
        """What width, dashes, paleness and size mean."""
        data: Network = self.loaded
        parts = [f"Width: {data.label.lower()}"]
        if (data.weights < 0).any():
            parts.append("dashed: below zero")
        if data.confidence is not None:
            parts.append(f"pale: small {data.confidence_label.lower()}")
        parts.append(f"size: {data.strength_label.lower() if data.strength is not None else 'links'}")
        return ", ".join(parts)

    def _tell_foot(self) -> None:
        data: Network = self.loaded
        text = "Near: strong. Esc shows all" if self.map.focus >= 0 else "Click one to see its neighbours"
        if data.total > len(data.ends):
            text += f"; the {format_count(MOST_LINKS)} strongest of {format_count(data.total)} links"
        self._foot.setText(text)

    def update_head(self) -> None:
        """The chosen node while there is one; else what the model says, or the counts."""
        if not isinstance(self.loaded, Network) or self.shown is None or self.state:
            super().update_head()
            return
        focus = self.map.focus
        if focus < 0:
            sources = self._sources
            texts = sources.text(self.view.headline), sources.text(self.view.caption)
            self.set_head(texts[0] or self._counts(), self._counts() if texts[0] else texts[1] or self._key())
            return
        count, word = int(self.shown.degree[focus]), self.loaded.word
        noun = word if count == 1 else plural(word)
        self.set_head(
            f"{self.loaded.names[focus]} is linked to {format_count(count)} {noun}",
            f"The whole network has {self._counts()}. {self._key()}",
        )

    # -- files ----------------------------------------------------------------------------------
    def figure_parts(self) -> Sequence[Sequence[QWidget]]:
        return [[self.map], [self._foot, self.legend]]

    def fill_menu(self, menu: QMenu) -> None:
        """Layout and GraphML."""
        if not isinstance(self.loaded, Network) or self.state:
            return
        menu.addAction("Lay out the links shown again", self.lay_out_again)
        menu.addAction("Export GraphML…", self.ask_graphml)

    def export_graphml(self, path: str | Path) -> Path:
        """Write the nodes and links that are shown. Raises ``OSError``."""
        from plaidwork.gui.results.network_files import write_graphml

        assert self.shown is not None
        return write_graphml(self.shown, self.map.places, path)

    def ask_graphml(self) -> None:
        """Ask for a file and write GraphML."""
        name = self.file_name(".graphml")
        path = ask_save_path(self, "Export GraphML", name, "GraphML (*.graphml)")
        if path is None:
            return
        try:
            self.export_graphml(path)
        except OSError as error:
            self.workbench.notified.emit("error", "Could not export the network", str(error), "")
        else:
            self.workbench.notified.emit("ok", f"Exported {path.name}", "", "")

    def data_content(self) -> tuple[Content, Mapping[str, Callable[[Any], str]]]:
        """The links that are shown, strongest first."""
        data: Network = self.loaded
        assert self.shown is not None
        links = self.shown.links
        names = np.array(data.names, dtype=object)
        word = capital(data.word)
        columns: dict[str, Any] = {
            word: names[data.ends[links, 0]],
            f"Other {data.word}": names[data.ends[links, 1]],
            capital(data.label): data.weights[links],
        }
        formats: dict[str, Callable[[Any], str]] = {}
        if data.confidence is not None:
            columns[capital(data.confidence_label)] = data.confidence[links]
            formats[capital(data.confidence_label)] = lambda value: format_probability(float(value))
        return columns, formats


def _top_text(top: float) -> str:
    return "all" if top >= ALL else f"{top:.0f}"

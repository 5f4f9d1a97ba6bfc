"""What each factor looks like and what it decides: one tile per factor."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtWidgets import QInputDialog, QWidget
from shiboken6 import isValid

from plaidwork.core.errors import DataError
from plaidwork.core.findings.naming import findable
from plaidwork.core.pictures.words import capital, plural
from plaidwork.core.views.sources import Sources
from plaidwork.gui.numbers import format_count, format_number
from plaidwork.gui.results.chart import ItemPicker
from plaidwork.gui.results.images import Images, NoShape, load_images, sides
from plaidwork.gui.results.option_row import Labelled, Legend, OptionRow, page_content
from plaidwork.gui.results.page import ResultPage
from plaidwork.gui.results.show_data import Content, MatrixData
from plaidwork.gui.results.tile_grid import TileGrid, TileSheet
from plaidwork.gui.widgets import ColorBar, Label, SegmentedControl

if TYPE_CHECKING:
    from plaidwork.gui.results.image_panel import ImagePanel

_ORDERS = {"weight": "Weight", "size": "Size", "number": "Number"}


class ImageGridPage(ResultPage):
    """Role ``values`` (K, D) or (K, H, W): an image each; ``weight`` (K,) or (G, K), its weight in one or G classifiers,
    with ``interval`` (…, 2) and ``weight_names`` (G,), the class that a positive weight speaks for; ``scores`` (n, K) and
    ``classes`` (n,) of the items; ``images``, the data, for the mean image of each class; ``names`` (K,).

    Height and width come from the values, the option ``shape`` or the image shape of the data. Other options: ``signed``,
    ``order_by`` ("weight", "size", "number") and ``scale`` ("shared", "own"). Choices are kept in the session.
    """

    icon_name = "tiles"
    layer_axis = ("values", 0)

    def __init__(self, workbench: Any, run: Any, view: Any, parent: QWidget | None = None) -> None:
        self._order_by = str(view.options.get("order_by", "weight"))
        self._scale = str(view.options.get("scale", "shared"))
        self._group = 0
        self._panel: ImagePanel | None = None
        self._selection = workbench.selection(run)
        super().__init__(workbench, run, view, parent)
        self._selection.changed.connect(self._on_selection)

    # -- widgets --------------------------------------------------------------------------------
    def build(self) -> QWidget:
        self.tiles = TileGrid()
        self.tiles.hovered.connect(self.hovered)
        self.tiles.chosen.connect(self.choose)
        self.tiles.mode_changed.connect(self._tell)
        self.order_picker = ItemPicker()
        self.order_picker.currentIndexChanged.connect(self._set_order)
        self.group_picker = ItemPicker()
        self.group_picker.currentIndexChanged.connect(self.choose_group)
        self._group_field = Labelled("Weights of", self.group_picker)
        self.scale = SegmentedControl([("shared", "Shared"), ("own", "Each tile")])
        self.scale.set_current(self._scale if self._scale in ("shared", "own") else "shared")
        self.scale.changed.connect(self.set_scale)
        self.legend = Legend()
        self._foot = Label("", "body", "muted", elide=True)
        self.bar = ColorBar("loom")
        options = OptionRow(
            Labelled("Order by", self.order_picker),
            Labelled("Scale", self.scale),
            self._group_field,
            self.legend,
        )
        return page_content(options, self.tiles, self._foot, self.bar)

    def side_panel(self) -> QWidget:
        """The chosen image, for the right dock."""
        from plaidwork.gui.results.image_panel import ImagePanel

        if self._panel is None or not isValid(self._panel):
            self._panel = ImagePanel()
            self._panel.setWindowTitle("Selection")
            self._panel.chosen.connect(self.choose)
            self._panel.hovered.connect(self.hovered)
            self.destroyed.connect(self._panel.deleteLater)  # it may live in a dock of the window
            self._show_chosen()
        return self._panel

    # -- loading --------------------------------------------------------------------------------
    def load(self, sources: Sources) -> Images | NoShape:
        return load_images(sources)

    def show_loaded(self, loaded: Images | NoShape) -> None:
        if isinstance(loaded, NoShape):
            self._ask_for_shape(loaded)
            return
        if not loaded.values.size:
            self.show_state("search", "Nothing to show", "The run has found nothing for this picture.")
            return
        chosen = self._selection.get("layer")
        keys = self._orders(loaded)
        if self._order_by not in keys:
            self._order_by = keys[0]
        self.order_picker.set_names([_ORDERS[key] for key in keys], keys.index(self._order_by))
        groups = loaded.weights.names if loaded.weights is not None else ()
        self._group = min(self._group, max(len(groups) - 1, 0))
        self.group_picker.set_names(groups or ("",), self._group)
        self._group_field.setVisible(len(groups) > 1)
        self.tiles.set_images(loaded)
        order = loaded.order(self._order_by, self._group)
        self.tiles.current = chosen[0] if chosen and chosen[0] < len(order) else int(order[0])
        self._draw()

    @staticmethod
    def _orders(loaded: Images) -> list[str]:
        return [key for key in _ORDERS if key != "weight" or loaded.weights is not None]

    def _draw(self) -> None:
        data: Images = self.loaded
        self.tiles.set_shown(data.order(self._order_by, self._group), self._scale, self._group)
        self.tiles.choose(self.tiles.current)
        entries: list[tuple[object, str]] = []
        if data.weights is not None:
            positive, negative = sides(data, self._group)
            entries = [("teal", positive), ("plum", negative)]
            if data.weights.intervals is not None:
                entries.append(("neutral", "interval holds zero"))
        if not np.isfinite(data.values).all():
            entries.append(("border", "left out"))
        self.legend.set_entries(entries, "Bars" if data.weights is not None else "")
        self._tell()
        self._show_chosen()
        self.update_head()

    def _tell(self) -> None:
        """Foot and colour bar."""
        data: Images = self.loaded
        count = f"{format_count(len(data.values))} {plural(data.word)}"
        if self.tiles.comparing:
            least, most = (format_number(end, 3) for end in data.mean_limits)
            self._foot.setText(f"Means of the classes from {least} to {most}; arrows go on, Esc goes back")
        elif self.tiles.enlarged:
            compare = "Space compares, " if data.means is not None else ""
            self._foot.setText(f"{compare}arrows go on, Esc shows all {count}")
        else:
            self._foot.setText(f"{count} by {_ORDERS[self._order_by].lower()}; Enter enlarges")
        own = self._scale == "own"
        low, high = data.own_limits[self.tiles.current] if own else data.limits
        middle = 0.0 if data.signed else (low + high) / 2
        if own and not self.tiles.enlarged:
            texts: tuple[str, ...] = ("−", "0", "+") if data.signed else ("least", "", "most")
        else:
            texts = tuple(format_number(float(v), 3) for v in (low, middle, high))
        clipped = (False, False) if own else data.clipped
        self.bar.set_label(f"{data.label.lower()}, own scale each" if own else data.label.lower())
        self.bar.set_limits(*texts, clipped=clipped, map_name=data.map_name)

    def _show_chosen(self) -> None:
        if self._panel is not None and isValid(self._panel) and isinstance(self.loaded, Images):
            tiles = self.tiles
            if len(tiles.order):
                self._panel.set_shown(self.loaded, tiles.order, self._scale, self._group, tiles.current)

    # -- image shape ----------------------------------------------------------------------------
    def _ask_for_shape(self, missing: NoShape) -> None:
        self.set_head(self.view.title, "")
        text = f"Each has {format_count(missing.pixels)} numbers, and nothing says the height and width of an image."
        actions = [("Set image shape…", self.ask_shape)] if missing.dataset else []
        self.show_state("image", "These data are not known to be images", text, actions)

    def ask_shape(self) -> None:
        """Ask for height and width, and note them with the data."""
        missing: NoShape = self.loaded
        side = round(missing.pixels**0.5)
        guess = f"{side} × {side}" if side * side == missing.pixels else ""
        text, given = QInputDialog.getText(
            self, "Set image shape", f"Height × width in pixels, {missing.pixels} in all:", text=guess
        )
        if given:
            self.set_shape(text)

    def set_shape(self, text: str) -> None:
        """Note ``16 × 16`` as image shape of the data; what is wrong with it is shown in a message."""
        missing: NoShape = self.loaded
        sides = tuple(int(part) for part in re.findall(r"\d+", text))
        dataset = self.workbench.session.datasets.get(missing.dataset)
        try:
            if len(sides) != 2:
                raise DataError(f"Needs height × width, as in “16 × 16”. Found “{text}”.")
            if dataset is not None:
                self.workbench.replace_dataset(missing.dataset, dataset.with_(image_shape=sides))
        except DataError as error:
            self.workbench.notified.emit("error", "Could not set the image shape", error.message, "")
            return
        self.refresh()

    # -- choices --------------------------------------------------------------------------------
    def choose(self, k: int) -> None:
        """Choose an image, here and in every view of the run."""
        if isinstance(self.loaded, Images):
            self.tiles.choose(k)
            self._tell()
            self._show_chosen()
            self._selection.set("layer", (k,))

    def _set_order(self, index: int) -> None:
        if isinstance(self.loaded, Images) and index >= 0:
            self._order_by = self._orders(self.loaded)[index]
            self._draw()

    def choose_group(self, group: int) -> None:
        """Show the weights of another classifier."""
        if isinstance(self.loaded, Images) and group >= 0:
            self._group = group
            self._draw()

    def set_scale(self, scale: str) -> None:
        """One scale for all tiles, or one for each."""
        self._scale = scale
        if isinstance(self.loaded, Images) and not self.state:
            self._draw()

    def _on_selection(self, kind: str) -> None:
        chosen = self._selection.get("layer")
        if kind != "layer" or not chosen or not isinstance(self.loaded, Images) or self.state:
            return
        if chosen[0] < len(self.loaded.values) and chosen[0] != self.tiles.current:
            self.tiles.choose(chosen[0])
            self._tell()
            self._show_chosen()

    def search(self, text: str) -> list[str]:
        """Choose the first image whose name holds the text."""
        if not isinstance(self.loaded, Images):
            return []
        wanted = text.casefold()
        hits = [k for k, name in enumerate(self.loaded.names) if text and wanted in findable(name)]
        if hits:
            self.choose(hits[0])
        return [self.loaded.names[k] for k in hits]

    def leave(self) -> bool:
        """Show all tiles."""
        if not self.tiles.enlarged:
            return False
        self.tiles.enlarge(False)
        return True

    # -- words and files ------------------------------------------------------------------------
    def default_headline(self) -> str:
        data = self.loaded
        if not isinstance(data, Images) or not data.values.size:
            return self.view.title
        total, words = len(data.values), plural(data.word)
        if data.weights is None or data.weights.intervals is None:
            high, wide = data.shape
            return f"{format_count(total)} {words} as images of {high} × {wide}"
        g = self._group
        sure = sum(not data.weights.doubtful(g, k) for k in range(total))
        verb = "helps" if sure == 1 else "help"
        goal = "to tell the classes apart"
        name = data.weights.names[g]
        if len(data.classes) == 2:
            goal = f"to tell {data.classes[0]} from {data.classes[1]}"
        elif name:
            goal = f"to tell {name} from the others"
        return f"{format_count(sure)} of {format_count(total)} {words} {verb} {goal}"

    def default_caption(self) -> str:
        data = self.loaded
        if not isinstance(data, Images):
            return ""
        if data.weights is not None and data.weights.intervals is not None:
            return f"One counts as helping when the interval of its {data.weights.label.lower()} leaves out zero."
        return data.doc

    def figure_parts(self) -> Sequence[Sequence[QWidget]]:
        picture: QWidget = self.tiles
        if isinstance(self.loaded, Images) and not self.tiles.enlarged:
            for old in self.tiles.findChildren(TileSheet):
                old.deleteLater()
            picture = TileSheet(self.tiles)
        return [[picture], [self.legend], [self._foot, self.bar]]

    def fill_menu(self, menu: Any) -> None:
        """Enlarging and comparing, for the mouse."""
        if not isinstance(self.loaded, Images):
            return
        tiles = self.tiles
        menu.addAction(
            "Show all tiles" if tiles.enlarged else "Enlarge", lambda: tiles.enlarge(not tiles.enlarged)
        )
        if self.loaded.means is not None and not tiles.comparing:
            menu.addAction("Compare with the mean of each class", lambda: tiles.enlarge(True, True))

    def data_content(self) -> tuple[Content, Mapping[str, Callable[[Any], str]]]:
        """A row an image, in the order shown: weights, intervals and size, then its pixels line by line."""
        data: Images = self.loaded
        titles, columns = [], []
        if data.weights is not None:
            label = capital(data.weights.label)
            for g, name in enumerate(data.weights.names):
                title = f"{label}, {name}" if len(data.weights.names) > 1 else label
                titles.append(title)
                columns.append(data.weights.values[g])
                if data.weights.intervals is not None:
                    titles += [f"{title}, low", f"{title}, high"]
                    columns += list(data.weights.intervals[g].T)
        high, wide = data.shape
        titles += ["Size", *(f"Row {i + 1}, column {j + 1}" for i in range(high) for j in range(wide))]
        order = self.tiles.order
        values = np.column_stack([*columns, data.size, data.values.reshape(len(data.values), -1)])[order]
        return MatrixData(values, [data.names[k] for k in order], titles, capital(data.word)), {}

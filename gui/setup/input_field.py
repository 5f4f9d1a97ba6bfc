"""One input of a model in a form: which data of the session it takes, and how many rows of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QCheckBox, QMenu, QWidget

from plaidwork.core.contract.spec import Input
from plaidwork.core.data.annotation_inputs import ColumnRef, parse_column
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.data.measured import outcome_sentence
from plaidwork.core.data.orienting import Placed
from plaidwork.core.data.outcomes import column_of, measured_of
from plaidwork.core.draws.counting import counted
from plaidwork.core.session.offers import offer, wants, why_not
from plaidwork.core.session.suitability import Choices
from plaidwork.gui.data.facts import missing_text, size_text
from plaidwork.gui.language import tr
from plaidwork.gui.numbers import format_count
from plaidwork.gui.setup.editors import QuietCombo
from plaidwork.gui.setup.error_line import ErrorLine
from plaidwork.gui.setup.samples_field import SamplesField
from plaidwork.gui.style import set_variant
from plaidwork.gui.theme import space
from plaidwork.gui.widgets import Label, button
from plaidwork.gui.widgets.layouts import horizontal, vertical

SUBSETS = (200, 500, 1000, 2000, 5000)
"""Numbers of rows offered for tall matrices."""


class InputField(QWidget):
    """A combo box with the suitable datasets, and with ``columns`` their annotations and measurements as columns; check boxes for many.

    Where an input takes several columns, a menu beside the box adds one more to those that are chosen.

    With ``imports`` an empty field that is required has a button for importing data.

    Signals
    -------
    changed : another choice, or another number of rows
    picked : the user has chosen, before ``changed``
    import_requested : the user wants to import data for it
    """

    changed = Signal()
    picked = Signal()
    import_requested = Signal()

    def __init__(
        self, item: Input, parent: QWidget | None = None, *, columns: bool = True, imports: bool = True
    ) -> None:
        super().__init__(parent)
        self.item = item
        self._imports = imports
        self.decided = False
        """Whether the choice was made on purpose; what was only proposed follows the other inputs."""
        self._columns = columns
        self._offer = offer(item, {})
        self._choices = Choices({})
        self._made: dict[str, Dataset] = {}
        self._checks: dict[str, QCheckBox] = {}
        self._unfit: list[QCheckBox] = []
        self.combo = QuietCombo()
        self._import = button("Import…", self.import_requested.emit, icon_name="import")
        self.more = button("Add a column")
        self._menu = QMenu(self)
        self.more.setMenu(self._menu)
        self.more.setToolTip(tr("Values of several columns are fitted together"))
        self.more.setObjectName(f"more_{item.name}")
        self.more.hide()
        self.rows = QuietCombo()
        self.rows.setAccessibleName(tr(f"Rows of {item.title} to use"))
        self.rows.setObjectName(f"rows_{item.name}")
        self._rows_label = Label("Rows to use")
        self._rows_label.setBuddy(self.rows)
        self._rows_help = Label("", "caption", "muted", wrap=True)
        self._boxes = vertical(spacing=space.XS)
        self._help = Label("", "caption", "muted", wrap=True)
        self._error = ErrorLine()
        self.samples = SamplesField()
        self._samples: dict[str, tuple[str, ...]] = {}
        self.combo.setAccessibleName(tr(item.title))
        self.combo.setPlaceholderText(tr("Choose a column" if item.kind != "matrix" else "Choose data"))
        self.combo.setObjectName(f"input_{item.name}")
        self.combo.currentIndexChanged.connect(lambda _: self._picked())
        label = Label(item.title, elide=True)
        label.setBuddy(self.combo)
        label.setToolTip(item.name)
        row = horizontal((self.combo, 1), self.more, self._import, spacing=space.S)
        column = vertical(
            label, row, self._boxes, self._help, self.samples, self._error, space.S, on=self, spacing=space.XS
        )
        for widget in (self._rows_label, self.rows, self._rows_help):
            column.addWidget(widget)
            widget.hide()
        self.rows.currentIndexChanged.connect(lambda _: self._rows_edited())
        self.setFocusProxy(self.combo)

    # -- content --------------------------------------------------------------------------------
    def set_datasets(self, datasets: Mapping[str, Dataset]) -> None:
        """Offer the suitable ones; what was chosen stays, and an empty field takes what suits it best."""
        self.set_choices(Choices(datasets))
        if not self.chosen:
            self._choose(self._choices.choose(self._offer))

    def set_choices(self, choices: Choices) -> None:
        """Offer the suitable ones in their order; what was chosen stays if it is still there."""
        before, datasets = self.chosen, choices.session
        self._choices, self._made = choices, {}
        offered = choices.offer(self.item) if self._columns else offer(self.item, datasets, columns=False)
        self._offer = offered
        blocker = QSignalBlocker(self.combo)
        self.combo.clear()
        if not self.item.required or not offered.datasets:
            nothing = "Choose a column" if offered.all_columns else "No suitable data in this session"
            self.combo.addItem(tr("None" if not self.item.required else nothing), "")
        for name, dataset in offered.datasets.items():
            self.combo.addItem(f"{name}   ({tr(size_text(dataset))})", name)
        for key, ref in offered.all_columns.items():
            self._add_column(key, ref)
        for name, dataset in datasets.items():
            if name not in offered and self.item.required:
                self.combo.addItem(f"{name}   {tr(why_not(self.item, dataset))}", "")
                self.combo.model().item(self.combo.count() - 1).setEnabled(False)  # type: ignore[attr-defined]
        blocker.unblock()
        self._make_boxes(datasets)
        self.combo.setVisible(not self._checks)
        self._choose([name for name in before if name in offered])

    def dataset(self, name: str) -> Dataset:
        """What is chosen under a name: a dataset of the session, or the annotation column of one."""
        if name in self._offer.datasets:
            return self._offer.datasets[name]
        if name not in self._made:
            self._made[name] = self._choices.dataset(self.item, name)
        return self._made[name]

    def _make_boxes(self, datasets: Mapping[str, Dataset]) -> None:
        for box in (*self._checks.values(), *self._unfit):
            box.hide()
            box.deleteLater()
        self._checks.clear()
        self._unfit.clear()
        if not self.item.many:
            return
        for name, dataset in self._offer.datasets.items():
            box = QCheckBox(f"{name}   ({tr(size_text(dataset))})")
            box.toggled.connect(lambda _: self._picked())
            self._checks[name] = box
            self._boxes.addWidget(box)
        for name, dataset in datasets.items() if self._checks else ():
            if name not in self._offer and len(dataset.shape) == 2:
                box = QCheckBox(f"{name}   {tr(why_not(self.item, dataset))}")
                box.setEnabled(False)
                self._unfit.append(box)
                self._boxes.addWidget(box)

    @property
    def chosen(self) -> list[str]:
        """Names of the datasets chosen."""
        if self._checks:
            return [name for name, box in self._checks.items() if box.isChecked()]
        name = self.combo.currentData()
        return [name] if name else []

    def choose(self, names: Sequence[str]) -> None:
        """Choose by name, on purpose; names that do not suit are left out."""
        self.decided = True
        self._choose(names)

    def propose(self, names: Sequence[str]) -> None:
        """Choose by name until somebody decides; nothing is chosen in place of what does not suit."""
        self.decided = False
        self._choose(names)

    def _choose(self, names: Sequence[str]) -> None:
        for name, box in self._checks.items():
            blocker = QSignalBlocker(box)
            box.setChecked(name in names)
            blocker.unblock()
        blocker = QSignalBlocker(self.combo)
        index = next((self._index_of(name) for name in names if name in self._offer), -1)
        if index < 0 and self.combo.itemData(0) == "":  # “None”, or that there is nothing
            index = 0
        self.combo.setCurrentIndex(index)
        blocker.unblock()
        self._edited()

    def _add_column(self, key: str, ref: ColumnRef) -> None:
        where = f"columns of {ref.dataset}" if ref.axis else f"in {ref.dataset}"
        if key in self._offer.measured:
            where = tr(f"measured in {ref.dataset}")
        self.combo.addItem(f"{ref.titles.replace(';', ', ')}   ({where})", key)

    def _index_of(self, name: str) -> int:
        """Where a choice is in the box; one of several columns is put there first."""
        found = self.combo.findData(name)
        ref = parse_column(name, self._choices.session)
        if found < 0 and ref is not None and self._offer.parts(name):
            self._add_column(name, ref)
            return self.combo.count() - 1
        return found

    def add_column(self, name: str) -> None:
        """Choose one more column beside those that are chosen."""
        chosen = self.chosen[0]
        self.choose([self._offer.joined([*(self._offer.parts(chosen) or [chosen]), name])])
        self.picked.emit()

    def _offer_more(self) -> None:
        """Columns that may be chosen beside those that are."""
        self._menu.clear()
        chosen = self.chosen
        for key in self._offer.beside(chosen[0]) if len(chosen) == 1 else ():
            action = self._menu.addAction(self._offer.all_columns[key].titles)
            action.triggered.connect(partial(self._add_picked, key))
        self.more.setVisible(not self._menu.isEmpty())

    def _add_picked(self, name: str, _checked: bool = False) -> None:
        self.add_column(name)

    def _picked(self) -> None:
        self.decided = True
        self.picked.emit()
        self._edited()

    # -- subset ---------------------------------------------------------------------------------
    @property
    def subset(self) -> int:
        """How many of the rows that vary most to use; 0 for all."""
        return int(self.rows.currentData() or 0) if self.rows.count() else 0

    def _offer_rows(self) -> None:
        dataset = self.dataset(self.chosen[0]) if len(self.chosen) == 1 else None
        total = dataset.shape[0] if dataset is not None else 0
        usual = self.item.kind == "matrix" and self.item.required and not self.item.many
        vary = (
            dataset is not None and not dataset.is_sparse and dataset.shape[1:] != (1,)
        )  # a single value does not
        offered = [n for n in SUBSETS if n < total] if usual and vary else []
        before = self.subset
        blocker = QSignalBlocker(self.rows)
        self.rows.clear()
        if offered and dataset is not None:
            self.rows.addItem(tr(f"All {format_count(total)} {dataset.row_label}"), 0)
            for number in offered:
                self.rows.addItem(tr(f"{format_count(number)} {dataset.row_label} that vary most"), number)
            self.rows.setCurrentIndex(max(0, self.rows.findData(before)))
        blocker.unblock()
        for widget in (self._rows_label, self.rows, self._rows_help):
            widget.setVisible(bool(offered))
        self._tell_rows()

    def _tell_rows(self) -> None:
        if self.rows.count() and len(self.chosen) == 1:
            dataset = self.dataset(self.chosen[0])
            if self.subset:
                ratio = dataset.shape[0] / self.subset
                times = f"{ratio:.0f}" if ratio >= 3 else f"{ratio:.1f}"
                self._rows_help.setText(f"A data set of its own. All rows need about {times} times longer.")
            else:
                self._rows_help.setText("A first look is quicker with the rows that vary most")

    def _rows_edited(self) -> None:
        self._tell_rows()
        self.tell("")
        self.changed.emit()

    # -- problems -------------------------------------------------------------------------------
    @property
    def problem(self) -> str:
        """What is missing, or empty."""
        if not self.item.required or self.chosen:
            return ""
        doc = f" {self.item.doc}" if self.item.doc else ""
        return f"Needs {wants(self.item)}.{doc}"

    @property
    def shown_problem(self) -> str:
        """What the field says is wrong."""
        return self._error.text

    def tell(self, problem: str) -> None:
        """Show a problem; the next choice clears it."""
        self._error.set_text(problem)
        set_variant(self.combo, "invalid", bool(problem))
        self._help.setVisible(bool(self._help.text()) and not problem)

    def leave(self) -> None:
        """Judge the choice."""
        self.tell(self.problem)

    def _edited(self) -> None:
        self._offer_more()
        self._tell_help()
        self._offer_rows()
        self.tell("")
        self.changed.emit()

    def show_placed(self, placed: Sequence[Placed], choose: bool = True) -> None:
        """Where the samples of the chosen matrices are, when that is worth a word; with ``choose`` it can be said."""
        self.samples.show_placed(placed, self.item.many, choose)
        names = {one.dataset.name: (one.dataset.row_names, one.dataset.column_names) for one in placed}
        self._samples = {
            one.dataset.name: names[one.dataset.name][one.wanted if one.axis is None else one.axis]
            for one in placed
        }
        if len(self.chosen) > 1:
            self._tell_help()

    def _tell_help(self) -> None:
        chosen = self.chosen
        text = self.item.doc
        if len(chosen) == 1:
            dataset = self.dataset(chosen[0])
            steps = "; ".join(str(step) for step in dataset.steps[-3:])
            parts = [missing_text(dataset.shape, dataset.n_missing)] if dataset.n_missing else []
            parts += [steps] if steps else []
            said = ", ".join(parts)
            text = (f"{said[0].upper()}{said[1:]}. " if said else "") + text
            text = f"{self._companions(chosen[0])} {text} {self._taken_out(dataset)}".strip()
        elif len(chosen) > 1:
            text = f"{self._joined(chosen)} {text}"
        self._import.setVisible(self._imports and self.item.required and not chosen)
        self._help.setText(text)
        self._help.setVisible(bool(text))

    def _taken_out(self, column: Dataset) -> str:
        """That the measurements that are chosen are no longer among the inputs, in a sentence."""
        ref = column_of(column)
        base = self._choices.session.get(ref.dataset) if ref is not None else None
        titles = measured_of(base, ref) if base is not None and ref is not None else []
        return outcome_sentence(titles, base.name) if titles and base is not None else ""

    def _companions(self, chosen: str) -> str:
        """Which matrices could be used together with the one that is ticked, in a sentence."""
        found = [n for n in self._checks if n != chosen and self._choices.related(chosen, n)]
        if not found:
            return ""
        shown = f"“{found[0]}” has" if len(found) == 1 else f"{counted(len(found), 'other data set')} have"
        return f"{shown} samples in common with it: tick to use them together."

    def _joined(self, chosen: Sequence[str]) -> str:
        """How many samples the matrices have in common, in a sentence."""
        rows = [set(self._samples.get(name, self.dataset(name).row_names)) for name in chosen]
        union, common = set.union(*rows), set.intersection(*rows)
        first = self.dataset(chosen[0])
        turned = self._samples.get(first.name) == first.column_names
        word = first.column_label if turned else first.row_label
        word = "samples" if word in ("rows", "columns") else word
        text = f"{format_count(len(union))} {word} in all, {format_count(len(common))} of them with a row in every matrix."
        return text if common or self.item.union else "No sample is in all of these."

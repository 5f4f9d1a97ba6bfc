"""The field for data that the fit has not seen: the data of the fit come last, and a file can be chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QSignalBlocker
from PySide6.QtWidgets import QWidget

from plaidwork.core.contract.spec import Input, ModelSpec
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.session.offers import views_with
from plaidwork.core.session.suitability import Choices
from plaidwork.gui.language import tr
from plaidwork.gui.setup.input_field import InputField

_OF_THE_FIT = "the data of the fit"


def is_new(item: Input, model: ModelSpec) -> bool:
    """Whether an input of an analysis is of items of its own, none of those that the model was fitted to."""
    return not {dim for one in model.inputs for dim in one.dims} & set(item.dims)


class NewDataField(InputField):
    """Offers other data first, those of the fit last and called so; nothing is chosen that has no feature of the fit.

    ``import_requested``: the user wants to choose a file.
    """

    def __init__(self, item: Input, fitted: Sequence[Dataset], parent: QWidget | None = None) -> None:
        self._fitted = list(fitted)
        super().__init__(item, parent, columns=item.kind != "matrix")
        self.choose_file = self._import
        self.choose_file.setText(tr("Choose a file…"))
        self.choose_file.setToolTip(tr("Read new samples; they become data of this session"))

    def set_datasets(self, datasets: Mapping[str, Dataset], choose: bool = True) -> None:
        """Offer the suitable ones, those of the fit last; the one with most features of the fit is chosen."""
        before = self.chosen
        own = {data.name for data in self._fitted}
        ordered = {name: data for name, data in datasets.items() if name not in own}
        ordered |= {name: data for name, data in datasets.items() if name in own}
        self.set_choices(Choices(ordered))
        self._say_which(own)
        kept = [name for name in before if name in self._offer]
        if not kept and choose and self.item.required:
            kept = self._likely([name for name in self._offer.datasets if name not in own])
        self.choose(kept)

    def _tell_help(self) -> None:
        super()._tell_help()
        self._import.setVisible(self.item.kind == "matrix")

    def _say_which(self, own: set[str]) -> None:
        """Mark the data of the fit, and begin with no choice."""
        blocker = QSignalBlocker(self.combo)
        if self.combo.itemData(0) != "":
            self.combo.insertItem(0, tr("Choose data, or a file"), "")
        for index in range(self.combo.count()):
            key = self.combo.itemData(index)
            ref = self._offer.all_columns.get(key)
            of = ref.dataset if ref is not None else key
            if of in own:
                self.combo.setItemText(index, f"{self.combo.itemText(index)}, {tr(_OF_THE_FIT)}")
        blocker.unblock()
        for name, box in self._checks.items():
            if name in own:
                box.setText(f"{box.text()}, {tr(_OF_THE_FIT)}")

    def _likely(self, names: Sequence[str]) -> list[str]:
        """The data with most features of the fit; for several matrices with those of the same samples."""
        features = {name for data in self._fitted for name in data.column_names}
        found = self._offer.datasets
        common = {name: len(features & set(found[name].column_names)) for name in names}
        best = max(common, key=lambda name: common[name], default="")
        if not best or not common[best]:
            return []
        if not self.item.many:
            return [best]
        together = views_with(found[best], [found[name] for name in names if common[name]])
        return [data.name for data in together]

"""Imputed cells as a picture: where they are, what is told of them, the list behind it, the file that it offers."""

from __future__ import annotations

import numpy as np
import pytest

from plaidwork.core.contract.spec import View
from plaidwork.core.pictures import Key
from plaidwork.core.views import imputed
from plaidwork.core.views.drawing import picture_of
from plaidwork.core.views.sources import SourceError
from tests.core.views.drawn import sources

VIEW = View("imputed", "Imputation", "fitted:X")


class _Fitted:
    """The input X with two gaps, and what is expected in them."""

    name, offered = "X", True

    def __init__(self, values):
        self.blocks = (type("Block", (), {"name": "drugs", "unit": "mM", "values": values, "truth": None, "shape": values.shape}),)  # fmt: skip

    def missing(self, index):
        return np.isnan(self.blocks[index].values)

    def imputed(self, index, most=None):
        columns, rows = np.nonzero(self.missing(index).T)
        yield rows[:most], columns[:most], rows[:most] + 0.25, np.full(len(rows[:most]), 0.5)

    def shown_names(self, index):
        n, m = self.blocks[index].shape
        return [f"patient {i + 1}" for i in range(n)], [f"drug {j + 1}" for j in range(m)]

    def agreement(self, index, rows, columns):
        return 0.984


@pytest.fixture
def drawn(monkeypatch):
    def draw(gaps):
        found = sources(VIEW, {})
        values = np.arange(100.0).reshape(20, 5)
        for row, column in gaps:
            values[row, column] = np.nan
        monkeypatch.setattr(found, "fitted", lambda role: _Fitted(values))
        monkeypatch.setattr(type(found.run), "n_draws", 3)
        return picture_of(found)

    return draw


def test_cells_are_filled_in_where_they_are(drawn):
    picture = drawn([(4, 3), (7, 1)])
    below, above = picture.panels[0].marks
    assert np.argwhere(np.isfinite(above.values)).tolist() == [[4, 3], [7, 1]]
    assert np.argwhere(np.isnan(below.values)).tolist() == [[4, 3], [7, 1]]
    assert above.text(4 * 5 + 3) == "patient 5, drug 4: missing, expected 4.25 ± 0.5"
    assert above.text(6) == "patient 2, drug 2: 6"
    assert picture.legend[0] == Key("as measured", "grey3")
    assert picture.table["Patient"].tolist() == ["patient 8", "patient 5"]
    assert picture.table["Expected (mM)"].tolist() == [7.25, 4.25]
    assert picture.notes.startswith("2 missing cells, 2 % of drugs; two halves of the chains agree")
    assert [file.title for file in picture.files] == ["Export all imputed cells…"]


def test_only_the_first_are_computed_and_that_is_told(drawn, monkeypatch):
    monkeypatch.setattr(imputed, "MOST_CELLS", 1)
    picture = drawn([(4, 3), (7, 1)])
    assert "the first 1 are filled in and listed" in picture.notes
    assert len(picture.table["Patient"]) == 1
    assert Key("missing", "border", "missing") in picture.legend


def test_nothing_to_impute_and_no_model(drawn):
    assert drawn([]).empty[0] == "Nothing is missing"
    found = sources(VIEW, {})
    with pytest.raises(SourceError, match="has to be installed"):
        picture_of(found)

"""Which annotation is shown in place of the names of an axis, told by its address."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from plaidwork.core.data.annotation_inputs import AXES, parse_column
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.errors import DataError, SettingError


def with_shown(
    data: Mapping[str, Sequence[Dataset]], shown_by: str | Sequence[str]
) -> dict[str, list[Dataset]]:
    """The datasets by input with annotations shown in place of names: ``INPUT:row:TITLE`` or ``INPUT:column:TITLE``, for
    every dataset of the input that has it.

    Raises ``SettingError`` for what is no such address, ``DataError`` when no dataset of the input has the annotation.
    """
    found = {name: list(given) for name, given in data.items()}
    for text in (shown_by,) if isinstance(shown_by, str) else shown_by:
        ref = parse_column(text, found)
        if ref is None:
            raise SettingError(
                f"An annotation to show is named INPUT:row:TITLE or INPUT:column:TITLE. Found “{text}”.",
                f"Inputs given: {', '.join(found)}.",
            )
        tables = [one.column_table if ref.axis else one.row_table for one in found[ref.dataset]]
        if not any(ref.titles in table for table in tables):
            known = ", ".join(dict.fromkeys(title for table in tables for title in table))
            raise DataError(
                f"{ref.dataset} has no annotation “{ref.titles}” of its {AXES[ref.axis]}s.",
                f"There are: {known or 'none'}.",
            )
        change = {f"{AXES[ref.axis]}_shown_by": ref.titles}
        found[ref.dataset] = [
            one.with_(**change) if ref.titles in table else one
            for one, table in zip(found[ref.dataset], tables, strict=True)
        ]
    return found

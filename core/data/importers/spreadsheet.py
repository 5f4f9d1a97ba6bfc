"""Sheets of Excel and OpenDocument files, read like tables as text. They need the extra ``excel``."""

from __future__ import annotations

from plaidwork.core.data.importers._sheet import SUFFIXES
from plaidwork.core.data.importers.delimited import DelimitedReader


class SpreadsheetReader(DelimitedReader):
    """A sheet as a table: its numbers as they are, dates and truth values as text, errors as the text they show.

    Options: those of ``spreadsheet`` in :mod:`plaidwork.core.data.reading_options`; ``sheet`` has to be given when several
    hold cells. Errors such as #DIV/0! cannot be told from empty cells in .xls and .xlsb, which is said.
    """

    id = "spreadsheet"
    title = "Excel and OpenDocument"
    suffixes: tuple[str, ...] = SUFFIXES

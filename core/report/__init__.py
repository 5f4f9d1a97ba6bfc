"""A session as a page to read: what was fitted to which data, whether to trust it, what was found, how to repeat it."""

from plaidwork.core.report.bibtex import bibtex
from plaidwork.core.report.content import BESIDE, PAGE, Drawing, Figure, Listed, Report, RunPart
from plaidwork.core.report.making import best_views, make_report
from plaidwork.core.report.methods import methods_text, references_of
from plaidwork.core.report.page import html_of, write_report

__all__ = [
    "BESIDE",
    "PAGE",
    "Drawing",
    "Figure",
    "Listed",
    "Report",
    "RunPart",
    "best_views",
    "bibtex",
    "html_of",
    "make_report",
    "methods_text",
    "references_of",
    "write_report",
]

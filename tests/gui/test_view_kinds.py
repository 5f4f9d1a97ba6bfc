"""The catalogue of views and the pages of the window speak of the same kinds."""

import inspect

from plaidwork.core.spec import View
from plaidwork.core.view_kinds import VIEW_KINDS
from plaidwork.gui.results.page import ResultPage
from plaidwork.gui.results.registry import PAGES, view_icon


def test_every_kind_has_a_page():
    assert set(PAGES) == set(VIEW_KINDS)
    for load in PAGES.values():
        assert issubclass(load(), ResultPage)


def test_pages_read_the_roles_of_the_catalogue():
    for name, load in PAGES.items():
        source = inspect.getsource(inspect.getmodule(load()))
        if name == "biclusters":
            from plaidwork.gui.results import blocks

            source += inspect.getsource(blocks)
        for role in VIEW_KINDS[name].roles:
            assert f'"{role.name}"' in source, f"{name} does not read {role.name}"


def test_icons():
    assert view_icon(View("bars", "B", "x")) == "histogram"
    assert view_icon(View("nothing", "B", "x")) == "chart"

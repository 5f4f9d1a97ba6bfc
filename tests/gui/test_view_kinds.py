"""The catalogue of views and the pages of the window speak of the same kinds."""

import inspect
from importlib import import_module
from importlib.util import find_spec

from plaidwork.core.contract.spec import View
from plaidwork.core.contract.view_kinds import VIEW_KINDS as CATALOGUE
from plaidwork.core.views.drawing import is_picture
from plaidwork.gui.results.page import ResultPage
from plaidwork.gui.results.registry import VIEW_KINDS, view_icon

_READ_IN = {
    "biclusters": "blocks block_levels",
    "scatter": "scores decision",
    "feature_fit": "scores",
    "beeswarm": "scores",
    "image_grid": "images",
    "surface": "surface_map",
    "documents": "documents_data",
    "confusion": "assessed",
    "roc": "assessed",
    "calibration": "assessed",
    "shares": "assessed",
    "network": "network_data",
}
"""Modules other than the page's or the view's that look up the roles of a kind."""


def test_every_kind_has_a_page():
    assert set(VIEW_KINDS) == set(CATALOGUE)
    for kind in VIEW_KINDS.values():
        assert issubclass(kind.load(), ResultPage)


def test_pages_read_the_roles_of_the_catalogue():
    for name, kind in VIEW_KINDS.items():
        drawn = is_picture(name)
        page = import_module(f"plaidwork.core.views.{name}") if drawn else inspect.getmodule(kind.load())
        source = inspect.getsource(page)
        for module in _READ_IN.get(name, "").split():
            room = "core.views" if find_spec(f"plaidwork.core.views.{module}") else "gui.results"
            source += inspect.getsource(import_module(f"plaidwork.{room}.{module}"))
        for role in CATALOGUE[name].roles:
            assert f'"{role.name}"' in source, f"{name} does not read {role.name}"


def test_icons():
    assert view_icon(View("bars", "B", "x")) == "histogram"
    assert view_icon(View("nothing", "B", "x")) == "chart"

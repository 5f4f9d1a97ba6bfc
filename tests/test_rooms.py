"""The rooms of ``core``: what lies where, and who may know whom."""

from source_tree import graph_of

LAYERS = (
    "base",
    "numerics",
    "contract",
    "draws",
    "pictures",
    "hdf5",
    "data",
    "inference",
    "findings",
    "plugins",
    "session",
    "views",
    "study",
    "report",
    "checks",
    "cli",
    "front",
)
"""From the ground up: a module imports modules of its own room and of those before it, within functions too."""

AT_THE_ROOT = {
    "": "base",  # version and environment; fit, open_session and the like are looked up by name when asked for
    "errors": "base",
    "config": "base",
    "deferred": "base",
    "pieces": "base",
    "providers": "base",
    "resources": "base",
    "subprocesses": "base",
    "spelling": "base",
    "quoting": "base",
    "refusals": "base",
    "markdown": "session",
    "kernel_cache": "base",  # numba looks it up by name
    "job": "session",  # scripts that were exported import it from here
    "analysing": "session",  # so do scripts that follow docs/python.md
    "api": "front",
}
"""Modules without a room: the ground, and addresses that are promised to others."""


def _layer(module):
    inside = module.removeprefix("plaidwork.core").removeprefix(".")
    room = AT_THE_ROOT.get(inside, "front" if inside.startswith("api_") else inside.split(".")[0])
    assert room in LAYERS, f"{module} is in no room; see LAYERS in tests/test_rooms.py"
    return LAYERS.index(room)


def test_rooms_know_only_those_below():
    assert not [
        f"{module} imports {other}"
        for module, others in graph_of("core").items()
        for other in sorted(others)
        if _layer(other) > _layer(module)
    ]


def test_all_rooms_are_there():
    found = {_layer(module) for module in graph_of("core")}
    assert found == set(range(len(LAYERS)))

"""Plugins that fail, in every way there is: the program goes on and the message names the plugin."""

from types import ModuleType

import pytest
from toys import Climb, Walk

from plaidwork.core.api import Model
from plaidwork.core.errors import PluginError, SessionError
from plaidwork.core.plugins import finding
from plaidwork.core.plugins.registry import Registry


class Point:
    """An entry point of an installed package."""

    dist = None

    def __init__(self, name, load, value="guest"):
        self.name, self._load, self.value = name, load, value

    def load(self):
        return self._load()


class Unfinished(Model):
    spec = Walk.spec
    init = step = Walk.step


def _plugin(name="guest", **hooks):
    plugin = ModuleType(name)
    for hook, found in hooks.items():
        setattr(plugin, hook, found if callable(found) else lambda found=found: found)
    return plugin


def _raise(error):
    raise error


@pytest.fixture
def load(monkeypatch):
    """A registry that finds these guests and no built-in."""

    def make(*points, **options):
        monkeypatch.setattr(finding, "entry_points", lambda group: points)
        monkeypatch.setattr(finding.pkgutil, "iter_modules", lambda path: ())
        return Registry(**options).load()

    return make


def _walk(load, **options):
    return load(
        Point("bad", lambda: _raise(RuntimeError("no such luck"))),
        Point("good", lambda: _plugin(plaidwork_models=[Walk])),
        **options,
    )


def test_import_error_is_kept_and_the_rest_goes_on(load):
    found = _walk(load)
    bad, good = found.plugins
    assert (bad.name, bad.state) == ("bad", "failed")
    assert bad.message.startswith("Could not be imported: RuntimeError: no such luck (test_registry.py:")
    assert "_raise" in bad.details
    assert (good.state, good.models, good.version) == ("ok", ["toy.walk"], "1.2")
    assert isinstance(found.model("toy.walk"), Walk)


@pytest.mark.parametrize(
    ("hooks", "state", "words"),
    [
        ({"plaidwork_models": lambda: _raise(KeyError("x"))}, "failed", "KeyError"),
        ({"plaidwork_models": lambda: _raise(SystemExit(3))}, "failed", "SystemExit"),
        ({"plaidwork_models": ["toys:Nothing"]}, "failed", "toys has no class Nothing"),
        ({"plaidwork_models": ["no_such_module:Nothing"]}, "failed", "no_such_module"),
        ({"plaidwork_models": [dict]}, "failed", "not a Model"),
        ({"plaidwork_models": None}, "failed", "plaidwork_models"),
        ({"plaidwork_models": [Unfinished]}, "failed", "no method draws, summarise"),
        ({"plaidwork_models": [Walk, Walk]}, "failed", "already taken"),
        ({"plaidwork_readers": lambda: _raise(OSError("gone"))}, "failed", "gone"),
        ({"plaidwork_samples": lambda: _raise(OSError("lost"))}, "failed", "lost"),
        ({"plaidwork_analyses": lambda: _raise(OSError("away"))}, "failed", "away"),
        ({"plaidwork_analyses": [dict]}, "failed", "Analysis"),
        ({"plaidwork_modles": []}, "failed", "Unknown hook plaidwork_modles"),
    ],
)
def test_broken_plugin_is_named(load, hooks, state, words):
    found = load(
        Point("guest", lambda: _plugin(**hooks)), Point("next", lambda: _plugin(plaidwork_models=[Climb]))
    )
    info = found.plugins[0]
    assert info.name == "guest"
    assert info.state == state
    assert words in info.message
    assert [spec.id for spec in found.specs()] == ["toy.climb"]


@pytest.mark.parametrize("api", [(2, 0), (1, 99), (0, 9)])
def test_other_api_is_incompatible(load, api):
    from dataclasses import replace

    class Late(Walk):
        spec = replace(Walk.spec, api=api)

    found = load(Point("late", lambda: _plugin(plaidwork_models=[Late])))
    assert found.plugins[0].state == "incompatible"
    assert f"{api[0]}.{api[1]}" in found.plugins[0].message
    assert not found.has("toy.walk")


def test_second_plugin_with_an_id_fails_and_leaves_nothing_behind(load):
    found = load(
        Point("first", lambda: _plugin(plaidwork_models=[Walk])),
        Point("second", lambda: _plugin(plaidwork_models=[Climb, Walk])),
    )
    assert found.plugins[1].state == "failed"
    assert "already taken" in found.plugins[1].message
    assert [spec.id for spec in found.specs()] == ["toy.walk"]


def test_two_plugins_of_one_name(load):
    found = load(
        Point("same", lambda: _plugin(plaidwork_models=[Walk])),
        Point("same", lambda: _plugin(plaidwork_models=[Climb])),
    )
    assert [info.state for info in found.plugins] == ["ok", "failed"]
    assert found.has("toy.walk")
    assert "same" in found.plugins[1].message


def test_disabled_plugin_is_not_imported(load):
    found = _walk(load, disabled=frozenset({"bad", "good"}))
    assert [info.state for info in found.plugins] == ["disabled", "disabled"]
    assert found.specs() == ()


def test_safe_mode_leaves_guests_out(load):
    assert _walk(load, safe_mode=True).plugins == []


def test_built_in_plugins_are_found_once():
    names = [info.name for info in Registry().load().plugins if info.source == "built-in"]
    assert len(names) == len(set(names))
    assert not [info for info in Registry().load().plugins if info.source == "plaidwork"]


def test_string_of_a_class_and_readers_and_samples(load):
    from pathlib import Path

    from plaidwork.core.data.importers.numpy_files import NumpyReader
    from plaidwork.core.data.samples import Sample

    reader = NumpyReader()
    sample = Sample(id="s", title="S", line="", model="toy.walk", size="", folder=Path(), files={})
    found = load(
        Point(
            "guest",
            lambda: _plugin(
                plaidwork_models=["toys:Walk"], plaidwork_readers=[reader], plaidwork_samples=[sample]
            ),
        )
    )
    assert found.has("toy.walk")
    assert [(made.id, made.suffixes) for made in found.readers] == [(reader.id, reader.suffixes)]
    assert found.samples[-1] is sample


def test_missing_model_suggests_the_near_one(load):
    with pytest.raises(SessionError, match=r"Did you mean “toy\.walk”"):
        _walk(load).model("toy.wlak")


def test_plugin_error_survives_a_process():
    import copy

    error = copy.copy(PluginError("m", "h", "p"))
    assert (error.message, error.hint, error.plugin) == ("m", "h", "p")

"""The policy for changes of the plugin interface: version check, warnings with the plugin's name, two minors."""

import inspect
import sys
from importlib.metadata import EntryPoint
from types import SimpleNamespace

import pytest

from plaidwork.core import api
from plaidwork.core.contract.spec import API_VERSION
from plaidwork.core.plugins import finding
from plaidwork.core.plugins import registry as module
from plaidwork.core.plugins.deprecation import (
    PlaidworkDeprecationWarning,
    deprecated,
    gone_in,
    warn_deprecated,
)
from plaidwork.core.plugins.registry import Registry


@deprecated("new_way()", since=(1, 0))
def old_way(number, *, twice=False):
    """Adds one."""
    return number + 1 + twice


@deprecated("NewThing", since=(1, 0), name="OldThing")
class OldThing:
    def __init__(self, size):
        self.size = size


def test_deprecated_things_work_and_warn_at_the_caller():
    with pytest.warns(
        PlaidworkDeprecationWarning, match=r"old_way, deprecated since API 1\.0.*Use new_way"
    ) as told:
        assert old_way(1, twice=True) == 3
    assert told[0].filename == __file__
    assert old_way.__doc__ == "Adds one."
    with pytest.warns(PlaidworkDeprecationWarning, match="OldThing"):
        assert OldThing(4).size == 4


def test_kept_for_two_minor_versions():
    assert gone_in((1, 3)) == (1, 6)
    with pytest.warns(PlaidworkDeprecationWarning, match=r"to be removed in API 1\.6 or 2\.0"):
        warn_deprecated("x", "y", since=(1, 3), plugin="Raters 0.2")


def test_warning_names_a_plugin_that_is_given_or_calls(tmp_path, monkeypatch):
    (tmp_path / "late_caller.py").write_text(
        "def plaidwork_models():\n    return []\n\ndef call(function):\n    return function(1)\n",
        encoding="utf-8",
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(
        finding, "entry_points", lambda group: [EntryPoint("late", "late_caller", "plaidwork")]
    )
    monkeypatch.setattr(finding.pkgutil, "iter_modules", lambda path: ())
    found = Registry().load()
    assert found.plugin("late").state == "ok"
    monkeypatch.setattr(module, "_shared", found)
    with pytest.warns(PlaidworkDeprecationWarning, match="The plugin late uses old_way"):
        sys.modules["late_caller"].call(old_way)
    with pytest.warns(PlaidworkDeprecationWarning, match=r"The plugin Raters 0\.2 uses x"):
        warn_deprecated("x", "y", since=(1, 0), plugin="Raters 0.2")


def test_nothing_is_deprecated_in_a_version_to_come():
    with pytest.raises(ValueError, match="since API"):
        deprecated("x", since=(API_VERSION[0], API_VERSION[1] + 1))


def test_nothing_deprecated_is_kept_for_too_long():
    """Fails when a version is reached in which a deprecated name of the interface has to go."""
    for name, thing in inspect.getmembers(api):
        since = getattr(thing, "__deprecated_since__", None)
        assert since is None or gone_in(since) > API_VERSION, name


@pytest.mark.parametrize(
    ("api_version", "state"),
    [
        (API_VERSION, "ok"),
        ((API_VERSION[0], API_VERSION[1] + 1), "incompatible"),
        ((API_VERSION[0] + 1, 0), "incompatible"),
        ((API_VERSION[0] - 1, 9), "incompatible"),
    ],
)
def test_major_must_match_and_minor_not_exceed_ours(monkeypatch, api_version, state):
    from dataclasses import replace

    from toys import Walk

    class Other(Walk):
        spec = replace(Walk.spec, api=api_version)

    point = SimpleNamespace(
        name="p", value="p", dist=None, load=lambda: SimpleNamespace(plaidwork_models=lambda: [Other])
    )
    monkeypatch.setattr(finding, "entry_points", lambda group: [point])
    monkeypatch.setattr(finding.pkgutil, "iter_modules", lambda path: ())
    info = Registry().load().plugins[0]
    assert info.state == state
    assert info.api == api_version


def test_older_minor_is_fine(monkeypatch):
    """A plugin for 1.0 loads in 1.3; tried with the version turned up."""
    from plaidwork.core.plugins import contributions as brought

    monkeypatch.setattr(brought, "API_VERSION", (API_VERSION[0], API_VERSION[1] + 3))
    test_major_must_match_and_minor_not_exceed_ours(monkeypatch, API_VERSION, "ok")

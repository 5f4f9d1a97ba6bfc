"""A plugin that fails in any way leaves the program running and is named: plugin, version, hook, line. A test for each."""

import os
import subprocess
import sys
import textwrap
import threading
import time
from importlib.metadata import EntryPoint

import numpy as np
import pytest

from plaidwork.core.analysing import compute_analysis
from plaidwork.core.contract.plugin_info import owner_of
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.errors import DataError, ModelError, PluginError, SettingError
from plaidwork.core.inference.events import Failed
from plaidwork.core.inference.execution import execute
from plaidwork.core.inference.executor import InlineExecutor, ThreadExecutor
from plaidwork.core.inference.plan import estimate, make_plan
from plaidwork.core.inference.run import Run
from plaidwork.core.plugins import finding
from plaidwork.core.plugins import registry as module
from plaidwork.core.plugins.registry import Registry
from plaidwork.core.session.session import Session

HEAD = """
import numpy as np
from plaidwork.core.api import *

SPEC = dict(
    version="0.2.0", title="Raters", summary="Rates.", inputs=(Input("X"),),
    variables=(Variable("mean", ("column",)),), traces=(Trace("lp", primary=True),),
    views=(View("table", "Mean", "mean"),), schedule=Schedule(chains=2, warmup=1, draws=3),
)

class Base(Model):
    def init(self, data, params, rng):
        return {"mean": data["X"].values.mean(axis=0)}

    def step(self, state, data, params, rng, clock):
        return {"lp": 0.0}

    def draws(self, state, data, params):
        return {"mean": state["mean"].copy()}

    def summarise(self, kept, data, params):
        return {"mean": Result(kept.stack("mean").mean(axis=(0, 1)), ("column",))}

class Raters(Base):
    spec = ModelSpec(id="raters.model", **SPEC)
"""
HOOK = "\ndef plaidwork_models():\n    return [Raters]\n"
GOOD = HEAD.replace("raters.model", "good.model") + HOOK
_number = 0


@pytest.fixture
def guests(tmp_path, monkeypatch):
    """Writes modules, installs them with entry points, and gives a registry that finds these alone."""
    monkeypatch.setenv("PLAIDWORK_CONFIG", str(tmp_path / "config"))
    monkeypatch.setenv("PLAIDWORK_PLUGINS", str(tmp_path / "none"))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(finding.pkgutil, "iter_modules", lambda path: ())

    def make(load=True, /, limit=None, disabled=None, safe_mode=False, **sources):
        global _number
        points = []
        for name, source in sources.items():
            _number += 1
            unique = (
                f"{name}_plugin_{_number}"  # a name of its own: nothing of an earlier test is imported again
            )
            (tmp_path / f"{unique}.py").write_text(textwrap.dedent(source), encoding="utf-8")
            points.append(EntryPoint(name, unique, "plaidwork"))
        monkeypatch.setattr(finding, "entry_points", lambda group: points)
        made = Registry(disabled, safe_mode, limit=limit)
        return made.load() if load else made

    return make


def _info(guests, source, **options):
    found = guests(raters=source, zgood=GOOD, **options)
    assert found.has("good.model"), "the other plugin is there all the same"
    return found.plugins[0], found


def _model(guests, body="", spec="", head=HEAD):
    """The model of a plugin whose class has ``body`` besides."""
    source = f"{head}{textwrap.indent(textwrap.dedent(body), '    ')}\n{spec}{HOOK}"
    found = guests(raters=source)
    assert found.plugins[0].state == "ok", found.plugins[0].details
    return found.model("raters.model"), found


def _data():
    return Dataset("X", np.arange(12.0).reshape(4, 3), tuple("abcd"), tuple("xyz"))


def _named(fault, hook, line_of="", version="0.2.0"):
    """Whether a fault says all it must."""
    assert (fault.plugin, fault.hook) == ("raters", hook)
    assert fault.version == version
    for word in ("raters", version, hook):
        assert word in fault.message
    if line_of:
        file, _, rest = fault.frame.partition(":")
        number, _, function = rest.partition(", ")
        assert file.startswith("raters_plugin_")
        assert file.endswith(".py")
        assert int(number) > 0
        assert function == line_of
        assert fault.frame in fault.message
        assert line_of in fault.traceback


# -- at import ----------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("raise RuntimeError('no such luck')", "RuntimeError: no such luck"),
        ("import module_that_is_not_there", "No module named 'module_that_is_not_there'"),
        ("raise SystemExit(3)", "SystemExit"),
        ("import sys; sys.exit()", "SystemExit"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("raise MemoryError('all of it')", "MemoryError"),
        ("def down(n):\n    return down(n + 1)\ndown(0)", "RecursionError"),
        ("class Odd(BaseException):\n    def __str__(self):\n        raise ValueError\nraise Odd", "Odd"),
    ],
)
def test_import(guests, source, words):
    info, found = _info(guests, f"__version__ = '9'\n{source}")
    assert info.state == "failed"
    assert words in info.message
    assert info.message.startswith("Could not be imported")
    assert "raters_plugin_" in info.message
    assert info.fault.hook == "import"
    assert info.fault.frame.split(", ")[1] in ("<module>", "down")
    assert "Traceback" in info.details
    assert found.faults == (info.fault,)
    assert "raters could not be imported" in info.fault.message


def test_syntax_error_names_its_line(guests):
    info, _ = _info(guests, "x = 1\ny = = 2\n")
    assert info.state == "failed"
    assert info.fault.frame.startswith("raters_plugin_")
    assert info.fault.frame.endswith(".py:2")


@pytest.mark.parametrize(
    ("line", "asked"),
    [
        ("from plaidwork.core.api import Hologram", "“Hologram” of plaidwork.core.api,"),
        ("from plaidwork.core.api_blocks import Hologram", "“Hologram” of plaidwork.core.api_blocks,"),
        ("import plaidwork.core.api_holograms", "needs plaidwork.core.api_holograms,"),
    ],
)
def test_what_our_interface_lacks_is_incompatible(guests, line, asked):
    info, _ = _info(guests, line)
    assert info.state == "incompatible"
    assert asked in info.message
    assert "API 1.0" in info.message


# -- hooks --------------------------------------------------------------------------------------
HOOKS = (
    "plaidwork_models",
    "plaidwork_readers",
    "plaidwork_samples",
    "plaidwork_analyses",
    "plaidwork_views",
)


@pytest.mark.parametrize("hook", HOOKS)
@pytest.mark.parametrize("error", ["KeyError('x')", "SystemExit(1)", "KeyboardInterrupt", "MemoryError"])
def test_hook_raises(guests, hook, error):
    info, _ = _info(guests, f"__version__ = '0.2.0'\ndef {hook}():\n    raise {error}\n")
    assert info.state == "failed"
    _named(info.fault, hook, line_of=hook)
    assert f"{hook}() failed: {error.partition('(')[0]}" in info.message


@pytest.mark.parametrize("hook", HOOKS)
@pytest.mark.parametrize("found", ["None", "3", "'text'", "{}", "[3]", "[None]", "[dict]", "[object()]"])
def test_hook_returns_something_else(guests, hook, found):
    info, _ = _info(guests, f"__version__ = '0.2.0'\ndef {hook}():\n    return {found}\n")
    assert info.state == "failed"
    _named(info.fault, hook)


@pytest.mark.parametrize("hook", HOOKS)
def test_hook_is_no_function(guests, hook):
    info, _ = _info(guests, f"{hook} = []\n")
    assert (info.state, info.fault.hook) == ("failed", hook)


def test_misspelt_hook(guests):
    info, _ = _info(guests, "def plaidwork_modles():\n    return []\n")
    assert info.state == "failed"
    assert "Unknown hook plaidwork_modles. Did you mean plaidwork_models?" in info.message


def test_hook_with_arguments(guests):
    info, _ = _info(guests, "def plaidwork_models(session):\n    return []\n")
    assert (info.state, info.fault.hook) == ("failed", "plaidwork_models")


@pytest.mark.parametrize("item", ["'no_such_module:X'", "'raters'", "':'", "'numpy:Nothing'"])
def test_delayed_class_that_is_not_there(guests, item):
    info, _ = _info(guests, f"def plaidwork_models():\n    return [{item}]\n")
    assert (info.state, info.fault.hook) == ("failed", "plaidwork_models")


def test_other_api_version(guests):
    info, _ = _info(guests, HEAD.replace("**SPEC", "api=(2, 0), **SPEC") + HOOK)
    assert (info.state, info.api) == ("incompatible", (2, 0))
    assert "Raters was made for plugin API 2.0, this is API 1.0." in info.message


def test_id_of_another(guests):
    found = guests(raters=HEAD + HOOK, second=HEAD + HOOK)
    first, second = found.plugins
    assert (first.state, second.state) == ("ok", "failed")
    assert "“raters.model” is already taken by the plugin raters 0.2.0" in second.message
    assert found.plugin_of("raters.model") is first


def test_name_of_another_is_not_even_imported(guests, tmp_path, monkeypatch):
    found = guests(False, raters=HEAD + HOOK)
    point = finding.entry_points(group="")[0]
    (tmp_path / "impostor.py").write_text("raise RuntimeError('imported')")
    monkeypatch.setattr(
        finding, "entry_points", lambda group: [point, EntryPoint("raters", "impostor", "plaidwork")]
    )
    first, second = found.load().plugins
    assert first.state == "ok"
    assert second.state == "failed"
    assert "another plugin called “raters”" in second.message
    assert "impostor" not in sys.modules


def test_failed_plugin_leaves_nothing_behind(guests):
    info, found = _info(guests, HEAD + HOOK + "\ndef plaidwork_samples():\n    return [1]\n")
    assert info.state == "failed"
    assert not found.has("raters.model")


# -- slow import --------------------------------------------------------------------------------
SLOW = "import time\ntime.sleep(SECONDS)\n" + GOOD.replace("good.model", "slow.model")


def held(go):
    """A plugin whose import ends when there is a file."""
    waits = f"import os, time\nwhile not os.path.exists({str(go)!r}):\n    time.sleep(0.01)\n"
    return waits + GOOD.replace("good.model", "slow.model")


@pytest.mark.long
def test_slow_import_does_not_hold_up_the_others(guests):
    """What takes 30 s to import is left behind after the limit; the program goes on and says so."""
    started = time.perf_counter()
    found = guests(aslow=SLOW.replace("SECONDS", "30"), zgood=GOOD, limit=1)
    assert time.perf_counter() - started < 25
    slow, good = found.plugins
    assert (slow.state, good.state) == ("loading", "ok")
    assert slow.message == "Still loading after 1 s. Plaidwork goes on without it."
    with pytest.raises(Exception, match="Still being loaded: aslow"):
        found.model("slow.model")


def test_slow_import_joins_later(guests, tmp_path):
    found = guests(False, aslow=held(tmp_path / "go"), zgood=GOOD, limit=0.5)
    told = []
    found.subscribe(lambda info: told.append((info.name, info.state, info.message)))
    found.load()
    assert not found.has("slow.model")
    (tmp_path / "go").touch()
    _until(lambda: found.has("slow.model"))
    assert [entry[:2] for entry in told] == [
        ("aslow", "loading"), ("aslow", "loading"), ("zgood", "loading"), ("zgood", "ok"), ("aslow", "ok"),
    ]  # fmt: skip
    assert told[0][2] == "Loading."
    assert found.plugin("aslow").load_seconds >= 0.5


@pytest.mark.long
def test_slow_plugin_turned_off_meanwhile_stays_off(guests):
    found = guests(aslow=SLOW.replace("SECONDS", "0.6"), limit=0.1)
    found.disable("aslow")
    time.sleep(0.9)
    assert found.plugins[0].state == "disabled"
    assert not found.has("slow.model")


def test_window_waits_for_no_guest(guests, tmp_path):
    """The registry of the window: lookups return while a guest is being imported, however long that takes."""
    found = guests(False, aslow=held(tmp_path / "go"), zgood=GOOD, limit=30)
    found.patient = False
    found.start()
    assert found.specs() == ()
    assert not found.has("slow.model")
    assert not found.settled
    (tmp_path / "go").touch()
    got = []
    worker = threading.Thread(
        target=lambda: got.append(found.model("slow.model"))
    )  # off the GUI thread one may wait
    worker.start()
    worker.join(30)
    assert got[0].spec.id == "slow.model"


def test_plugin_that_asks_for_the_registry_during_its_import(guests, monkeypatch):
    source = "from plaidwork.core.plugins import registry\nregistry._shared.load().specs()\n" + GOOD
    found = guests(False, asker=source, limit=60)
    monkeypatch.setattr(module, "_shared", found)
    started = time.perf_counter()
    assert found.load().plugins[0].state == "ok"
    assert time.perf_counter() - started < 40


# -- methods ------------------------------------------------------------------------------------
RAISES = """
def {method}(self, *_):
    {error}
"""
ERRORS = ("raise KeyError('x')", "raise SystemExit(2)", "raise KeyboardInterrupt", "raise MemoryError",
          "return (lambda f: f(f))(lambda f: f(f))")  # fmt: skip


@pytest.mark.parametrize("method", ["prepare", "init", "step", "draws"])
@pytest.mark.parametrize("error", ERRORS)
def test_method_of_the_fit_raises(guests, method, error):
    model, found = _model(guests, RAISES.format(method=method, error=error))
    plan, events = make_plan(model, {"X": _data()}), []
    run = Run.from_plan(plan)
    with pytest.raises(PluginError) as caught:
        execute(run, plan, ThreadExecutor(), lambda run, event: events.append(event))
    assert run.status == "failed"
    assert caught.value.plugin == "raters"
    failed = [event for event in events if isinstance(event, Failed)]
    assert {event.chain for event in failed} == {0, 1}
    for event in failed:
        _named(event.fault, method)
        assert f"Chain {event.chain + 1}: the plugin raters 0.2.0 failed in {method}()" in event.message
        assert event.fault.frame in event.message
        assert event.fault.frame.startswith("raters_plugin_")
        assert event.details
    assert set(found.faults) == {event.fault for event in failed}


def test_frame_is_the_line_of_the_plugin_nearest_to_the_error(guests):
    body = """
    def step(self, state, data, params, rng, clock):
        return self._inner(np.zeros(2))

    def _inner(self, values):
        return np.linalg.cholesky(values)
    """
    model, _ = _model(guests, body)
    plan, events = make_plan(model, {"X": _data()}), []
    with pytest.raises(PluginError):
        execute(Run.from_plan(plan), plan, ThreadExecutor(), lambda run, event: events.append(event))
    fault = next(event.fault for event in events if isinstance(event, Failed))
    _named(fault, "step", line_of="_inner")


def test_inline_the_users_stop_is_no_fault_of_the_plugin(guests):
    model, found = _model(guests, RAISES.format(method="step", error="raise KeyboardInterrupt"))
    plan = make_plan(model, {"X": _data()})
    with pytest.raises(KeyboardInterrupt):
        execute(Run.from_plan(plan), plan, InlineExecutor())
    assert found.faults == ()


def test_model_error_is_no_fault(guests):
    model, found = _model(guests, RAISES.format(method="step", error="raise ModelError('Too few.')"))
    plan = make_plan(model, {"X": _data()})
    with pytest.raises(ModelError, match=r"^Too few\.$"):
        execute(Run.from_plan(plan), plan, InlineExecutor())
    assert found.faults == ()


@pytest.mark.parametrize(
    ("method", "returns", "words"),
    [
        ("init", "None", "NoneType"),
        ("init", "3", "int"),
        ("step", "3.0", "float"),
        ("step", "[1.0]", "list"),
        ("step", "{}", "declared trace “lp”"),
        ("step", "{'lp': np.zeros(3)}", "no number"),
        ("step", "{'lp': 'high'}", "no number"),
        ("step", "{'lp': None}", "no number"),
        ("step", "{'lp': float('nan')}", "became nan"),
        ("draws", "None", "NoneType"),
        ("draws", "{}", "“mean” is missing"),
        ("draws", "{'mean': np.zeros((2, 2))}", "shape (2, 2)"),
        ("draws", "{'mean': ['a', 'b', 'c']}", "cannot be kept"),
        ("draws", "{'mean': [[1], [1, 2]]}", "cannot be kept"),
    ],
)  # fmt: skip
def test_wrong_shapes_and_types_in_a_fit(guests, method, returns, words):
    model, _ = _model(guests, RAISES.format(method=method, error=f"return {returns}"))
    plan, events = make_plan(model, {"X": _data()}), []
    with pytest.raises(PluginError):
        execute(Run.from_plan(plan), plan, InlineExecutor(), lambda run, event: events.append(event))
    fault = next(event.fault for event in events if isinstance(event, Failed))
    _named(fault, method)
    assert words in fault.message


@pytest.mark.parametrize("error", ERRORS)
def test_summarise_raises_and_the_draws_stay(guests, error):
    model, found = _model(guests, RAISES.format(method="summarise", error=error))
    plan = make_plan(model, {"X": _data()})
    run = Run.from_plan(plan)
    work = threading.Thread(target=_swallow, args=(lambda: execute(run, plan, ThreadExecutor()),))
    work.start()  # off the main thread, where a KeyboardInterrupt can only be the plugin's
    work.join()
    assert run.n_draws == 6
    _named(found.faults[0], "summarise")
    assert found.faults[0].frame.startswith("raters_plugin_")
    assert "The plugin raters 0.2.0 failed in summarise()" in run.log[-1].text


@pytest.mark.parametrize(
    "returns",
    ["None", "[1]", "{'mean': 3}", "{'mean': np.zeros(3)}", "{1: 'x'}", "{'mean': Result(np.zeros(3), ('a', 'b'))}",
     "{'mean': Result(np.array([{}, []], dtype=object))}"],
)  # fmt: skip
def test_summarise_returns_something_else(guests, returns):
    model, found = _model(guests, RAISES.format(method="summarise", error=f"return {returns}"))
    plan = make_plan(model, {"X": _data()})
    run = Run.from_plan(plan)
    with pytest.raises(PluginError):
        execute(run, plan, InlineExecutor())
    _named(found.faults[0], "summarise")
    assert run.results == {}


@pytest.mark.parametrize("error", ["raise KeyError('x')", "raise SystemExit", "return [3]", "return 3"])
def test_validate(guests, error):
    model, found = _model(guests, RAISES.format(method="validate", error=error))
    with pytest.raises(PluginError, match=r"plugin raters 0\.2\.0 failed in validate\(\)") as caught:
        make_plan(model, {"X": _data()})
    _named(caught.value.fault, "validate")
    assert found.faults == (caught.value.fault,)


@pytest.mark.parametrize(
    "error", ["raise KeyError('x')", "raise SystemExit", "return 3", "return Cost('a', None)"]
)
def test_estimate(guests, error):
    model, _ = _model(guests, RAISES.format(method="estimate", error=error))
    with pytest.raises(PluginError) as caught:
        estimate(make_plan(model, {"X": _data()}))
    _named(caught.value.fault, "estimate")


def test_model_that_cannot_be_made(guests):
    found = guests(raters=HEAD + "    def __init__(self):\n        raise OSError('no')\n" + HOOK)
    with pytest.raises(PluginError) as caught:
        found.model("raters.model")
    _named(caught.value.fault, "__init__", line_of="__init__")


def test_upgrade_state(guests):
    model, found = _model(guests, RAISES.format(method="upgrade_state", error="raise KeyError('x')"))
    session = Session()
    plan = make_plan(model, {"X": session.add_dataset(_data())})
    run = session.add_run(plan)
    execute(run, plan, InlineExecutor())
    from dataclasses import replace

    run.spec = replace(run.spec, state_version=7)
    with pytest.raises(PluginError) as caught:
        session.plan_of(run, found)
    _named(caught.value.fault, "upgrade_state")


def test_analysis(guests):
    source = (
        HEAD
        + HOOK
        + """
class Counts(Analysis):
    spec = AnalysisSpec(id="raters.counts", version="0.2.0", title="Counts", summary="Counts.", needs={"m": "mean"},
                        views=())
    def run(self, results, data, params, report):
        report(0.5)
        return results["nothing"]

def plaidwork_analyses():
    return [Counts]
"""
    )
    found = guests(raters=source)
    assert found.plugins[0].state == "ok", found.plugins[0].details
    session = Session()
    plan = make_plan(found.model("raters.model"), {"X": session.add_dataset(_data())})
    run = session.add_run(plan)
    execute(run, plan, InlineExecutor())
    with pytest.raises(PluginError, match="KeyError: 'nothing'") as caught:
        compute_analysis(run, found.analysis("raters.counts"), datasets=session.datasets)
    _named(caught.value.fault, "run", line_of="run")
    assert found.plugin_of("raters.model").analyses == ["raters.counts"]


READER = """
__version__ = "0.2.0"
class Odd:
    id, title, suffixes = "odd", "Odd", (".odd",)
    def preview(self, path, options):
        raise IndexError("past the end")
    def read(self, path, options, progress=None):
        {0}

def plaidwork_readers():
    return [Odd()]
"""


def test_reader(guests, tmp_path):
    reader = guests(raters=READER.format("return 3")).readers[0]
    with pytest.raises(PluginError) as caught:
        reader.preview(tmp_path / "a.odd", {})
    _named(caught.value.fault, "preview", line_of="preview")
    with pytest.raises(PluginError, match="returned int, not a Dataset"):
        reader.read(tmp_path / "a.odd", {})


def test_reader_of_a_plugin_is_used_without_a_window(guests, tmp_path, monkeypatch):
    from plaidwork.core.data.importers import read_dataset

    body = "from plaidwork.core.api import Dataset\n        return Dataset('odd', [[1.0]], ('r',), ('c',))"
    monkeypatch.setattr(module, "_shared", guests(raters=READER.format(body)))
    (tmp_path / "a.odd").write_text("1")
    assert read_dataset(tmp_path / "a.odd").name == "odd"
    (tmp_path / "a.unknown").write_text("1")
    with pytest.raises(DataError, match=r"Known are: \.odd"):
        read_dataset(tmp_path / "a.unknown")


def test_reader_passes_errors_for_the_user_and_the_users_cancellation(guests, tmp_path):
    class Cancelled(Exception):
        pass

    def cancel(share):
        raise Cancelled

    body = "from plaidwork.core.api import DataError\n        raise DataError('Not odd.')"
    found = guests(raters=READER.format(body))
    with pytest.raises(DataError, match="Not odd"):
        found.readers[0].read(tmp_path / "a.odd", {}, cancel)
    found = guests(raters=READER.format("progress(0.5)"))
    with pytest.raises(Cancelled):
        found.readers[0].read(tmp_path / "a.odd", {}, cancel)
    assert found.faults == ()


@pytest.mark.long
def test_process_of_its_own_names_the_plugin_too(guests):
    from plaidwork.core.inference.processes import ProcessExecutor

    model, found = _model(guests, RAISES.format(method="step", error="raise SystemExit(4)"))
    plan, events = make_plan(model, {"X": _data()}, schedule=model.spec.schedule.with_(chains=1)), []
    with pytest.raises(PluginError) as caught:
        execute(Run.from_plan(plan), plan, ProcessExecutor(), lambda run, event: events.append(event))
    _named(caught.value.fault, "step", line_of="step")
    assert found.faults == (caught.value.fault,)


# -- switches -----------------------------------------------------------------------------------
def test_disable_and_enable_there_and_then_and_for_the_next_start(guests, tmp_path):
    found = guests(raters=HEAD + HOOK)
    model = found.model("raters.model")
    found.disable("raters")
    assert (found.plugins[0].state, found.specs()) == ("disabled", ())
    assert owner_of(model).name == "raters"
    assert '"raters"' in (tmp_path / "config" / "plugins.json").read_text()
    assert Registry().load().plugins[0].state == "disabled"
    found.enable("raters")
    assert (found.plugins[0].state, found.has("raters.model")) == ("ok", True)
    assert Registry().load().plugins[0].state == "ok"


def test_environment_disables(guests, monkeypatch):
    monkeypatch.setenv("PLAIDWORK_DISABLE", "other, raters")
    assert guests(raters=HEAD + HOOK).plugins[0].state == "disabled"


def test_damaged_switches_turn_nothing_off(guests, tmp_path):
    (tmp_path / "config").mkdir()
    for text in ("{", "[]", '{"disabled": 3}'):
        (tmp_path / "config" / "plugins.json").write_text(text)
        assert guests(raters=HEAD + HOOK).plugins[0].state == "ok"


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="needs a folder that cannot be written")
def test_switch_that_cannot_be_written_holds_for_now(guests, tmp_path):
    (tmp_path / "config").mkdir(mode=0o500)
    found = guests(raters=HEAD + HOOK)
    with pytest.raises(SettingError, match="PLAIDWORK_DISABLE=raters"):
        found.disable("raters")
    assert found.plugins[0].state == "disabled"


def test_unknown_plugin(guests):
    with pytest.raises(SettingError, match="Did you mean “raters”"):
        guests(raters=HEAD + HOOK).disable("ratters")


def test_reload_takes_the_new_source(guests, tmp_path):
    found = guests(raters=HEAD + HOOK)
    path = next(tmp_path.glob("raters_plugin_*.py"))
    path.write_text((HEAD + HOOK).replace('"0.2.0"', '"0.30.0"'))
    found.reload("raters")
    assert found.model("raters.model").spec.version == "0.30.0"
    path.write_text("raise ValueError('mistyped')")
    os.utime(path, (1, 1))
    assert found.reload("raters").state == "failed"
    assert not found.has("raters.model")
    path.write_text(HEAD + HOOK)
    os.utime(path, (2, 2))
    assert found.reload("raters").state == "ok"


def test_failing_listener_aside_every_change_is_told(guests):
    found = guests(raters=HEAD + HOOK)
    told = []
    stop = found.subscribe(lambda info: told.append(info.state))
    found.disable("raters")
    found.enable("raters")
    stop()
    found.reload("raters")
    assert told == ["disabled", "loading", "ok"]


def test_plugin_of_tells_model_and_plugin_apart(guests):
    found = guests(raters=HEAD + HOOK, zgood=GOOD)
    info = found.plugin_of("raters.model")
    assert (info.name, info.version, info.models) == ("raters", "0.2.0", ["raters.model"])
    assert found.plugin_of(found.model("raters.model")) is info
    assert found.plugin_of(type(found.model("good.model"))).name == "zgood"
    assert found.plugin_of("nothing") is None


@pytest.mark.long
def test_a_broken_guest_leaves_the_command_line_as_it_was(tmp_path):
    """In a process of its own, with a plugin folder in which everything is wrong."""
    folder = tmp_path / "plugins"
    folder.mkdir()
    (folder / "exits.py").write_text("raise SystemExit(9)")
    (folder / "raises.py").write_text("def plaidwork_models():\n    1 / 0\n")
    (folder / "numpy.py").write_text("def plaidwork_models():\n    return []\n")
    done = subprocess.run(
        [sys.executable, "-m", "plaidwork.core.cli", "models"],
        env=os.environ | {"PLAIDWORK_PLUGINS": str(folder), "PLAIDWORK_CONFIG": str(tmp_path)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "infinite_plaid" in done.stdout
    for name, words in (("exits", "SystemExit"), ("raises", "raises.py:2"), ("numpy", "Another module")):
        assert any(name in line and words in line for line in done.stderr.splitlines()), done.stderr


def _until(holds, seconds=10.0):
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


def _swallow(call):
    try:
        call()
    except BaseException:
        return

"""Plugins that fail, as the window shows them: named in a message that can turn them off, and the rest goes on."""

from __future__ import annotations

import importlib
import sys
import textwrap
import threading
import time
from importlib.metadata import EntryPoint

import numpy as np
import pytest
from PySide6.QtCore import QTimer
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication, QLabel, QPushButton

from plaidwork.core.contract.schedule import Schedule
from plaidwork.core.contract.spec import View
from plaidwork.core.contract.views import ResultStore
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.inference.execution import execute
from plaidwork.core.inference.executor import InlineExecutor
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.plugins import finding, starts
from plaidwork.core.plugins import registry as module
from plaidwork.core.plugins.registry import Registry
from plaidwork.gui.app import _load_ahead, install_exception_hook
from plaidwork.gui.main_window import MainWindow
from plaidwork.gui.results import make_view
from plaidwork.gui.results.custom_page import CustomPage
from plaidwork.gui.run_places import RunPlaces, chain_pool
from plaidwork.gui.settings import Settings
from plaidwork.gui.tasks import wait_for_tasks
from plaidwork.gui.workbench import Workbench
from tests.core.test_plugin_isolation import GOOD, HEAD, HOOK, RAISES

VIEWS = (
    HOOK
    + """
from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QLabel, QPushButton, QVBoxLayout, QWidget

class Dial(QWidget):
    pressed = Signal()
    def __init__(self, results, selection, parent):
        super().__init__(parent)
        self.results, self.selection, self.painted, self.updated = results, selection, 0, 0
        self.button = QPushButton("press", self)
        self.button.clicked.connect(self.on_click)
        selection.changed.connect(self.on_selection)
    def on_click(self):
        self.selection.set("row", (1,))
    def on_selection(self, kind):
        pass
    def paintEvent(self, event):
        self.painted += 1
        from PySide6.QtGui import QColor, QPainter
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor("#336699"))
        painter.end()
BODY

def make(results, selection, parent):
    return Dial(results, selection, parent)
MAKE

def plaidwork_views():
    return [ViewFactory("raters.dial", "Dial", make)]
"""
)
CUSTOM = View("custom", "Dial", {"mean": "mean"}, options={"factory": "raters.dial"})
_number = 0


@pytest.fixture
def guests(tmp_path, monkeypatch):
    """As in the tests of the core: modules on the path, entry points, and no built-in plugin."""
    monkeypatch.setenv("PLAIDWORK_CONFIG", str(tmp_path / "config"))
    monkeypatch.setenv("PLAIDWORK_PLUGINS", str(tmp_path / "none"))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(finding.pkgutil, "iter_modules", lambda path: ())

    def make(**sources):
        global _number
        points = []
        for name, source in sources.items():
            _number += 1
            unique = f"{name}_window_{_number}"
            (tmp_path / f"{unique}.py").write_text(textwrap.dedent(source), encoding="utf-8")
            points.append(EntryPoint(name, unique, "plaidwork"))
        monkeypatch.setattr(finding, "entry_points", lambda group: points)
        importlib.invalidate_caches()
        return Registry(patient=False, limit=0.4)

    return make


@pytest.fixture
def window(qtbot, guests, tmp_path):
    made = []

    def make(registry, load=True, pool=None):
        shown = MainWindow(Workbench(registry, places=RunPlaces(pool=pool)), Settings(tmp_path / "config"))
        shown.commands.may_close = lambda: True  # no question about saving at the end
        qtbot.addWidget(shown)
        shown.show()
        if load:
            registry.load()
            _settle()
        made.append(shown)
        return shown

    yield make
    for shown in made:
        for run in shown.workbench.active_runs():
            shown.workbench.stop(run)
        assert shown.workbench.wait(20_000)
        wait_for_tasks()
        _settle()


def _settle():
    for _ in range(3):
        wait_for_tasks()
        QApplication.processEvents()


def _data():
    return Dataset("X", np.arange(12.0).reshape(4, 3), tuple("abcd"), tuple("xyz"))


def _press(window, text):
    """Press a button of the message in front."""
    QApplication.processEvents()  # the buttons of a message that has just been replaced go first
    buttons = [b for b in window.messages.findChildren(QPushButton) if b.text() == text and b.isVisible()]
    assert buttons, [b.text() for b in window.messages.findChildren(QPushButton)]
    buttons[0].click()


def _message(window, *words):
    current = window.messages.current
    assert current is not None
    told = f"{current.title} {current.text}"
    for word in words:
        assert word in told, told
    return current


def _disable(window, registry, qtbot, name="raters"):
    _press(window, "Disable plugin")
    qtbot.waitUntil(lambda: registry.plugin(name).state == "disabled", timeout=20_000)
    qtbot.waitUntil(
        lambda: window.messages.current is not None and "turned off" in window.messages.current.title
    )
    assert Registry().load().plugin(name).state == "disabled", "also at the next start"


# -- loading ------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("source", "title", "words"),
    [
        ("raise RuntimeError('no luck')", "could not be loaded", "RuntimeError: no luck (raters_window_"),
        ("raise SystemExit", "could not be loaded", "SystemExit"),
        (
            "def plaidwork_models():\n    1 / 0",
            "could not be loaded",
            "plaidwork_models() failed: ZeroDivisionError",
        ),
        ("def plaidwork_modles():\n    return []", "could not be loaded", "Did you mean plaidwork_models?"),
        (HEAD.replace("**SPEC", "api=(2, 0), **SPEC") + HOOK, "is not compatible", "made for plugin API 2.0"),
    ],
)
def test_failed_plugin_is_named_and_can_be_turned_off(window, guests, qtbot, source, title, words):
    registry = guests(raters=source, zgood=GOOD)
    shown = window(registry)
    _message(shown, "raters", title, words, "The other plugins are not affected")
    assert registry.has("good.model")
    _disable(shown, registry, qtbot)


@pytest.mark.long
def test_slow_import_is_said_and_the_window_never_waits(window, guests, qtbot):
    slow = "import time\ntime.sleep(1.5)\n" + HEAD + HOOK
    registry = guests(raters=slow, zgood=GOOD)
    shown = window(registry, load=False)
    gaps, last = [], [time.perf_counter()]

    def tick():
        gaps.append(time.perf_counter() - last[0])
        last[0] = time.perf_counter()

    timer = QTimer(interval=10)
    timer.timeout.connect(tick)
    timer.start()
    registry.start()
    said = []
    shown.status.say = said.append
    qtbot.waitUntil(lambda: registry.settled, timeout=20_000)
    assert registry.has("good.model")
    assert not registry.has("raters.model")
    _settle()
    _message(shown, "raters", "takes long to load", "goes on without it")
    qtbot.waitUntil(lambda: registry.has("raters.model"), timeout=20_000)
    qtbot.waitUntil(lambda: "The plugin raters 0.2.0 is loaded" in said, timeout=20_000)
    assert shown.messages.count == 0
    assert max(gaps) < 1.2  # it would be 1.5 s and more
    timer.stop()


@pytest.mark.long
def test_loading_is_shown_in_the_status_line(window, guests, qtbot):
    registry = guests(raters="import time\ntime.sleep(0.9)\n" + GOOD)
    registry._limit = 5
    shown = window(registry, load=False)
    said = []
    shown.status.tell = lambda text, icon: said.append(text)
    registry.start()
    qtbot.waitUntil(lambda: "Loading the plugin raters…" in said, timeout=20_000)
    qtbot.waitUntil(lambda: registry.settled, timeout=20_000)


# -- during a fit -------------------------------------------------------------------------------
def _model(guests, body):
    registry = guests(raters=f"{HEAD}{textwrap.indent(textwrap.dedent(body), '    ')}\n{HOOK}")
    return registry, registry.load().model("raters.model")


@pytest.mark.parametrize("method", ["init", "step", "draws", "prepare"])
@pytest.mark.parametrize("error", ["raise KeyError('x')", "raise SystemExit"])
def test_fit_that_fails(window, guests, qtbot, method, error):
    registry, model = _model(guests, RAISES.format(method=method, error=error))
    shown = window(registry)
    plan = make_plan(model, {"X": _data()}, schedule=Schedule(chains=2, warmup=1, draws=3))
    run = shown.workbench.start(plan)
    qtbot.waitUntil(lambda: run.status == "failed" and not shown.workbench.active_runs(), timeout=20_000)
    _message(
        shown,
        "Raters 1: 2 of 2 chains stopped",
        "The plugin raters 0.2.0 failed in " + method,
        "raters_window_",
    )
    assert shown.messages.count == 1, "one message for all chains"
    _press(shown, "Copy")
    assert "Traceback" in QApplication.clipboard().text()
    shown.workbench.faults.chain_failed(run, next(_failed_events(registry)))
    _disable(shown, registry, qtbot)
    assert registry.specs() == ()


@pytest.mark.slow
def test_a_crash_in_a_step_costs_its_chain_and_not_the_window(window, guests, qtbot):
    source = RAISES.format(method="step", error="import ctypes, time; time.sleep(0.2); ctypes.string_at(0)")
    registry, model = _model(guests, source)
    with chain_pool() as pool:
        shown = window(registry, pool=pool)
        run = shown.workbench.start(
            make_plan(model, {"X": _data()}, schedule=Schedule(chains=2, warmup=1, draws=3))
        )
        qtbot.waitUntil(lambda: run.status == "failed" and not shown.workbench.active_runs(), timeout=60_000)
    _message(shown, "Raters 1: 2 of 2 chains stopped", "The plugin raters 0.2.0 failed in step()", "SIGSEGV")
    _disable(shown, registry, qtbot)


def _failed_events(registry):
    from plaidwork.core.inference.events import Failed

    for fault in registry.faults:
        yield Failed(0, fault.message, "", fault.traceback, fault)


def test_summary_that_fails(window, guests, qtbot):
    registry, model = _model(guests, RAISES.format(method="summarise", error="return {'mean': 3}"))
    shown = window(registry)
    run = shown.workbench.start(make_plan(model, {"X": _data()}))
    qtbot.waitUntil(lambda: run.status == "done" and shown.messages.count > 0, timeout=20_000)
    _message(shown, "could not be summarised", "raters 0.2.0 failed in summarise()", "“mean” is a int")
    assert run.n_draws == 6
    _disable(shown, registry, qtbot)


@pytest.mark.parametrize(
    ("method", "title"), [("validate", "could not be checked"), ("estimate", "cost of a fit")]
)
def test_set_up(window, guests, qtbot, method, title):
    from plaidwork.gui.setup.setup_page import SetupPage

    registry, _ = _model(guests, RAISES.format(method=method, error="raise IndexError('far out')"))
    shown = window(registry)
    shown.workbench.add_dataset(_data())
    page = SetupPage(shown.workbench)
    qtbot.addWidget(page)
    page.fill({"X": ["X"]})
    page.launch.begin()
    qtbot.waitUntil(lambda: shown.messages.count > 0, timeout=20_000)
    _message(shown, title, f"raters 0.2.0 failed in {method}()", "far out")
    if method == "estimate":
        assert page.launch.check.ready, "what does not cost anything to know is not needed for a fit"
    _disable(shown, registry, qtbot)
    wait_for_tasks()


def test_reader_in_the_import_dialog(window, guests, qtbot, tmp_path):
    from plaidwork.gui.data.import_dialog import ImportDialog

    source = """
    class Odd:
        id, title, suffixes = "odd", "Odd", (".odd",)
        def preview(self, path, options):
            raise IndexError("past the end")
        def read(self, path, options, progress=None):
            raise IndexError("past the end")
    def plaidwork_readers():
        return [Odd()]
    """
    registry = guests(raters=source).load()
    (tmp_path / "a.odd").write_text("1")
    dialog = ImportDialog(tmp_path / "a.odd", registry)
    qtbot.addWidget(dialog)
    dialog.show()
    qtbot.waitUntil(lambda: dialog._refusal.isVisible(), timeout=20_000)
    assert "The plugin raters failed in preview(): IndexError: past the end" in dialog._refusal.title
    (off,) = (b for b in dialog._refusal.findChildren(QPushButton) if b.text() == "Disable plugin")
    off.click()
    qtbot.waitUntil(lambda: registry.plugin("raters").state == "disabled", timeout=20_000)
    wait_for_tasks()


# -- custom views -------------------------------------------------------------------------------
@pytest.fixture
def dial(window, guests, qtbot):
    """A fitted run and the page of its custom view; ``body`` goes into the widget, ``make`` into the factory."""

    def open_page(body="", make="", view=CUSTOM):
        inside = textwrap.indent(textwrap.dedent(body), "    ")
        source = HEAD + VIEWS.replace("BODY", inside).replace("MAKE", textwrap.dedent(make))
        registry = guests(raters=source).load()
        assert registry.plugins[0].state == "ok", registry.plugins[0].details
        shown = window(registry)
        plan = make_plan(registry.model("raters.model"), {"X": _data()})
        run = shown.workbench.session.add_run(plan)
        execute(run, plan, InlineExecutor())
        run.status = "done"
        page = make_view(shown.workbench, run, view)
        qtbot.addWidget(page)
        page.resize(700, 500)
        page.show()
        assert page.wait(10_000)
        for _ in range(5):
            QApplication.processEvents()
        return page, run, shown

    return open_page


def _shows_failure(page, *words):
    assert page.state == "This picture could not be drawn"
    told = page._pane._text.text()
    for word in ("The plugin raters", *words, "Other views are not affected."):
        assert word in told, told
    assert page.widget is None


def test_custom_view_gets_results_and_selection(dial):
    page, run, shown = dial()
    assert isinstance(page, CustomPage)
    assert page.state == ""
    widget = page.widget
    assert widget.painted
    assert isinstance(widget.results, ResultStore)
    assert widget.results.array("mean").tolist() == run.results["mean"].values.tolist()
    assert not widget.results.array("mean").flags.writeable
    widget.button.click()
    assert shown.workbench.selection(run).get("row") == (1,)
    page.show_data()
    assert page.data_content()[0]["mean"].tolist() == run.results["mean"].values.tolist()


def test_custom_view_is_exported_like_others(dial, tmp_path):
    page, _run, _shown = dial()
    for suffix in ("png", "svg", "pdf"):
        written = page.export_picture(tmp_path / f"a.{suffix}")
        assert written.stat().st_size > 500
    image = QImage(str(tmp_path / "a.png"))
    assert image.pixelColor(image.width() // 2, image.height() // 2).name() == "#336699"


def test_custom_view_is_drawn_without_a_window(dial, tmp_path, monkeypatch):
    from plaidwork.gui.results.render import render_view_png

    _page, run, shown = dial()
    monkeypatch.setattr(module, "_shared", shown.workbench.registry)
    render_view_png(shown.workbench.session, run, CUSTOM, tmp_path / "b.png", size=(600, 400))
    image = QImage(str(tmp_path / "b.png"))
    assert image.pixelColor(image.width() // 2, image.height() // 2 + 100).name() == "#336699"


def test_new_results_make_a_new_widget_or_go_to_the_old_one(dial):
    page, run, shown = dial()
    before = page.widget
    shown.workbench.results_changed.emit(run.id)
    assert page.wait()
    assert page.widget is not before
    page, run, shown = dial("def update_results(self, results):\n    self.updated += 1\n")
    before = page.widget
    shown.workbench.results_changed.emit(run.id)
    assert page.wait()
    assert page.widget is before
    assert before.updated == 1


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (
            "def make(*_):\n    raise KeyError('no dial')",
            "failed in make(): KeyError: 'no dial' (raters_window_",
        ),
        ("def make(*_):\n    raise SystemExit", "failed in make(): SystemExit"),
        ("def make(results, selection, parent):\n    QLabel('half', parent)\n    1 / 0", "ZeroDivisionError"),
        ("def make(*_):\n    return 3", "returned int, not a QWidget"),
        ("def make(*_):\n    return None", "returned NoneType, not a QWidget"),
        ("def make(only):\n    return None", "TypeError"),
        ("def make(results, *_):\n    results.array('mean')[0] = 1", "read-only"),
        ("def make(results, *_):\n    results['nothing']", "KeyError: 'nothing'"),
    ],
)
def test_error_at_creation(dial, make, words):
    page, _, _shown = dial(make=make)
    _shows_failure(page, words)
    assert not page._content.findChildren(QLabel)


@pytest.mark.parametrize(
    ("handler", "act"),
    [
        ("def paintEvent(self, event):\n    raise ValueError('no paint')", lambda w: w.repaint()),
        ("def paintEvent(self, event):\n    raise SystemExit", lambda w: w.repaint()),
        ("def resizeEvent(self, event):\n    raise ValueError('no room')", lambda w: w.resize(50, 50)),
        ("def mousePressEvent(self, event):\n    raise ValueError('ouch')", None),
        (
            "def event(self, event):\n    if self.isVisible():\n        raise ValueError('anything')\n"
            "    return super().event(event)",
            lambda w: w.update(),
        ),
    ],
)
def test_error_in_an_event_handler(dial, qtbot, handler, act):
    from PySide6.QtCore import Qt

    page, _, _ = dial(handler)
    if page.widget is not None:
        if act is None:
            qtbot.mouseClick(page.widget, Qt.MouseButton.LeftButton)
        else:
            act(page.widget)
    qtbot.waitUntil(lambda: page.state != "", timeout=20_000)
    name = handler.split("(")[0].removeprefix("def ")
    _shows_failure(page, f"failed in {name}()", "raters_window_")


@pytest.fixture
def hooked(monkeypatch):
    """The exception hook of the program, as when it runs."""

    def install(shown):
        monkeypatch.setattr(sys, "excepthook", lambda *_: None)
        install_exception_hook(shown)

    return install


def test_error_in_a_slot(dial, qtbot, hooked, capsys):
    page, _, shown = dial("def on_click(self):\n    raise ValueError('slipped')")
    hooked(shown)
    page.widget.button.click()
    qtbot.waitUntil(lambda: page.state != "", timeout=20_000)
    _shows_failure(page, "failed in on_click(): ValueError: slipped")
    assert shown.isVisible()
    assert shown.messages.count == 0, "said once, in its pane"


def test_error_in_a_slot_of_the_selection_and_in_a_timer(dial, qtbot, hooked):
    page, run, shown = dial("def on_selection(self, kind):\n    raise ValueError('bad choice')")
    hooked(shown)
    shown.workbench.selection(run).set("row", (2,))
    qtbot.waitUntil(lambda: page.state != "", timeout=20_000)
    _shows_failure(page, "on_selection()", "bad choice")
    assert shown.workbench.selection(run).get("row") == (2,)
    page, run, shown = dial("def start(self):\n    QTimer.singleShot(0, lambda: 1 / 0)")
    hooked(shown)
    page.widget.start()
    qtbot.waitUntil(lambda: page.state != "", timeout=20_000)
    _shows_failure(page, "ZeroDivisionError")


def test_error_with_new_results(dial, qtbot):
    page, run, shown = dial("def update_results(self, results):\n    raise ValueError('stale')")
    shown.workbench.results_changed.emit(run.id)
    assert page.wait()
    qtbot.waitUntil(lambda: page.state != "", timeout=20_000)
    _shows_failure(page, "update_results()", "stale")


def test_failed_view_can_be_tried_again_and_its_plugin_turned_off(dial, qtbot):
    page, _run, shown = dial("def paintEvent(self, event):\n    raise ValueError('no paint')")
    qtbot.waitUntil(lambda: page.state != "", timeout=20_000)
    texts = {b.text(): b for b in page._pane.findChildren(QPushButton)}
    assert set(texts) >= {"Details", "Disable plugin", "Try again"}
    texts["Disable plugin"].click()
    registry = shown.workbench.registry
    qtbot.waitUntil(lambda: registry.plugin("raters").state == "disabled", timeout=20_000)
    _settle()
    page.refresh()
    assert page.wait()
    assert "drawn by a plugin that is not loaded (“raters.dial”)" in page._pane._text.text()
    registry.enable("raters")
    page.refresh()
    assert page.wait()
    qtbot.waitUntil(lambda: "no paint" in page._pane._text.text(), timeout=20_000)


def test_view_without_factory_or_of_a_missing_plugin(dial):
    page, *_ = dial(view=View("custom", "Dial", {}, options={"factory": "gone.dial"}))
    assert "not loaded (“gone.dial”)" in page._pane._text.text()
    page, *_ = dial(view=View("custom", "Dial", {}))
    assert "does not name its factory" in page._pane._text.text()


def test_unhandled_error_of_a_plugin_outside_its_views_is_named(dial, hooked, qtbot):
    page, _run, shown = dial("def late(self):\n    raise ValueError('afterwards')")
    hooked(shown)
    widget = page.widget
    page._put_away()
    try:
        widget.late()
    except ValueError:
        sys.excepthook(*sys.exc_info())
    _message(shown, "Something in the plugin raters", "afterwards")
    _disable(shown, shown.workbench.registry, qtbot)


# -- safe mode ----------------------------------------------------------------------------------
def test_third_start_after_two_that_died_offers_safe_mode(window, guests, qtbot):
    registry = guests(zgood=GOOD)
    registry.safe_mode = True
    assert [starts.begin_start() for _ in range(3)] == [False, False, True]
    shown = window(registry)
    assert not registry.has("good.model")
    shown.plugin_watch.offer_safe_mode()
    _message(shown, "Safe mode", "the last two starts")
    assert shown.windowTitle().endswith("(safe mode)")
    _press(shown, "Load plugins")
    qtbot.waitUntil(lambda: registry.has("good.model"), timeout=20_000)
    qtbot.waitUntil(lambda: not shown.windowTitle().endswith("(safe mode)"), timeout=20_000)
    assert starts.failed_starts() == 3
    _load_ahead(shown)
    assert starts.failed_starts() == 0


@pytest.mark.long
def test_start_of_the_program(monkeypatch, guests, qtbot, capsys):
    """``main`` counts, offers, holds the guests back, and is done with it when the user closes the window."""
    from plaidwork.gui import app

    guests(zgood=GOOD)
    seen = []

    def closed_at_once():
        (shown,) = (w for w in QApplication.topLevelWidgets() if isinstance(w, MainWindow) and w.isVisible())
        seen.append((shown.workbench.registry.safe_mode, shown.messages.count, starts.failed_starts()))
        qtbot.addWidget(shown)
        shown.close()
        return 0

    monkeypatch.setattr(app.QApplication, "exec", staticmethod(closed_at_once))
    before = sys.excepthook
    try:
        assert app.main([]) == 0
        for _ in range(2):
            starts.begin_start()
        assert app.main([]) == 0
        assert "plaidwork --safe-mode" in capsys.readouterr().err
        assert app.main(["--safe-mode"]) == 0
    finally:
        sys.excepthook = before
    assert [(safe, count) for safe, count, _ in seen] == [(False, 0), (True, 1), (True, 1)]
    assert starts.failed_starts() == 0
    wait_for_tasks()
    assert threading.active_count() < 60

"""Start of the window: application, theme, exception hook, first page."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

from plaidwork.core.contract.plugin_fault import passed_through
from plaidwork.core.contract.plugin_info import plugin_error
from plaidwork.core.data.samples import Sample, bundled_samples
from plaidwork.core.plugins.folder import add_plugin_folder
from plaidwork.core.plugins.registry import Registry
from plaidwork.core.plugins.starts import HINT, begin_start, start_succeeded
from plaidwork.core.quoting import lines
from plaidwork.gui.crash import CrashFile, offer_crashes, report
from plaidwork.gui.garbage import collect_here, settle
from plaidwork.gui.icons import app_icon
from plaidwork.gui.language import chosen_language, set_language
from plaidwork.gui.main_window import MainWindow
from plaidwork.gui.run_places import RunPlaces, chain_pool
from plaidwork.gui.settings import Settings
from plaidwork.gui.style import install_style
from plaidwork.gui.tasks import run_task, wait_for_tasks
from plaidwork.gui.theme import TEXT_SCALES, theme
from plaidwork.gui.tour import first_tour
from plaidwork.gui.workbench import Workbench


def make_application(settings: Settings) -> QApplication:
    """The application with our style, fonts and colours; the one that exists is used again."""
    app = QApplication.instance() or QApplication(sys.argv[:1])
    assert isinstance(app, QApplication)
    # a thread that computes gives the interpreter back after half a millisecond, so that drawing is never held up
    sys.setswitchinterval(0.0005)
    app.setApplicationName("plaidwork")
    app.setApplicationDisplayName("Plaidwork")
    app.setDesktopFileName("plaidwork")
    app.setWindowIcon(app_icon())
    set_language(chosen_language(settings.text("language")))
    mode = settings.text("theme", "system")
    kept = settings.text("text_scale", "1.0")
    theme().set_text_scale(next((scale for scale in TEXT_SCALES if str(scale) == kept), 1.0))
    theme().set_contrast("high" if settings.flag("high_contrast") else "system")
    theme().install(app)
    theme().set_mode(mode if mode in ("light", "dark", "system") else "system")
    install_style(app)
    collect_here(app)
    return app


def install_exception_hook(window: MainWindow) -> None:
    """An unexpected error becomes a message; the program goes on."""

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            window.close()
            return
        details = "".join(traceback.format_exception(kind, error, trace))
        sys.stderr.write(lines(details))
        if _is_a_views(error) or _blame_plugin(window, error):
            return
        window.messages.post(
            "error",
            "Something in the program went wrong",
            f"{kind.__name__}: {error}. Your work is still open.",
            [("Details", lambda: _show(window, str(error), details))],
        )

    sys.excepthook = hook


def _show(window: MainWindow, text: str, details: str) -> None:
    window.commands.show_details("What went wrong", text, report(window, details))


def _is_a_views(error: BaseException) -> bool:
    """Whether a custom view takes the error on itself (a slot or timer of the plugin's widget)."""
    module = sys.modules.get("plaidwork.gui.results.custom_page")
    return module is not None and module.claim(error)


def _blame_plugin(window: MainWindow, error: BaseException) -> bool:
    """Name the plugin when the error came out of one."""
    for info in window.workbench.registry.plugins:
        if info.source != "built-in" and info.prefixes and passed_through(error, info.prefixes):
            wrapped = plugin_error(info, "", error)
            window.workbench.faults.blame(f"Something in the plugin {info.title} went wrong", wrapped.fault)
            return True
    return False


def make_window(settings: Settings | None = None, workbench: Workbench | None = None) -> MainWindow:
    """The window with its welcome page; examples are listed and plugins loaded in the background."""
    settings = settings or Settings()
    window = MainWindow(workbench or Workbench(places=RunPlaces(settings)), settings)
    run_task(lambda task: _examples(), lambda found: _show_examples(window, found))
    return window


def _examples() -> list[Sample]:
    return list(bundled_samples())


def _show_examples(window: MainWindow, samples: Sequence[Sample]) -> None:
    registry = window.workbench.registry
    titles = {spec.id: spec.title for spec in registry.specs()} if registry.settled else {}
    window.welcome.set_examples(
        [(sample, titles.get(sample.model) or _model_title(sample.model)) for sample in samples]
    )


def _model_title(model_id: str) -> str:
    """A title until the models are loaded (that takes a second): ``infinite_plaid`` -> ``Infinite plaid``."""
    return model_id.rsplit(".", 1)[-1].replace("_", " ").capitalize()


def offer_recoveries(window: MainWindow) -> None:
    """Offer the newest work that a crash left behind."""
    from plaidwork.core.session.recovery import find_recoveries

    run_task(lambda task: find_recoveries(), window.commands.offer_recovery, lambda error, details: None)


def main(argv: Sequence[str] | None = None) -> int:
    """Open the window and stay until it is closed; options as ``plaidwork --help`` lists them."""
    from plaidwork.core.cli.options import window_parser

    options = window_parser().parse_args(sys.argv[1:] if argv is None else list(argv))
    for folder in options.plugin_dir:
        add_plugin_folder(folder)
    offer = begin_start() and not options.safe_mode
    if offer:
        sys.stderr.write(f"plaidwork: {HINT}\n")
    settings = Settings()
    crash_file = CrashFile()
    app = make_application(settings)
    # lookups of the window never wait for a guest; after starts that died guests wait for the user
    registry = Registry(safe_mode=options.safe_mode or offer, patient=False)
    pool = None if settings.text("fits/chains") == "threads" else chain_pool()
    places = RunPlaces(settings, pool)
    window = make_window(settings, Workbench(registry, places=places))
    install_exception_hook(window)
    window.show()
    if registry.safe_mode:
        window.plugin_watch.offer_safe_mode(asked=not offer)
    QTimer.singleShot(0, window, lambda: _begin(window, options.session, options.example))
    if not (options.session or options.example or options.smoke or registry.safe_mode):
        first_tour(window)
    if options.smoke:
        from plaidwork.gui.smoke import Smoke

        smoke = Smoke(window, Path(options.smoke))
        app.exec()
        code = smoke.exit_code
    else:
        code = app.exec()
    start_succeeded()  # closed by the user, however early
    wait_for_tasks()
    places.close()
    crash_file.close()
    return code


def _begin(window: MainWindow, session: Path | None, example: str | None) -> None:
    if session is not None:
        window.commands.open_path(session)
    elif example:
        registry = window.workbench.registry
        run_task(
            lambda task: registry.load().samples, lambda samples: _open_example(window, example, samples)
        )
    offer_recoveries(window)
    offer_crashes(window)
    # models, Numba and pyqtgraph load while the user looks at the first page
    run_task(lambda task: _load_ahead(window), lambda samples: _settle(window, samples))


def _settle(window: MainWindow, samples: Sequence[Sample]) -> None:
    _show_examples(window, samples)
    settle()


def _open_example(window: MainWindow, example: str, samples: Sequence[Sample]) -> None:
    chosen = next((sample for sample in samples if sample.id == example), None)
    if chosen is not None:
        window.commands.open_example(chosen)
        return
    known = ", ".join(sample.id for sample in samples)
    window.messages.post("warn", f"There is no example “{example}”", f"Known: {known}.")


def _load_ahead(window: MainWindow) -> Sequence[Sample]:
    """Import what is needed next and load the plugins; the examples, those of guests included."""
    from importlib import import_module

    for module in ("setup.setup_page", "monitor.live_page", "results.registry", "monitor.diagnostics_page"):
        import_module(f"plaidwork.gui.{module}")
    window.workbench.registry.load()
    start_succeeded()  # not before: a plugin that takes the program down does so while it is loaded
    return window.workbench.registry.samples

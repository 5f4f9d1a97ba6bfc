"""A view that a plugin draws itself. Whatever its widget raises ends up as a message in this pane."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from weakref import WeakSet

from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtWidgets import QWidget
from shiboken6 import isValid

from plaidwork.core.contract.model import Result, Table
from plaidwork.core.contract.plugin_fault import frame_of, passed_through
from plaidwork.core.contract.plugin_info import owner_of, passes, plugin_error
from plaidwork.core.contract.views import ResultStore, ViewFactory
from plaidwork.core.errors import PluginError
from plaidwork.core.views.sources import SourceError, Sources
from plaidwork.gui.results.page import ResultPage
from plaidwork.gui.results.show_data import Content
from plaidwork.gui.widgets.layouts import vertical

FACTORY = "factory"
_live: WeakSet[CustomPage] = WeakSet()


class CustomPage(ResultPage):
    """Holds the widget of a :class:`ViewFactory`, and puts it away when it fails."""

    icon_name = "chart"

    def build(self) -> QWidget:
        self.widget: QWidget | None = None
        self.factory: ViewFactory | None = None
        self._broken = ""
        holder = QWidget()
        self._layout = vertical(on=holder)
        _live.add(self)
        return holder

    # -- loading --------------------------------------------------------------------------------
    def refresh(self) -> None:
        """Load again; a widget that failed gets another chance."""
        self._broken = ""
        super().refresh()

    def load(self, sources: Sources) -> tuple[ViewFactory, ResultStore]:
        sources.wait()
        name = str(self.view.options.get(FACTORY, ""))
        factory = self.workbench.registry.view_factory(name) if name else None
        if factory is None and name:
            self.workbench.registry.load()  # it may still be on its way; this is no GUI thread
            factory = self.workbench.registry.view_factory(name)
        if factory is None:
            raise SourceError(
                f"It is drawn by a plugin that is not loaded (“{name}”)."
                if name
                else "The view does not name its factory."
            )
        return factory, ResultStore(self.run, self.workbench.session.datasets, sources.results)

    def show_loaded(self, loaded: tuple[ViewFactory, ResultStore]) -> None:
        factory, store = loaded
        update = getattr(self.widget, "update_results", None)
        again = self.widget is not None and factory is self.factory and callable(update)
        try:
            if again:
                update(store)  # type: ignore[misc]
            else:
                self._put_away()
                self.factory = factory
                made = factory.make(store, self.workbench.selection(self.run), self._content)
                if not isinstance(made, QWidget):
                    raise PluginError(f"it returned {type(made).__name__}, not a QWidget", hook="make")
                self._take(made)
        except BaseException as error:
            if passes(error) and not isinstance(error, Exception):
                raise
            self.fail("update_results" if again else "make", error)
        if self._broken:
            self._show_broken()

    def _take(self, widget: QWidget) -> None:
        self.widget = widget
        for part in (widget, *widget.findChildren(QWidget)):
            _guard(part, self)  # first: being laid out and shown calls its handlers
        self._layout.addWidget(widget)
        widget.show()

    # -- failing --------------------------------------------------------------------------------
    def fail(self, hook: str, error: BaseException) -> None:
        """Put the widget away and say why; the first failure counts."""
        if self._broken:
            return
        wrapped = plugin_error(self.factory or self.run.spec, hook, error)
        self._broken = wrapped.message
        self._fault = wrapped.fault
        QTimer.singleShot(0, self, self._show_broken)  # never delete a widget inside its own paint event

    def _show_broken(self) -> None:
        if not self._broken:
            return
        self._put_away()
        self.show_failure(self._broken, self._fault.report, self._fault.plugin)

    def _put_away(self) -> None:
        widget, self.widget = self.widget, None
        if widget is not None and isValid(widget):
            widget.hide()
            self._layout.removeWidget(widget)
            widget.setParent(None)
            widget.deleteLater()
        for left in [child for child in self._content.children() if isinstance(child, QWidget)]:
            left.hide()  # what make() had begun when it raised
            left.deleteLater()

    def owns(self, error: BaseException) -> bool:
        """Whether an exception comes from the widget's plugin."""
        if self.widget is None or self.factory is None:
            return False
        prefixes = (*owner_of(self.factory).prefixes, type(self.widget).__module__)
        own = tuple(
            prefix for prefix in prefixes if not prefix.startswith(("PySide6", "plaidwork.gui", "pyqtgraph"))
        )
        return passed_through(error, own)

    # -- what every view can do -----------------------------------------------------------------
    def data_content(self) -> tuple[Content, Mapping[str, Callable[[Any], str]]]:
        """The first table or array among the sources (or among all results)."""
        _factory, store = self.loaded
        names = [*self.view.source.values(), *store]
        for name in names:
            found = store.get(name)
            if isinstance(found, Table):
                return dict(found.columns), {}
            if isinstance(found, Result) and found.values.ndim == 1:
                return {found.label or name: found.values}, {}
        raise SourceError("There is no table behind this picture.")

    def show_data(self) -> QWidget | None:
        """The table behind the picture, when there is one."""
        try:
            return super().show_data()
        except SourceError as error:
            self.workbench.notified.emit("info", "Nothing to show as a table", str(error), "")
            return None

    def search(self, text: str) -> list[str]:
        """Ask the widget, when it has a method ``search(text)`` that returns the names it found."""
        find = getattr(self.widget, "search", None)
        if not callable(find):
            return []
        try:
            return [str(name) for name in find(text)]
        except Exception as error:
            self.fail("search", error)
            return []


def claim(error: BaseException) -> bool:
    """Give an unhandled exception to the custom view it comes from; False when it comes from none.

    Qt hands exceptions of slots and timers to ``sys.excepthook`` only.
    """
    for page in list(_live):
        if isValid(page) and page.owns(error):
            called, _frame = frame_of(error, owner_of(page.factory).prefixes)
            page.fail(called or "slot", error)
            return True
    return False


def _handlers(widget: QObject) -> Iterator[str]:
    """Names of the methods that Qt calls and that a class of the plugin overrides."""
    seen: set[str] = set()
    for kind in type(widget).__mro__:
        if kind.__module__.split(".")[0] == "PySide6":
            return
        for name in vars(kind):
            if name not in seen and callable(getattr(kind, name, None)) and _of_qt(type(widget), name):
                seen.add(name)
                yield name


def _of_qt(kind: type, name: str) -> bool:
    if name.startswith("__"):
        return False
    return any(name in vars(base) for base in kind.__mro__ if base.__module__.split(".")[0] == "PySide6")


def _guard(widget: QWidget, page: CustomPage) -> None:
    """Catch what the widget's own event handlers raise: Qt would only print it, at every repaint anew."""
    for name in list(_handlers(widget)):
        setattr(widget, name, _guarded(getattr(widget, name), name, page))


def _guarded(method: Callable[..., Any], name: str, page: CustomPage) -> Callable[..., Any]:
    fallback = {"event": False, "eventFilter": False}

    @functools.wraps(method)
    def call(*values: Any) -> Any:
        try:
            return method(*values)
        except BaseException as error:
            if isinstance(error, GeneratorExit):
                raise
            if isValid(page):
                page.fail(name, error)
            for value in values:
                if isinstance(value, QEvent):
                    value.accept()
            return fallback.get(name)

    return call

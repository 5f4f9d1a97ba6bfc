"""Messages about what went wrong: tasks, plugins and chains that failed, each with what helps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from PySide6.QtWidgets import QApplication

from plaidwork.core.contract.plugin_fault import PluginFault
from plaidwork.core.draws.counting import counted
from plaidwork.core.errors import PlaidworkError, PluginError
from plaidwork.core.inference.events import Failed
from plaidwork.core.inference.run import Run
from plaidwork.gui.task_dialog import error_text
from plaidwork.gui.tasks import Task, run_task
from plaidwork.gui.widgets import Message
from plaidwork.gui.widgets.message_bar import Action

if TYPE_CHECKING:
    from plaidwork.gui.workbench import Workbench


class Faults:
    """Puts faults into words for the message bar of a workbench."""

    def __init__(self, workbench: Workbench) -> None:
        self._workbench = workbench
        self._failed: dict[str, list[Failed]] = {}

    def clear(self) -> None:
        """Another session: no chain has failed in it."""
        self._failed.clear()

    def forget(self, run: Run) -> None:
        """The chains of a run start again."""
        self._failed.pop(run.id, None)

    def report(self, title: str, actions: Sequence[Action] = ()) -> Callable[[BaseException, str], None]:
        """What a task calls that has failed: a message with this title, and with ``actions`` that help."""

        def report(error: BaseException, details: str) -> None:
            if isinstance(error, PluginError) and error.fault is not None:
                self.blame(title, error.fault, error.hint)
                return
            text = error_text(error)
            if isinstance(error, PlaidworkError):
                text, details = _after(title, text), ""
            elif isinstance(error, MemoryError):
                text = "It needs more memory than is free. Close other programs, or use smaller data."
            if actions:
                self._workbench.message_posted.emit(Message("error", title, text, actions, title))
            else:
                self._workbench.notified.emit("error", title, text, details)

        return report

    def blame(
        self, title: str, fault: PluginFault, text: str = "", *, key: str = "", kind: str = "error"
    ) -> None:
        """Show what a plugin did wrong, with its traceback, and the button that turns it off."""
        name = fault.plugin
        actions: list[tuple[str, Callable[[], object]]] = [
            ("Details", lambda: self._workbench.details_requested.emit(title, fault.message, fault.report)),
            ("Copy", lambda: QApplication.clipboard().setText(f"{title}\n{fault.report}")),
        ]
        if any(info.name == name and info.state != "disabled" for info in self._workbench.registry.plugins):
            actions.append(("Disable plugin", lambda: self.disable_plugin(name)))
        self._workbench.message_posted.emit(
            Message(kind, title, f"{fault.message} {text}".strip(), actions, key or f"plugin {name}")
        )

    def disable_plugin(self, name: str) -> Task:
        """Turn a plugin off, in the background, for now and for the next starts."""

        def done(_: Any) -> None:
            text = "Its models are not offered any more. Results made with it stay. Turn it on again under Plugins."
            self._workbench.notified.emit("info", f"The plugin {name} is turned off", text, "")

        return run_task(
            lambda task: self._workbench.registry.disable(name),
            done,
            self.report(f"{name} could not be turned off for good"),
        )

    def chain_failed(self, run: Run, event: Failed) -> None:
        """One message for all chains of a run that failed, with the reason of the latest."""
        self._failed.setdefault(run.id, []).append(event)
        record, count = run.chains[event.chain], len(self._failed[run.id])
        at = f" at sweep {record.sweep + 1}" if record.sweep else ""
        who = f"{run.chain_word} {event.chain + 1}"
        if count > 1:
            who, at = f"{count} of {counted(len(run.chains), run.chain_word)}", ""
        title = f"{run.title}: {who} {'failed' if event.fault is None else 'stopped'}{at}"
        safe = (
            f"All draws up to sweep {record.saved.sweep} are safe." if record.saved else "Your data are safe."
        )
        key = failure_key(run)
        if event.fault is not None:
            text = f"{safe} Update or disable the plugin, or send the details to its author."
            self.blame(title, event.fault, text, key=key)
            return
        text, details = f"{event.message} {event.hint}".strip(), event.details
        actions: list[tuple[str, Callable[[], object]]] = []
        if details:
            actions.append(("Details", lambda: self._workbench.details_requested.emit(title, text, details)))
        self._workbench.message_posted.emit(Message("error", title, f"{text} {safe}", actions, key))


def _after(title: str, text: str) -> str:
    """A sentence that begins with the words of the title, without them."""
    rest = text.removeprefix(f"{title}: ")
    return f"{rest[:1].upper()}{rest[1:]}" if rest != text else text


def failure_key(run: Run) -> str:
    """Key of the message that tells why a run failed."""
    return f"failed {run.id}"

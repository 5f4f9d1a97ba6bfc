"""Errors that are the user's to act on: what happened, and what to do about it."""

from typing import Any


class PlaidworkError(Exception):
    """An expected failure, shown to the user without a traceback.

    Parameters
    ----------
    message : what happened, naming the thing, the rule and the value found.
    hint : what to do about it; may be empty.
    """

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()

    def __reduce__(self) -> tuple[type, tuple[str, str]]:
        return type(self), (self.message, self.hint)


class ModelError(PlaidworkError):
    """A model cannot go on with these data or settings (raised by plugins)."""


class DataError(PlaidworkError):
    """A file or matrix is not what was expected."""


class DataWarning(UserWarning):
    """Something about the data of a fit from Python that may not be what was meant; the log of the run has it too."""


class SettingError(PlaidworkError):
    """A setting is outside what its declaration allows."""


class PictureError(PlaidworkError):
    """A picture is described in a way that cannot be drawn: lengths that differ, numbers that are infinite, unknown words."""


class SessionError(PlaidworkError):
    """A session file cannot be read or written."""


class LimitError(SessionError):
    """A session file is larger than is opened without a question; the user may have it opened all the same."""


class ChangedError(SessionError):
    """A session file is not what it was when it was opened; to replace it loses what others wrote."""


class PluginError(PlaidworkError):
    """A plugin breaks the contract, or raised what it must not.

    ``plugin`` names it, ``hook`` is the hook or method that failed, and ``fault`` (a
    :class:`plaidwork.core.contract.plugin_fault.PluginFault`) holds version, frame and traceback, once they are known.
    """

    def __init__(
        self, message: str, hint: str = "", plugin: str = "", hook: str = "", fault: Any = None
    ) -> None:
        super().__init__(message, hint)
        self.plugin = plugin
        self.hook = hook
        self.fault = fault

    def __reduce__(self) -> tuple[type, tuple[Any, ...]]:
        return type(self), (self.message, self.hint, self.plugin, self.hook, self.fault)

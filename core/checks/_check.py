"""A check: a function with a title, the reason of a failure, and the frame of the plugin that it leads to."""

from __future__ import annotations

import inspect
import traceback
import unittest
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plaidwork.core.errors import PlaidworkError, PluginError
from plaidwork.core.linear_algebra import one_thread

if TYPE_CHECKING:
    from plaidwork.core.checks._bench import Bench

LEVELS = ("quick", "full")


class CheckFailed(AssertionError):
    """The model breaks a rule: ``message`` says which and where, ``hint`` what to do."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(f"{message} {hint}".strip())
        self.message = message
        self.hint = hint


class CheckSkipped(unittest.SkipTest):
    """The check does not apply to this model; pytest takes it as a skip."""


Case = tuple[str, Any]
"""Name of one case of a check, and what the function gets for it."""


@dataclass(frozen=True, slots=True)
class Template:
    """A check before it meets a model. ``cases`` makes one check of each case; without it there is one."""

    id: str
    group: str
    title: str
    doc: str
    run: Callable[..., None]
    cases: Callable[[Bench], Iterable[Case]] | None


TEMPLATES: list[Template] = []


def check(
    title: str, cases: Callable[[Bench], Iterable[Case]] | None = None
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Register a function ``(bench)``, or ``(bench, case)``, that raises ``CheckFailed``; its name is the id."""

    def register(function: Callable[..., None]) -> Callable[..., None]:
        group = function.__module__.rsplit(".", 1)[-1]
        doc = inspect.cleandoc(function.__doc__ or "")
        TEMPLATES.append(Template(function.__name__, group, title, doc, function, cases))
        return function

    return register


@dataclass(frozen=True, slots=True)
class Check:
    """One check of one model: call it. Raises ``CheckFailed``, or ``CheckSkipped`` when it does not apply."""

    id: str
    group: str
    title: str
    doc: str
    run: Callable[[], None]

    def __call__(self) -> None:
        with one_thread():
            self.run()

    def __str__(self) -> str:
        return self.id


def fail(bench: Bench, method: str, message: str, hint: str = "") -> CheckFailed:
    """A failure that names the model and the method."""
    return CheckFailed(f"{bench.name}, {method}: {message}", hint)


@contextmanager
def blame(bench: Bench, method: str, refusal: bool = False) -> Iterator[None]:
    """Turn what the model raises into a failure that names its method and the frame in the plugin.

    With ``refusal`` errors meant for the user (``ModelError``, ``DataError``, ``SettingError``) pass through.
    """
    try:
        yield
    except (CheckFailed, CheckSkipped):
        raise
    except PluginError as error:
        if not isinstance(error.__cause__, Exception):
            raise fail(
                bench, f"{error.hook}()" if error.hook else method, error.message, error.hint
            ) from error
        cause = error.__cause__
        where = location(bench, cause)
        raise fail(bench, *_told(bench, method, cause, where), _advice(cause)) from cause
    except PlaidworkError as error:
        if refusal:
            raise
        where = location(bench, error)
        raise fail(bench, *_told(bench, method, error, where), _refused(error)) from error
    except Exception as error:
        where = location(bench, error)
        raise fail(bench, *_told(bench, method, error, where), _advice(error)) from error


def _told(bench: Bench, method: str, error: Exception, where: tuple[str, str]) -> tuple[str, str]:
    called, frame = where
    text = f"{type(error).__name__}: {error}".rstrip()
    if text[-1:] not in ".!?":
        text += "."
    return (f"{called}()" if called else method), f"{text} {frame}".strip()


def _refused(error: PlaidworkError) -> str:
    return "The data of this check are regular and the settings the defaults; they must be accepted."


def _advice(error: Exception) -> str:
    if isinstance(error, ValueError) and "read-only" in str(error):
        return "data and params may only be read; copy what you change."
    if isinstance(error, Warning):
        return "A fit gives no warnings; guard the computation, or raise ModelError."
    return "Errors of the user's making are raised as ModelError(message, hint); anything else is a bug."


def location(bench: Bench, error: BaseException) -> tuple[str, str]:
    """(method of the model that was called, ``At file:line in function.``); empty outside the plugin."""
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if any(_inside(Path(frame.filename), root) for root in bench.roots)
    ]
    if not frames:
        return "", ""
    last = frames[-1]
    name = Path(last.filename).name
    return frames[0].name, f"At {name}:{last.lineno} in {last.name}."


def _inside(path: Path, root: Path) -> bool:
    return path == root or root in path.parents

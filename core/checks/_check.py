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
from plaidwork.core.inference.linear_algebra import one_thread

if TYPE_CHECKING:
    from plaidwork.core.checks._bench import Bench

LEVELS = ("quick", "full")


class CheckFailed(AssertionError):
    """The model breaks a rule: ``message`` says which and where, ``hint`` what to do.

    ``cause`` is the same for all failures by one fault; the message, unless an exception of the model is behind it.
    """

    def __init__(self, message: str, hint: str = "", cause: str = "") -> None:
        super().__init__(f"{message} {hint}".strip())
        self.message = message
        self.hint = hint
        self.cause = cause or message


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


def fail(bench: Bench, method: str, message: str, hint: str = "", cause: str = "") -> CheckFailed:
    """A failure that names the model and the method."""
    return CheckFailed(f"{bench.name}, {method}: {message}", hint, cause)


def cause_of(error: str, frame: str) -> str:
    """What failures by one fault have in common: kind of the exception and line of the plugin; its words may differ."""
    return f"{error.partition(':')[0]} at {frame}" if frame else ""


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
        raise _failure(bench, method, cause, _advice(cause)) from cause
    except PlaidworkError as error:
        if refusal:
            raise
        raise _failure(bench, method, error, _refused(error)) from error
    except Exception as error:
        raise _failure(bench, method, error, _advice(error)) from error


def _failure(bench: Bench, method: str, error: Exception, advice: str) -> CheckFailed:
    called, frame = location(bench, error)
    text = f"{type(error).__name__}: {error}".rstrip()
    if text[-1:] not in ".!?":
        text += "."
    where = f" At {' in '.join(frame.rsplit(', ', 1))}." if frame else ""
    cause = cause_of(type(error).__name__, frame)
    return fail(bench, f"{called}()" if called else method, f"{text}{where}", advice, cause)


def _refused(error: PlaidworkError) -> str:
    return "The data of this check are regular and the settings the defaults; they must be accepted."


def _advice(error: Exception) -> str:
    if isinstance(error, ValueError) and "read-only" in str(error):
        return "data and params may only be read; copy what you change."
    if isinstance(error, Warning):
        return "A fit gives no warnings; guard the computation, or raise ModelError."
    return "Errors of the user's making are raised as ModelError(message, hint); anything else is a bug."


def location(bench: Bench, error: BaseException) -> tuple[str, str]:
    """(method of the model that was called, ``file:line, function``); empty outside the plugin."""
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if any(_inside(Path(frame.filename), root) for root in bench.roots)
    ]
    if not frames:
        return "", ""
    last = frames[-1]
    name = Path(last.filename).name
    return frames[0].name, f"{name}:{last.lineno}, {last.name}"


def _inside(path: Path, root: Path) -> bool:
    return path == root or root in path.parents

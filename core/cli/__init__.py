"""The command ``plaidwork``: without a command it opens the window, with one it works without a screen."""

from __future__ import annotations

import difflib
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from plaidwork.core.cli.options import COMMANDS, command_parser, window_parser
from plaidwork.core.cli.printing import warn
from plaidwork.core.errors import ModelError, PlaidworkError, PluginError, SettingError
from plaidwork.core.quoting import shell
from plaidwork.core.refusals import told

DONE, BAD_INPUT, MODEL_ERROR, STOPPED = 0, 2, 3, 4


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command, or open the window. Returns the exit code: 0 done, 2 bad input, 3 model error, 4 stopped."""
    args = list(sys.argv[1:] if argv is None else argv)
    debug = "--debug" in args
    args = [arg for arg in args if arg != "--debug"]
    try:
        if args and (args[0] in COMMANDS or args[0] in ("-h", "--help", "--version")):
            return _run_command(args)
        return _open_window(args)
    except BrokenPipeError:  # the reader of our output has gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nothing more to flush into
        return DONE
    except (PlaidworkError, OSError, MemoryError, KeyboardInterrupt) as error:
        if debug:
            raise
        return _tell(error)


def _tell(error: BaseException) -> int:
    """Say what went wrong on stderr; the exit code."""
    if isinstance(error, KeyboardInterrupt):
        warn("plaidwork: Stopped.")
        return STOPPED
    if isinstance(error, MemoryError):
        warn("plaidwork: This needs more memory than is free. Close other programs, or use smaller data.")
        return BAD_INPUT
    warn(f"plaidwork: {told(error) if isinstance(error, OSError) else error}")
    if isinstance(error, PluginError) and error.fault is not None:
        warn(f"plaidwork: To go on without it: plaidwork plugin disable {shell(error.plugin)}")
    return MODEL_ERROR if isinstance(error, (ModelError, PluginError)) else BAD_INPUT


def _run_command(args: list[str]) -> int:
    from importlib import import_module

    options = command_parser().parse_args(args)
    _add_plugin_folders(options.plugin_dir)
    module, name = COMMANDS[options.command].run.split(":")
    return int(getattr(import_module(module), name)(options))


def _add_plugin_folders(folders: Sequence[Path]) -> None:
    if folders:
        from plaidwork.core.plugins.folder import add_plugin_folder

        for folder in folders:
            add_plugin_folder(folder)


def _open_window(args: list[str]) -> int:
    options = window_parser().parse_args(args)
    if options.session is not None and not options.session.exists():
        word = str(options.session)
        near = difflib.get_close_matches(word, COMMANDS, n=1)
        hint = f"Did you mean “{near[0]}”?" if near else f"Commands: {', '.join(COMMANDS)}."
        raise SettingError(f"“{word}” is neither a session file nor a command.", hint)
    _add_plugin_folders(options.plugin_dir)
    try:
        from plaidwork.gui.app import main as window
    except ImportError as error:
        raise SettingError(
            f"The window cannot be opened: {error}.",
            "The commands work without it: plaidwork --help lists them.",
        ) from error
    return int(window(args) or 0)

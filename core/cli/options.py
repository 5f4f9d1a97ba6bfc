"""Every command with its options; nothing here imports more than the standard library."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from plaidwork.core import __version__
from plaidwork.core.cli import fit_options, session_options
from plaidwork.core.errors import SettingError

EPILOG = """Without a command the window opens:
  plaidwork [SESSION.plaidwork] [--example NAME] [--smoke PREFIX] [--safe-mode]
            [--plugin-dir DIR]

Exit codes: 0 done, 2 bad input, 3 the model failed, 4 stopped. --debug shows the traceback of an error."""


_MISSING = "the following arguments are required: "
"""How argparse begins what it says of arguments that were left out."""


class Parser(argparse.ArgumentParser):
    """Reports wrong usage like every other error of the command line."""

    def error(self, message: str) -> NoReturn:
        if message.startswith(_MISSING):
            needed = [self._shown(name) for name in message.removeprefix(_MISSING).split(", ")]
            listed = " and ".join([", ".join(needed[:-1]), needed[-1]]) if needed[1:] else needed[0]
            raise SettingError(f"{self.prog} needs {listed}.", f"See {self.prog} --help.")
        raise SettingError(f"{message[:1].upper()}{message[1:]}.", f"See {self.prog} --help.")

    def _shown(self, name: str) -> str:
        """An argument as it is typed: ``--out S.plaidwork`` for ``--out/-o``."""
        first = name.split("/")[0]
        found = self._option_string_actions.get(first)
        return f"{first} {found.metavar}" if found is not None and found.metavar else first


@dataclass(frozen=True)
class Command:
    """A command: one line of help, who runs it (``module:function``), and its options."""

    help: str
    run: str
    add: Callable[[argparse.ArgumentParser], None]


def command_parser() -> argparse.ArgumentParser:
    parser = Parser(
        "plaidwork",
        description="Fit Bayesian latent-structure models, in a window or without one.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"plaidwork {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=Parser)
    for name, command in COMMANDS.items():
        added = commands.add_parser(name, help=command.help, description=command.help)
        command.add(added)
        for leaf in _leaves(added):
            _plugin_dir(leaf)
    return parser


def _leaves(parser: argparse.ArgumentParser) -> list[argparse.ArgumentParser]:
    """The parser, or those of its actions when it has some."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return list(action.choices.values())
    return [parser]


def _plugin_dir(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--plugin-dir", type=Path, action="append", default=[], metavar="DIR",
        help="look for plugins in this folder too; repeat it",
    )  # fmt: skip


def window_parser() -> argparse.ArgumentParser:
    """Options of the window; ``plaidwork.gui.app.main`` gets the same arguments."""
    parser = Parser("plaidwork", add_help=False, usage="plaidwork [SESSION.plaidwork] [options]")
    parser.add_argument("session", nargs="?", type=Path)
    parser.add_argument("--example", metavar="NAME", help="open a bundled example and fit it")
    parser.add_argument(
        "--smoke",
        metavar="PREFIX",
        help="fit a moment, write PREFIX.plaidwork and PREFIX.png, read the session again, quit",
    )
    parser.add_argument("--safe-mode", action="store_true", help="load the built-in models only")
    _plugin_dir(parser)
    return parser


def _models(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", nargs="?", metavar="MODEL", help="say what this model takes, by its id")
    parser.add_argument("--json", action="store_true", help="the full declarations as JSON")


def _prepare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("models", nargs="*", metavar="MODEL", help="ids of models (all)")


def _text(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "source", type=Path, metavar="SOURCE", help="a table, a folder of .txt files, or counts"
    )
    parser.add_argument("--text-column", metavar="TITLE", help="column with the texts (found by its look)")
    parser.add_argument("--names", metavar="TITLE", help="column with the names of the documents")
    parser.add_argument(
        "--outcome", metavar="TITLE[=VALUE]", help="column with the outcome; VALUE counts as 1"
    )
    parser.add_argument("--cluster", metavar="TITLE", help="column that says which documents belong together")
    parser.add_argument("--group", metavar="TITLE", help="column with groups, such as a treatment")
    parser.add_argument(
        "--covariate", metavar="TITLE", action="append", default=[], help="a covariate; repeat it"
    )
    parser.add_argument("--skip", metavar="TITLE", action="append", default=[], help="leave out this column")
    parser.add_argument("--stop-words", metavar="LANGUAGES", help="lists left out (english), or none")
    parser.add_argument("--stop-word-file", type=Path, metavar="FILE", help="more words to leave out")
    parser.add_argument("--stem", metavar="LANGUAGE", help="join the forms of a word")
    parser.add_argument("--keep-case", action="store_true", help="do not change capitals")
    parser.add_argument("--ngrams", type=int, metavar="N", help="count phrases of up to N words, 1 to 3 (1)")
    parser.add_argument("--numbers", choices=("drop", "keep"), help="words of digits (drop)")
    parser.add_argument("--punctuation", choices=("inner", "split", "keep"), help="what marks do (inner)")
    parser.add_argument("--min-length", type=int, metavar="N", help="letters of the shortest word (2)")
    for word, usual in (("min", "0.5 %"), ("max", "100 %")):
        text = f"{'fewest' if word == 'min' else 'most'} documents with a word, number or share ({usual})"
        parser.add_argument(f"--{word}-documents", metavar="N", help=text.replace("%", "%%"))
    parser.add_argument("--max-words", type=int, metavar="N", help="most words kept (0: all)")
    parser.add_argument("--empty", choices=("drop", "keep"), help="documents without a word (drop)")
    parser.add_argument("--encoding", metavar="NAME", help="utf-8, windows-1252, latin-1 or utf-16")
    parser.add_argument(
        "--import-option", metavar="KEY=VALUE", action="append", default=[], help="how to read the file"
    )
    parser.add_argument(
        "--out", "-o", type=Path, metavar="FILE", help="session or .mtx to write; else a preview"
    )
    parser.add_argument("--force", "-f", action="store_true", help="replace an existing file")
    parser.add_argument("--json", action="store_true", help="the preview as JSON")


def _plugin(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True, parser_class=Parser)
    listed = actions.add_parser("list", help="list the plugins, with their state")
    listed.add_argument("--json", action="store_true", help="the same as JSON")
    check = actions.add_parser("check", help="check a model against the contract (docs/plugins.md)")
    check.add_argument("model", metavar="MODEL", help="model id, plugin, module, module:Class or .py file")
    check.add_argument(
        "--full", action="store_true", help="more draws in the tests against the prior: minutes"
    )
    for name in ("only", "skip"):
        check.add_argument(
            f"--{name}", metavar="CHECK", action="append", default=[], help="id or group of checks; repeat it"
        )
    check.add_argument("--seed", type=int, default=1, help="fixes the random choices of the checks (1)")
    check.add_argument("--json", action="store_true", help="the reports as JSON")
    new = actions.add_parser("new", help="write a package with a model of one's own, to begin from")
    new.add_argument("name", metavar="NAME", help="name of the package, such as my-model")
    new.add_argument(
        "--folder", type=Path, default=Path(), metavar="DIR", help="where the package's folder is made (here)"
    )
    install = actions.add_parser("install", help="install a plugin into the plugin folder")
    install.add_argument("what", metavar="WHAT", help="a wheel file, or the name of a package")
    uninstall = actions.add_parser("uninstall", help="remove what plugin install put there")
    uninstall.add_argument("name", metavar="NAME", help="a plugin or its distribution")
    for word, text in (("enable", "turn a plugin on"), ("disable", "turn a plugin off")):
        actions.add_parser(word, help=text).add_argument("name", metavar="NAME", help="name of the plugin")
    for action in (install, uninstall):
        action.add_argument("--yes", "-y", action="store_true", help="do not ask")


_HERE = "plaidwork.core.cli"
COMMANDS = {
    "models": Command(
        "List the installed models, or say what one takes.", f"{_HERE}.looking:models", _models
    ),
    "prepare": Command(
        "Compile the kernels of models ahead, so that no fit waits for it.",
        f"{_HERE}.preparing:prepare",
        _prepare,
    ),
    "fit": Command("Fit a model and write a session.", f"{_HERE}.fitting:fit", fit_options.fit),
    "study": Command(
        "Fit a grid of settings and seeds, rank the fits, pick one.",
        f"{_HERE}.studying:study",
        fit_options.study,
    ),
    "run": Command("Fit what a job file describes.", f"{_HERE}.fitting:run", fit_options.run),
    "resume": Command("Go on with a stored run or study.", f"{_HERE}.resuming:resume", fit_options.resume),
    "analyse": Command(
        "Make an analysis of a stored run, or list them.",
        f"{_HERE}.analysing:analyse",
        session_options.analyse,
    ),
    "info": Command("Say what a session holds.", f"{_HERE}.looking:info", session_options.info),
    "data": Command(
        "Make results of a stored run data of the session, or list those that can be.",
        f"{_HERE}.deriving:data",
        session_options.data,
    ),
    "diff": Command(
        "Say what differs between two sessions.", f"{_HERE}.comparing:diff", session_options.diff
    ),
    "copy": Command(
        "Write a copy of a session without its data, small, or with data in files of their own.",
        f"{_HERE}.copying:copy",
        session_options.copy,
    ),
    "export": Command(
        "Write results, draws, traces and data as plain files.",
        f"{_HERE}.looking:export",
        session_options.export,
    ),
    "report": Command(
        "Write a session as a page to read, with its figures.",
        f"{_HERE}.reporting:report",
        session_options.report,
    ),
    "methods": Command(
        "Print what to write of a run in the methods section of a paper.",
        f"{_HERE}.reporting:methods",
        session_options.methods,
    ),
    "example": Command(
        "List the bundled examples, or fit one.", f"{_HERE}.fitting:example", fit_options.example
    ),
    "text": Command("Count the words of documents.", f"{_HERE}.texts:text", _text),
    "verify": Command(
        "Repeat the first sweeps of a stored run and compare.",
        f"{_HERE}.verifying:verify",
        session_options.verify,
    ),
    "plugin": Command("List, check, switch, install and begin plugins.", f"{_HERE}.plugins:plugin", _plugin),
}

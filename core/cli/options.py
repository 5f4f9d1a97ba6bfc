"""Every command with its options; nothing here imports more than the standard library."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from plaidwork.core import __version__
from plaidwork.core.contract.schedule import SCHEDULE_WORDS
from plaidwork.core.data.reading_options import help_text
from plaidwork.core.errors import SettingError

EPILOG = """Without a command the window opens:
  plaidwork [SESSION.plaidwork] [--example NAME] [--smoke PREFIX] [--safe-mode]
            [--plugin-dir DIR]

Exit codes: 0 done, 2 bad input, 3 the model failed, 4 stopped. --debug shows the traceback of an error."""


class Parser(argparse.ArgumentParser):
    """Reports wrong usage like every other error of the command line."""

    def error(self, message: str) -> NoReturn:
        raise SettingError(f"{message[:1].upper()}{message[1:]}.", f"See {self.prog} --help.")


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
        "--smoke", metavar="PREFIX", help="fit a moment, write PREFIX.plaidwork and PREFIX.png, quit"
    )
    parser.add_argument("--safe-mode", action="store_true", help="load the built-in models only")
    _plugin_dir(parser)
    return parser


def _models(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="the full declarations as JSON")


def _fit(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help="id of a model (plaidwork models lists them)")
    _described(parser, required=True)
    _running(parser)


def _described(parser: argparse.ArgumentParser, required: bool) -> None:
    """Data, settings and schedule of a fit."""
    parser.add_argument(
        "--input", "-i", metavar="NAME=FILE", action="append", default=[], required=required,
        help="data of an input: a file, or OTHER:row:TITLE for a column beside another input",
    )  # fmt: skip
    parser.add_argument(
        "--set", "-s", metavar="NAME=VALUE", action="append", default=[], help="a setting of the model"
    )
    parser.add_argument("--seed", type=int, default=1, help="whole number that fixes all random choices (1)")
    _schedule(parser)
    parser.add_argument(
        "--holdout", type=float, default=0.0, metavar="SHARE", help="share of cells kept for scoring"
    )
    parser.add_argument(
        "--transform", metavar="[INPUT.]NAME[:KEY=VALUE,…]", nargs="+", action="extend", default=[],
        help="transformations of the data, in order",
    )  # fmt: skip
    parser.add_argument(
        "--import-option",
        metavar="[INPUT.]KEY=VALUE",
        action="append",
        default=[],
        help="how to read the file: the options below",
    )
    parser.add_argument(
        "--samples-in", metavar="[INPUT=]rows|columns", action="append", default=[],
        help="which axis of the matrix holds the samples; it is transposed where the model wants them on the other",
    )  # fmt: skip
    parser.add_argument(
        "--shown-by", metavar="INPUT:row:TITLE", action="append", default=[],
        help="an annotation that is shown in place of row (or column) names; repeat it",
    )  # fmt: skip
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = help_text()


def _schedule(parser: argparse.ArgumentParser) -> None:
    for name, (kind, text) in SCHEDULE_WORDS.items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=kind, help=text)


def _running(parser: argparse.ArgumentParser, out_required: bool = True) -> None:
    parser.add_argument(
        "--executor",
        choices=("threads", "processes", "inline"),
        default="threads",
        help="who runs the chains",
    )
    parser.add_argument(
        "--out", "-o", type=Path, metavar="S.plaidwork", required=out_required, help="session to write"
    )
    parser.add_argument("--force", "-f", action="store_true", help="replace an existing file")
    parser.add_argument("--json", action="store_true", help="progress as one JSON object per line")


def _study(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "what", metavar="WHAT",
        help="id of a model; a study file (.toml); or a session (.plaidwork), to go on with its study",
    )  # fmt: skip
    _described(parser, required=False)
    _any_size(parser)
    _running(parser, out_required=False)
    parser.set_defaults(executor=None)
    parser.add_argument(
        "--grid", "-g", metavar="NAME=V1,V2,…", action="append", default=[],
        help="values of a setting; all combinations are fitted (lists of numbers: separate them by ;)",
    )  # fmt: skip
    parser.add_argument("--seeds", metavar="N,N,…", default="", help="every combination with each seed")
    parser.add_argument(
        "--metric", metavar="NAME", help="trace or single number that ranks the fits (as the model says)"
    )
    parser.add_argument("--goal", choices=("up", "down"), help="which metric is better (as the model says)")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="jobs under way at a time (1)")
    parser.add_argument(
        "--keep", type=int, default=1, metavar="N", help="runs written with their draws, best first (1)"
    )
    parser.add_argument(
        "--pick", type=int, metavar="N",
        help="of a session: pick fit N, with the time; a second pick is recorded as exploratory",
    )  # fmt: skip
    parser.add_argument("--study", metavar="TITLE", help="of a session: which study (the last one)")


def _run(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("job", type=Path, metavar="JOB.toml", help="a job file (docs/command-line.md)")
    _running(parser)
    parser.set_defaults(executor=None)


def _resume(parser: argparse.ArgumentParser) -> None:
    _session(parser)
    parser.add_argument(
        "--draws", type=int, default=0, metavar="N", help="N more draws per chain than planned"
    )
    parser.add_argument(
        "--budget", type=float, default=0.0, metavar="SECONDS",
        help="go on until it has settled, for about so many seconds at most",
    )  # fmt: skip
    parser.add_argument("--run", metavar="TITLE", help="title or id of the run (default: the last one)")
    _running(parser, out_required=False)


def _session(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("session", type=Path, metavar="S.plaidwork")
    _any_size(parser)


def _any_size(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--any-size",
        action="store_true",
        help="open a session that another computer made, however much memory it takes",
    )


def _analyse(parser: argparse.ArgumentParser) -> None:
    _session(parser)
    parser.add_argument(
        "analysis", nargs="?", metavar="ANALYSIS", help="id of an analysis; without it they are listed"
    )
    parser.add_argument("--run", metavar="TITLE", help="title or id of the run (default: the last one)")
    for name, value, text in (
        (
            "input",
            "NAME=DATA",
            "data of an input: a file, the name of data in the session, or OTHER:row:TITLE",
        ),
        ("annotation", "NAME=COLUMN", "an annotation column, by title or as INPUT:row:TITLE; repeat it"),
        ("file", "NAME=PATH", "a file that the analysis reads; a copy is kept"),
        ("set", "NAME=VALUE", "a setting of the analysis"),
    ):
        parser.add_argument(f"--{name}", metavar=value, action="append", default=[], help=text)
    parser.add_argument(
        "--labels", type=Path, metavar="FILE", action="append", default=[],
        help="add the columns of a table to the data of the run first",
    )  # fmt: skip
    parser.add_argument(
        "--unlock", action="store_true", help="open what can be opened once, such as a test half"
    )
    parser.add_argument("--to", type=Path, metavar="DIR", help="write what was found as plain files")
    parser.add_argument(
        "--out", "-o", type=Path, metavar="S.plaidwork", help="session to write (default: the same)"
    )
    parser.add_argument("--force", "-f", action="store_true", help="replace existing files")
    parser.add_argument("--json", action="store_true", help="one JSON object per line")


def _diff(parser: argparse.ArgumentParser) -> None:
    _session(parser)
    parser.add_argument("other", type=Path, metavar="OTHER.plaidwork")
    parser.add_argument("--json", action="store_true", help="the same as JSON")


def _copy(parser: argparse.ArgumentParser) -> None:
    _session(parser)
    parser.add_argument(
        "--out", "-o", type=Path, metavar="T.plaidwork", required=True, help="session to write"
    )
    parser.add_argument("--force", "-f", action="store_true", help="replace an existing file")
    parser.add_argument(
        "--without-data",
        action="store_true",
        help="leave out the data, and the files that analyses have read",
    )


def _info(parser: argparse.ArgumentParser) -> None:
    _session(parser)
    parser.add_argument("--json", action="store_true", help="the same as JSON")


def _export(parser: argparse.ArgumentParser) -> None:
    _session(parser)
    parser.add_argument(
        "--to",
        type=Path,
        metavar="PLACE",
        required=True,
        help="folder to write, new or empty; or FILE.h5ad or FILE.h5mu for a run and its data as annotated data",
    )
    parser.add_argument(
        "--run", metavar="TITLE", help="title or id of the run that the file is of (the last one)"
    )
    parser.add_argument(
        "--force", "-f", action="store_true", help="write into a folder that has files, replace a file"
    )
    parser.add_argument(
        "--no-guard",
        action="store_true",
        help="write texts that begin with =, +, - or @ as they are; else they get an apostrophe in front, so that no spreadsheet computes them",
    )
    parser.add_argument(
        "--picture",
        action="append",
        default=[],
        metavar="TITLE",
        help="also draw the view of this title (or GROUP/TITLE) of every run; repeat it for more, all for all",
    )
    parser.add_argument(
        "--format", choices=("png", "svg", "pdf"), default="png", help="of the pictures (png)"
    )
    parser.add_argument("--size", metavar="WxH", help="width and height of the pictures in mm (170x105)")
    parser.add_argument("--dpi", type=float, metavar="N", help="dots per inch of a PNG (300)")
    parser.add_argument(
        "--points", type=float, metavar="N", help="size of the texts on the axes in points (8)"
    )
    parser.add_argument("--theme", choices=("light", "dark"), help="colours of the pictures (light)")
    parser.add_argument("--no-title", action="store_true", help="without headline, caption and notes")
    parser.add_argument(
        "--provenance", action="store_true", help="a line below: data, model, seed and version of Plaidwork"
    )


def _report(parser: argparse.ArgumentParser) -> None:
    _session(parser)
    parser.add_argument(
        "--out", "-o", type=Path, metavar="FILE", help="page to write, .html or .pdf (default: SESSION.html)"
    )
    parser.add_argument(
        "--run", action="append", default=[], metavar="TITLE", help="only this run; repeat it for more (all)"
    )
    parser.add_argument(
        "--picture",
        action="append",
        default=[],
        metavar="TITLE",
        help="the views to show, by title or GROUP/TITLE, or all (default: up to six, the best first)",
    )
    parser.add_argument("--force", "-f", action="store_true", help="replace an existing file")


def _example(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", metavar="NAME", help="example to fit; without it they are listed")
    parser.add_argument(
        "--picture",
        type=Path,
        metavar="FILE",
        help="write the first picture of the result, as .png, .svg or .pdf",
    )
    _schedule(parser)
    _running(parser, out_required=False)


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


def _verify(parser: argparse.ArgumentParser) -> None:
    _session(parser)
    parser.add_argument("--run", metavar="TITLE", help="title or id of the run (default: all)")
    parser.add_argument("--sweeps", type=int, default=20, metavar="N", help="how many sweeps to repeat (20)")


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
    "models": Command("List the installed models.", f"{_HERE}.looking:models", _models),
    "fit": Command("Fit a model and write a session.", f"{_HERE}.fitting:fit", _fit),
    "study": Command(
        "Fit a grid of settings and seeds, rank the fits, pick one.", f"{_HERE}.studying:study", _study
    ),
    "run": Command("Fit what a job file describes.", f"{_HERE}.fitting:run", _run),
    "resume": Command("Go on with a stored run or study.", f"{_HERE}.resuming:resume", _resume),
    "analyse": Command(
        "Make an analysis of a stored run, or list them.", f"{_HERE}.analysing:analyse", _analyse
    ),
    "info": Command("Say what a session holds.", f"{_HERE}.looking:info", _info),
    "diff": Command("Say what differs between two sessions.", f"{_HERE}.comparing:diff", _diff),
    "copy": Command("Write a copy of a session without its data.", f"{_HERE}.copying:copy", _copy),
    "export": Command(
        "Write results, draws, traces and data as plain files.", f"{_HERE}.looking:export", _export
    ),
    "report": Command(
        "Write a session as a page to read, with its figures.", f"{_HERE}.reporting:report", _report
    ),
    "example": Command("List the bundled examples, or fit one.", f"{_HERE}.fitting:example", _example),
    "text": Command("Count the words of documents.", f"{_HERE}.texts:text", _text),
    "verify": Command(
        "Repeat the first sweeps of a stored run and compare.", f"{_HERE}.verifying:verify", _verify
    ),
    "plugin": Command("List, check, switch, install and begin plugins.", f"{_HERE}.plugins:plugin", _plugin),
}

"""Options of the commands that fit: data, settings, schedule, and how it is run."""

from __future__ import annotations

import argparse
from pathlib import Path

from plaidwork.core.cli.session_options import any_size, session
from plaidwork.core.contract.schedule import SCHEDULE_WORDS
from plaidwork.core.data.reading_options import help_text


def fit(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "model",
        metavar="MODEL",
        help="id of a model (plaidwork models lists them, plaidwork models MODEL says what it takes)",
    )
    _described(parser, required=True)
    _running(parser)
    _leaving(parser)


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
        choices=("auto", "threads", "processes", "inline"),
        default="auto",
        help="who runs the chains",
    )
    parser.add_argument(
        "--cluster", metavar="ADDRESS|local:N",
        help="run the chains on a dask cluster: the address of its scheduler, or N processes of this computer",
    )  # fmt: skip
    parser.add_argument(
        "--out", "-o", type=Path, metavar="S.plaidwork", required=out_required, help="session to write"
    )
    parser.add_argument("--force", "-f", action="store_true", help="replace an existing file")
    parser.add_argument("--json", action="store_true", help="progress as one JSON object per line")


def _leaving(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--leave", action="store_true",
        help="with --cluster ADDRESS: let the fit go on there, and end at once; “plaidwork resume” brings it back",
    )  # fmt: skip


def study(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "what", metavar="WHAT",
        help="id of a model; a study file (.toml); or a session (.plaidwork), to go on with its study",
    )  # fmt: skip
    _described(parser, required=False)
    any_size(parser)
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


def run(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("job", type=Path, metavar="JOB.toml", help="a job file (docs/command-line.md)")
    _running(parser)
    _leaving(parser)
    parser.set_defaults(executor=None)


def resume(parser: argparse.ArgumentParser) -> None:
    session(parser)
    parser.add_argument(
        "--draws", type=int, default=0, metavar="N", help="N more draws per chain than planned"
    )
    parser.add_argument(
        "--budget", type=float, default=0.0, metavar="SECONDS",
        help="go on until it has settled, for about so many seconds at most",
    )  # fmt: skip
    parser.add_argument("--run", metavar="TITLE", help="title or id of the run (default: the last one)")
    _running(parser, out_required=False)
    _leaving(parser)
    parser.add_argument(
        "--abandon", action="store_true",
        help="do not ask for a fit that was left on a cluster: go on from what the session has",
    )  # fmt: skip


def example(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", metavar="NAME", help="example to fit; without it they are listed")
    parser.add_argument(
        "--picture",
        type=Path,
        metavar="FILE",
        help="write the first picture of the result, as .png, .svg or .pdf",
    )
    _schedule(parser)
    _running(parser, out_required=False)

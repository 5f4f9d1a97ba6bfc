"""Options of the commands that work on a stored session."""

from __future__ import annotations

import argparse
from pathlib import Path


def session(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("session", type=Path, metavar="S.plaidwork")
    any_size(parser)


def any_size(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--any-size",
        action="store_true",
        help="open a session that another computer made, however much memory it takes",
    )


def analyse(parser: argparse.ArgumentParser) -> None:
    session(parser)
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


def diff(parser: argparse.ArgumentParser) -> None:
    session(parser)
    parser.add_argument("other", type=Path, metavar="OTHER.plaidwork")
    parser.add_argument("--json", action="store_true", help="the same as JSON")


def copy(parser: argparse.ArgumentParser) -> None:
    session(parser)
    parser.add_argument(
        "--out", "-o", type=Path, metavar="T.plaidwork", required=True, help="session to write"
    )
    parser.add_argument("--force", "-f", action="store_true", help="replace an existing file")
    parser.add_argument(
        "--without-data",
        action="store_true",
        help="leave out the data, and the files that analyses have read",
    )
    parser.add_argument(
        "--compact",
        action="store_true",
        help="keep fewer draws and no states of chains, and pack all as small as it goes: to be looked at, not to go on",
    )
    parser.add_argument(
        "--draws",
        type=int,
        metavar="N",
        default=500,
        help="with --compact: draws of each chain that stay at most, evenly spread (default 500)",
    )
    parser.add_argument(
        "--link",
        action="store_true",
        help="leave values in the files that data were imported from; the copy names them, and reads them when they are needed",
    )
    parser.add_argument(
        "--embed",
        action="store_true",
        help="read the files that the session names for its data, and write their values into the copy",
    )
    parser.add_argument(
        "--files",
        action="append",
        type=Path,
        metavar="FOLDER",
        help="with --link or --embed: a folder in which the files of the data are looked for first (repeat it for more)",
    )


def info(parser: argparse.ArgumentParser) -> None:
    session(parser)
    parser.add_argument("--actions", action="store_true", help="what was done in the session, and when")
    parser.add_argument("--json", action="store_true", help="the same as JSON")


def export(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "session", type=Path, metavar="S.plaidwork", help="a session; with --to FILE.npy a file of data"
    )
    any_size(parser)
    parser.add_argument(
        "--to",
        type=Path,
        metavar="PLACE",
        required=True,
        help="folder to write, new or empty; or FILE.h5ad or FILE.h5mu for a run and its data as annotated data; "
        "or FILE.npy for the matrix of a file of data, written a few rows at a time",
    )
    parser.add_argument(
        "--import-option",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="with FILE.npy: how the file of data is read; repeat it",
    )
    parser.add_argument(
        "--dtype",
        choices=("float32", "float64"),
        help="with FILE.npy: the type of the numbers (as in the file, else float64)",
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


def report(parser: argparse.ArgumentParser) -> None:
    session(parser)
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


def data(parser: argparse.ArgumentParser) -> None:
    session(parser)
    parser.add_argument(
        "results", nargs="*", metavar="RESULT", help="names of results; without one they are listed"
    )
    parser.add_argument("--run", metavar="TITLE", help="title or id of the run (default: the last one)")
    parser.add_argument(
        "--out", "-o", type=Path, metavar="S.plaidwork", help="session to write (default: the same)"
    )
    parser.add_argument("--force", "-f", action="store_true", help="replace an existing file")
    parser.add_argument("--json", action="store_true", help="what was found as JSON")


def methods(parser: argparse.ArgumentParser) -> None:
    session(parser)
    parser.add_argument("--run", metavar="TITLE", help="title or id of the run (default: the last)")
    parser.add_argument("--bibtex", action="store_true", help="print the references alone, as BibTeX")


def verify(parser: argparse.ArgumentParser) -> None:
    session(parser)
    parser.add_argument("--run", metavar="TITLE", help="title or id of the run (default: all)")
    parser.add_argument("--sweeps", type=int, default=20, metavar="N", help="how many sweeps to repeat (20)")

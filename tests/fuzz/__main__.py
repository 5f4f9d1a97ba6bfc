"""``PYTHONPATH=tests python -m fuzz``: changes files at random, opens them, and counts (see CONTRIBUTING.md)."""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from fuzz.counting import HEAD, KINDS, SESSION, Reader, line, run


def _numbers(options: argparse.Namespace, kind: str) -> range:
    if options.number is not None:
        return range(options.number, options.number + 1)
    return range(options.first, options.first + (options.sessions if kind == SESSION else options.files))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("--only", action="append", choices=KINDS, help="only this format; repeat it for more")
    parser.add_argument("--sessions", type=int, default=10_000, help="changed session files (10000)")
    parser.add_argument("--files", type=int, default=2_000, help="changed files of each other format (2000)")
    parser.add_argument("--first", type=int, default=0, help="number of the first, to go on (0)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--number", type=int, help="only this one, to look at what was wrong with it")
    parser.add_argument(
        "--folder", type=Path, help="where files are made, and bad ones are kept (a temporary one)"
    )
    parser.add_argument(
        "--strace", action="store_true", help="count what libraries open too (strace; a fifth slower)"
    )
    options = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # in the background too
    folder = options.folder or Path(tempfile.mkdtemp(prefix="fuzz-"))
    folder.mkdir(parents=True, exist_ok=True)
    bad, reader = 0, Reader(folder, traced=options.strace)
    print(f"In {folder}\n{HEAD}", flush=True)
    for kind in options.only or KINDS:
        found = []
        with suppress(KeyboardInterrupt):  # Ctrl+C ends a format, with the count so far
            for item in run(kind, _numbers(options, kind), folder, reader, options.seed):
                found.append(item)
                if item.bad or options.number is not None:
                    print(item, file=sys.stderr, flush=True)
                    bad += item.bad
        if found:
            print(line(kind, found), flush=True)
    reader.close()
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

"""``PYTHONPATH=tests python -m fuzz.target FORMAT``: looks for a file on which a reader fails, until it is told to end.

With atheris (``pip install atheris``) inputs are led by what they reach in the readers; without it hypothesis changes a sound file, and
brings what fails to its smallest form, which it remembers for the next time.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.database import DirectoryBasedExampleDatabase

atheris: Any = None
with suppress(ImportError):
    import atheris
with atheris.instrument_imports(include=["plaidwork.core"]) if atheris else nullcontext():
    from fuzz.reading import open_file
    from fuzz.samples import FORMATS, SESSION, make

    from plaidwork.core.errors import PlaidworkError

KINDS = [SESSION, *(kind for kind in FORMATS if kind not in ("images", "texts"))]
Open = Callable[[str, Path], None]


def opener(kind: str, folder: Path, open_file: Open = open_file) -> Callable[[bytes], None]:
    """What opens the bytes of a file of this format; whatever it raises is a fault of ours."""
    path = folder / (FORMATS[kind][0] if kind in FORMATS else "s.plaidwork")

    def try_one(data: bytes) -> None:
        path.write_bytes(data)
        with suppress(PlaidworkError):
            open_file(kind, path)

    return try_one


def changed(sound: bytes) -> st.SearchStrategy[bytes]:
    """The sound file with up to six parts replaced; or any bytes."""
    place = st.integers(0, len(sound))
    part = st.tuples(place, st.integers(0, 64), st.binary(max_size=64))

    def apply(parts: list[tuple[int, int, bytes]]) -> bytes:
        found = sound
        for at, length, new in parts:
            found = found[:at] + new + found[at + length :]
        return found

    return st.lists(part, min_size=1, max_size=6).map(apply) | st.binary(max_size=400)


def with_hypothesis(
    kind: str, sound: bytes, try_one: Callable[[bytes], None], seconds: float, examples: int = 2000
) -> int:
    """Go on for so many seconds, a round of examples at least; how many were tried. Raises what a reader raised."""
    from platformdirs import user_cache_path

    ends, tried = time.monotonic() + seconds, 0
    base = DirectoryBasedExampleDatabase(user_cache_path("plaidwork") / "fuzz" / kind.replace(" ", "-"))

    @settings(
        max_examples=examples,
        deadline=None,
        database=base,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.reuse, Phase.generate, Phase.shrink),
    )
    @given(changed(sound))
    def one(data: bytes) -> None:
        nonlocal tried
        tried += 1
        try_one(data)

    while True:
        one()
        if time.monotonic() >= ends:
            return tried


def _with_atheris(kind: str, sound: bytes, folder: Path, seconds: float) -> None:
    corpus = folder / "corpus"
    corpus.mkdir()
    (corpus / "sound").write_bytes(sound)
    options = [
        sys.argv[0],
        str(corpus),
        f"-max_total_time={round(seconds)}",
        f"-max_len={4 * len(sound)}",
        "-len_control=0",
    ]
    atheris.Setup(options, opener(kind, folder))
    atheris.Fuzz()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m fuzz.target", description=__doc__)
    parser.add_argument("format", choices=KINDS)
    parser.add_argument("--minutes", type=float, default=10.0, help="how long (10)")
    options = parser.parse_args()
    kind, seconds = options.format, 60 * options.minutes
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sound = make(kind, folder / "sound")[0].read_bytes()
        if atheris:
            _with_atheris(kind, sound, folder, seconds)
            return
        tried = with_hypothesis(kind, sound, opener(kind, folder), seconds)
        print(f"{kind}: {tried} files, none on which the reader failed")


if __name__ == "__main__":
    main()

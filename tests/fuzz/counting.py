"""Opens many changed files and counts what became of them."""

from __future__ import annotations

import json
import os
import random
import select
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fuzz.mutations import mutate
from fuzz.samples import FORMATS, SESSION, make
from fuzz.traced import Log, prefix

KINDS = (SESSION, *FORMATS)
SECONDS = 10.0
"""A file that takes longer counts as one that hangs."""
BYTES = 1 << 30
"""A file that takes more memory counts as one that takes too much."""
_FILES_PER_PROCESS = 1000


@dataclass
class Outcome:
    """What became of one file: ``opened``, ``refused``, or what must not be: ``error``, ``crashed``, ``hung``."""

    kind: str
    number: int
    change: str
    outcome: str
    details: str = ""
    seconds: float = 0.0
    bytes: int = 0
    foreign: list[str] = field(default_factory=list)

    @property
    def bad(self) -> bool:
        return self.outcome not in ("opened", "refused") or self.bytes > BYTES or bool(self.foreign)

    def __str__(self) -> str:
        size = f"{self.seconds:.1f} s, {self.bytes / 1e6:.0f} MB"
        foreign = f", opened {self.foreign[:3]}" if self.foreign else ""
        return f"{self.kind}:{self.number} ({self.change}): {self.outcome}, {size}{foreign}\n{self.details[-1500:]}"


class Reader:
    """A process that opens files; another takes its place when it dies or hangs. ``traced``: strace watches it."""

    def __init__(self, folder: Path, *, traced: bool = False) -> None:
        self._folder, self._process, self._served = folder, None, 0
        self._log = Log(folder / "calls.txt") if traced else None

    def open(self, kind: str, path: Path) -> dict[str, object]:
        """What became of a file."""
        if self._process is None or self._served >= _FILES_PER_PROCESS:
            self.close()
            self._process, self._served = self._start(), 0
        self._served += 1
        process = self._process
        process.stdin.write(json.dumps({"kind": kind, "path": str(path)}).encode() + b"\n")
        process.stdin.flush()
        if not select.select([process.stdout], [], [], SECONDS if self._served > 1 else 6 * SECONDS)[0]:
            self.close()
            return {"outcome": "hung", "seconds": SECONDS}
        answer = process.stdout.readline()
        if answer:
            return self._with_calls(json.loads(answer), path.parent)
        code = process.wait()
        self.close()
        return {"outcome": "crashed", "details": f"the process ended with code {code}"}

    def _with_calls(self, answer: dict[str, object], folder: Path) -> dict[str, object]:
        """The answer, with what only the system has seen."""
        if self._log is None:
            return answer
        return {
            **answer,
            "foreign": [*answer["foreign"], *self._log.foreign(folder, first=self._served == 1)],
        }

    def _start(self) -> subprocess.Popen[bytes]:
        settings = {"PLAIDWORK_CONFIG": str(self._folder / "config"), "PYTHONUTF8": "1"}
        tests = str(Path(__file__).parents[1])
        path = os.pathsep.join(filter(None, (tests, os.environ.get("PYTHONPATH"))))
        before = []
        if self._log is not None:
            self._log = Log(self._log.path)
            before = prefix(self._log.path)
        return subprocess.Popen(
            [*before, sys.executable, "-m", "fuzz.reading"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, **settings, "PYTHONPATH": path},
            stderr=(self._folder / "stderr.txt").open("ab"),
        )  # fmt: skip

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process.stdin.close()
            self._process.stdout.close()
            self._process = None


def cases(kind: str, numbers: Sequence[int], folder: Path, seed: int) -> Iterator[tuple[int, str, Path]]:
    """Number, change and path of each changed file; the file is gone when the next one is asked for."""
    sound = make(kind, folder / "sound" / kind.replace(" ", "-"))
    for number in numbers:
        rng = random.Random(f"{seed} {kind} {number}")
        source, place = rng.choice(sound), folder / "case"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        yield number, mutate(kind, source, place / source.name, rng), place / source.name


def run(kind: str, numbers: Sequence[int], folder: Path, reader: Reader, seed: int = 1) -> Iterator[Outcome]:
    """Open changed files of a format one by one; bad ones are kept."""
    for number, change, path in cases(kind, numbers, folder, seed):
        found = Outcome(kind, number, change, **reader.open(kind, path))  # type: ignore[arg-type]
        if found.bad:
            kept = folder / "bad" / f"{kind.replace(' ', '-')}-{number}"
            shutil.rmtree(kept, ignore_errors=True)
            shutil.copytree(path.parent, kept, symlinks=True, ignore=_pipes)
        yield found


def _pipes(folder: str, names: list[str]) -> list[str]:
    return [name for name in names if Path(folder, name).is_fifo()]


def line(kind: str, found: Sequence[Outcome]) -> str:
    """A row of the table."""
    count = Counter(item.outcome for item in found)
    foreign = sum(len(item.foreign) for item in found)
    words = [kind, len(found), *(count[word] for word in ("refused", "opened", "error", "crashed", "hung"))]
    most, slowest = max(item.bytes for item in found), max(item.seconds for item in found)
    return " | ".join(map(str, [*words, foreign, f"{most / 1e6:.0f} MB", f"{slowest:.2f} s"]))


HEAD = (
    "format | tried | refused | opened | errors | crashed | hung | foreign files read | most memory | slowest"
)

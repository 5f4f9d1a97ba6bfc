"""CPU seconds of every stage of a sweep beside the limit of this machine: what the stage cannot do without, at measured speeds.

    python benchmarks/roofline.py [--only NAME …] [--quick] [--against CHECKOUT] [--rounds 3]

The limit of a stage is a formula (``roofline_work.py``): bytes at the measured bandwidth, multiplications and additions at the speed of the BLAS,
random numbers, exponentials and logarithms at that of numpy, one after the other. Times are those that the host takes of each
stage, one thread, the least of several sweeps, as the machine may be shared. ``--against`` runs the same stages by the
program of another checkout (by its ``.venv``), in turns with this one, and tells the ratio.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from machine import Work, calibrate, least_seconds, speeds
from roofline_work import CASES, Case

FULL, QUICK = 1.0, 0.25
"""Share of the rows of the sizes that are named."""
WORTH = 0.005
"""Share of a sweep below which stages are put together."""
REST, SWEEP = "everything else", "a sweep"


@dataclass
class Line:
    """One stage: seconds, those of the other checkout, and the limit; NaN where there is none."""

    case: str
    stage: str
    seconds: float
    other: float
    limit: float


def measure(names: list[str], share: float) -> dict[str, dict[str, float]]:
    """CPU seconds by case and stage, in this process."""
    return {case.name: case.seconds(share) for case in CASES if case.name in names}


def elsewhere(python: Path | str, name: str, share: float) -> dict[str, float]:
    """The seconds of the stages of a case, by a process of its own."""
    done = subprocess.run(
        [str(python), __file__, "--worker", name, str(share)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        reason = done.stderr.strip().splitlines()[-1:] or ["no message"]
        print(f"{name} by {python}: {reason[0]}", file=sys.stderr)
        return {}
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def least(runs: list[dict[str, float]]) -> dict[str, float]:
    """The least seconds of each stage over the runs."""
    found: dict[str, float] = {}
    for run in runs:
        for stage, seconds in run.items():
            found[stage] = min(seconds, found.get(stage, seconds))
    return found


def in_turns(name: str, share: float, against: Path | None, rounds: int) -> list[dict[str, float]]:
    """Least seconds by stage: of this checkout, and of the other one."""
    pythons: list[Path | str] = [sys.executable]
    if against is not None:
        pythons.append(against / ".venv" / "bin" / "python")
    runs: list[list[dict[str, float]]] = [[] for _ in pythons]
    for _ in range(rounds):
        for place, python in enumerate(pythons):
            runs[place].append(elsewhere(python, name, share))
    return [least(each) for each in runs]


def lines_of(case: Case, share: float, speed: Work, found: list[dict[str, float]]) -> list[Line]:
    """The stages of a case in the order of a sweep, small ones together, then all of them."""
    here, there = found[0], found[1] if len(found) > 1 else {}
    work = case.work(share)
    whole, other = (
        sum(found[stage] for stage in found if stage not in case.seldom) for found in (here, there)
    )
    nothing = float("nan")
    out, rest, rest_there = [], 0.0, 0.0
    for stage, seconds in here.items():
        if stage not in work and seconds < WORTH * whole:
            rest, rest_there = rest + seconds, rest_there + there.get(stage, 0.0)
            continue
        limit = least_seconds(work[stage], speed) if stage in work else nothing
        out.append(Line(case.name, stage, seconds, there.get(stage, nothing), limit))
    if rest:
        out.append(Line(case.name, REST, rest, rest_there if there else nothing, nothing))
    total = sum(
        least_seconds(work[stage], speed) for stage in work if stage in here and stage not in case.seldom
    )
    return [*out, Line(case.name, SWEEP, whole, other if there else nothing, total)]


def told(lines: list[Line], against: bool) -> str:
    """The table, in Markdown."""
    head = [
        "case",
        "stage",
        "ms",
        "limit, ms",
        "times the limit",
        *(["before, ms", "before / now"] if against else []),
    ]
    rows = [head, ["---"] * len(head)]
    for line in lines:
        row = [line.case, line.stage, f"{1e3 * line.seconds:.2f}"]
        row += [
            _number(1e3 * line.limit, 2),
            _number(line.seconds / line.limit if line.limit > 0 else float("nan"), 2),
        ]
        if against:
            row += [
                _number(1e3 * line.other, 2),
                _number(line.other / line.seconds if line.seconds else float("nan"), 2),
            ]
        rows.append(row)
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def _number(value: float, digits: int) -> str:
    return f"{value:.{digits}f}" if value == value else ""


def table(names: list[str], share: float, against: Path | None, rounds: int) -> tuple[list[Line], Work]:
    """All lines of the named cases, and the speeds of this machine."""
    speed, lines = speeds(), []
    for case in CASES:
        if case.name in names:
            lines += lines_of(case, share, speed, in_turns(case.name, share, against, rounds))
    return lines, speed


def of_machine(speed: Work) -> str:
    """One line on the speeds."""
    return (
        f"one core: {speed.flops / 1e9:.0f} and {speed.flops32 / 1e9:.0f} GFlop/s (BLAS, float64 and float32), "
        f"{speed.far / 1e9:.0f} GB/s, in the cache {speed.near / 1e9:.0f} GB/s; by numpy {speed.normals / 1e6:.0f} million normal and "
        f"{speed.uniforms / 1e6:.0f} million uniform numbers, {speed.exps / 1e6:.0f} million exp and {speed.logs / 1e6:.0f} million log a second; "
        f"calibration loop {calibrate():.3f} s"
    )


def main() -> None:
    if sys.argv[1:2] == ["--worker"]:
        print(json.dumps(measure([sys.argv[2]], float(sys.argv[3]))[sys.argv[2]]))
        return
    names = [case.name for case in CASES]
    parser: Any = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="*", default=names, choices=names)
    parser.add_argument("--quick", action="store_true", help="a quarter of the rows")
    parser.add_argument("--against", type=Path, help="another checkout with a .venv of its own")
    parser.add_argument(
        "--rounds", type=int, default=3, help="processes of each case, of which the least counts"
    )
    given = parser.parse_args()
    lines, speed = table(given.only, QUICK if given.quick else FULL, given.against, given.rounds)
    print(of_machine(speed))
    print(told(lines, given.against is not None))


if __name__ == "__main__":
    main()

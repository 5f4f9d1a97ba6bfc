"""What is wrong with settings and labels, or worth a word, before a fit."""

from __future__ import annotations

from plaidwork.core.api import Problem, agree, counted
from plaidwork.plugins.gp_auxiliary.shared.frame import Frame
from plaidwork.plugins.gp_auxiliary.shared.given import ascending_problem, numbers_of
from plaidwork.plugins.gp_auxiliary.shared.typed_settings import ClassesSettings


def width_problem(params: ClassesSettings) -> Problem | None:
    """What is wrong with given widths."""
    text = params["given_widths"]
    if not text.strip():
        return None
    found = ascending_problem("The widths of the copies", text, None, "given_widths")
    widths = numbers_of(text)
    if found or not widths:
        return found
    if widths[0] < 0 or widths[-1] != params["null_width"]:
        return Problem(
            f"The widths of the copies go from 0 at least to the half width, {params['null_width']:g}. Found {widths[0]:g} to "
            f"{widths[-1]:g}.",
            "Change the last one, or “Half width of the null category”.",
            "given_widths",
        )
    return None


def label_problems(frame: Frame) -> list[Problem]:
    """How many fitted samples have a label, where that needs saying."""
    codes = frame.codes[frame.used]
    free, never = int((codes < 0).sum()), [k for k in range(len(frame.classes)) if k not in codes]
    size = int(frame.used.sum())
    if free == 0:
        return [
            Problem(
                f"All {counted(size, 'sample')} have a label, so none is left to learn from without one.",
                "“Gaussian process classification” gives the same, faster.",
                "y",
                "warning",
            )
        ]
    said = f"{size - free} of {counted(size, 'sample')} {agree(size - free, 'has', 'have')} a label; {free} {agree(free, 'is', 'are')} unlabelled."
    if never and free:
        names = ", ".join(f"“{frame.classes[k]}”" for k in never[:3])
        said += f" Nothing but unlabelled samples can be of {names}{' and more' if len(never) > 3 else ''}: only where they lie speaks for it."
    return [Problem(said, "", "y", "warning")]

"""What a result page says of a run that goes on, or has nothing to show."""

from __future__ import annotations

from plaidwork.core.inference.run import Run
from plaidwork.gui.numbers import format_count


def still_running(run: Run) -> str:
    """That the picture will change, for the mark beside the headline."""
    if run.results_draws:
        draws = format_count(run.results_draws)
        return f"The fit is still running: this is the picture after {draws} draws."
    return "The fit is still running: the picture will change."


def nothing_yet(run: Run) -> tuple[str, str, str, tuple[()], str]:
    """What is shown of a run that has kept nothing: icon, title, text, buttons and colour of the icon."""
    if run.active:
        text = (
            "The picture appears with the first draws kept after the warm-up."
            if run.spec.algorithm == "mcmc"
            else "The picture appears with the first sweeps of the fit."
        )
        return "clock", "Nothing to show yet", text, (), "muted"
    if run.status == "failed":
        text = next((line.text for line in reversed(run.log) if line.level == "error"), "")
        return "error", "The fit failed before it kept anything", text, (), "error"
    text = "The run has kept nothing so far. Start or resume it to get a result."
    return "clock", "No result yet", text, (), "muted"

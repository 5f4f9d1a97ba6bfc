"""Posterior densities of a few quantities with their priors: what the data have said of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from PySide6.QtWidgets import QWidget

from plaidwork.core.findings.naming import findable
from plaidwork.core.pictures.words import plural
from plaidwork.core.views.sources import NotYet, SourceError, Sources, role_names
from plaidwork.gui.numbers import format_count
from plaidwork.gui.results.density_chart import densities
from plaidwork.gui.results.option_row import Legend, page_content
from plaidwork.gui.results.page import ResultPage
from plaidwork.gui.results.posterior_grid import Posterior, PosteriorGrid
from plaidwork.gui.results.show_data import Content
from plaidwork.gui.widgets import Label, scrolled

_MOST, _MOST_CHAINS = 200, 8
"""Quantities shown, and chains drawn by themselves."""
_NARROW = 0.5
"""An interval is much narrower than the prior's when its length is below this share of it."""


class PosteriorPage(ResultPage):
    """Role ``values`` (c, n, P) draws by chain, or (n, P), usually ``draws:``; ``prior`` (P, t) densities at the places
    ``x`` (P, t), ``names`` (P,).

    Options: ``log`` (the draws are natural logarithms; the axis tells the values themselves) and ``dim``.
    """

    icon_name = "histogram"

    def build(self) -> QWidget:
        self.grid = PosteriorGrid()
        self.grid.hovered.connect(self.hovered)
        area = scrolled(self.grid)
        self._foot = Label("", "body", "muted", elide=True)
        self.legend = Legend()
        return page_content(None, area, self._foot, self.legend)

    # -- loading --------------------------------------------------------------------------------
    def load(self, sources: Sources) -> tuple[Posterior, ...]:
        result = sources.result("values", (2, 3))
        draws = np.asarray(result.values, dtype=np.float64)
        draws = draws if draws.ndim == 3 else draws[None]
        count = draws.shape[2]
        if not draws.shape[1]:
            raise NotYet
        if count > _MOST:
            raise SourceError(f"Up to {_MOST} quantities are shown. Found {count}.")
        prior = None
        if sources.has("prior"):
            prior = (sources.array("x", (count, None)), sources.array("prior", (count, None)))
        names = role_names(sources, "names", (result.dims or ("quantity",))[-1], count)
        log = bool(self.view.options.get("log", False))
        found = (
            _posterior(names[k], draws[:, :, k], prior and (prior[0][k], prior[1][k]), log)
            for k in range(count)
        )
        return tuple(one for one in found if one is not None)

    def show_loaded(self, loaded: tuple[Posterior, ...]) -> None:
        if not loaded:
            self.show_state(
                "search",
                "Nothing was inferred here",
                "These quantities were given, so every draw has the same value.",
            )
            return
        self.grid.set_panels(loaded)
        entries: list[tuple[object, str]] = [("blue", "posterior")]
        if any(one.prior is not None for one in loaded):
            entries.append(("text", "prior, dashed"))
        self.legend.set_entries(entries)
        text = "Dot and bar: median and 90 % interval"
        if any(one.chains for one in loaded):
            text += "; thin lines: single chains"
        self._foot.setText(text)

    # -- words and files ------------------------------------------------------------------------
    def default_headline(self) -> str:
        if not self.loaded:
            return self.view.title
        found: tuple[Posterior, ...] = self.loaded
        word = str(self.view.options.get("dim", "quantity"))
        if len(found) == 1 or any(one.prior is None for one in found):
            return self.view.title if len(found) > 1 else f"{found[0].name}: {found[0].text}"
        narrow = sum((one.high - one.low) < _NARROW * (one.prior_high - one.prior_low) for one in found)
        are = "is" if narrow == 1 else "are"
        return f"{format_count(narrow)} of {format_count(len(found))} {plural(word)} {are} known much better than beforehand"

    def default_caption(self) -> str:
        if not self.loaded or any(one.prior is None for one in self.loaded):
            return ""
        return "Their intervals are less than half as long as those of the prior, on the axes as drawn."

    def search(self, text: str) -> list[str]:
        """Mark the first quantity whose name holds the text."""
        if not self.loaded:
            return []
        wanted = text.casefold()
        hits = [k for k, one in enumerate(self.loaded) if text and wanted in findable(one.name)]
        self.grid.show_panel(hits[0] if hits else -1)
        return [self.loaded[k].name for k in hits]

    def figure_parts(self) -> Sequence[Sequence[QWidget]]:
        return [[self.grid], [self._foot, self.legend]]

    def data_content(self) -> tuple[Content, Mapping[str, Callable[[Any], str]]]:
        found: tuple[Posterior, ...] = self.loaded
        columns: dict[str, Any] = {"Quantity": np.array([one.name for one in found], dtype=object)}
        for title, name in (
            ("Median", "median"),
            ("5 %", "low"),
            ("95 %", "high"),
            ("Prior 5 %", "prior_low"),
            ("Prior 95 %", "prior_high"),
        ):
            values = np.array([getattr(one, name) for one in found])
            columns[title] = np.where([one.log for one in found], np.exp(values), values)
        return columns, {}


def _posterior(
    name: str, draws: np.ndarray, prior: tuple[np.ndarray, np.ndarray] | None, log: bool
) -> Posterior | None:
    """A panel of draws (c, n); None when they are all alike."""
    known = draws[np.isfinite(draws)]
    if not len(known) or np.ptp(known) == 0:
        return None
    chains = len(draws)
    flat, of = draws.ravel(), np.repeat(np.arange(chains), draws.shape[1])
    (whole,) = densities(flat, np.zeros(len(flat), dtype=np.intp), ("",), [""])
    single = densities(flat, of, ("",) * chains, [""] * chains) if 1 < chains <= _MOST_CHAINS else ()
    low, median, high = (float(q) for q in np.quantile(known, [0.05, 0.5, 0.95]))
    ends = (np.nan, np.nan) if prior is None else _central(*prior)
    return Posterior(
        name,
        (whole.x, whole.y),
        tuple((one.x, one.y) for one in single),
        prior,
        low,
        median,
        high,
        *ends,
        log,
    )


def _central(x: np.ndarray, density: np.ndarray) -> tuple[float, float]:
    """Central interval of 90 % of a density at places x, by the trapezoidal rule."""
    mass = np.concatenate([[0.0], np.cumsum((density[1:] + density[:-1]) / 2 * np.diff(x))])
    low, high = np.interp([0.05 * mass[-1], 0.95 * mass[-1]], mass, x)
    return float(low), float(high)

"""What a fit with unlabelled samples found: as for labelled ones, and how the chains went through the groupings."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

from plaidwork.core.api import Kept, ModelData, Result, Results, Table, counted
from plaidwork.core.api_scores import score
from plaidwork.core.numerics.used_draws import standard_error
from plaidwork.plugins.gp_auxiliary.classes.auxiliary import auxiliary_results
from plaidwork.plugins.gp_auxiliary.classes.results import part_scores, parts, scored, summarise_draws
from plaidwork.plugins.gp_auxiliary.few_labels import modes as grouping
from plaidwork.plugins.gp_auxiliary.few_labels.tempering import ladder
from plaidwork.plugins.gp_auxiliary.shared.frame import Frame, classes_of
from plaidwork.plugins.gp_auxiliary.shared.typed_settings import ClassesSettings

MAPPED, EACH = 2, "/".join(("Predictions", "Each sample"))
"""Inputs of which the map shows all; of more, the classes of the unlabelled samples are what was asked for."""
FEW_TRIPS = 5
"""Round trips of a chain below which nothing shows that its shares of the groupings are right."""
_SHOWN_DRAWS = 200
_BATCHES = 5
"""Batches of successive draws in a chain, for the Monte Carlo error."""


@dataclass(frozen=True, slots=True)
class Tempered:
    """How the copies went, chain by chain of those with draws.

    Attributes
    ----------
    names : numbers of the chains, from 1.
    rate : (C, M - 1) swaps taken; ``trips`` (C,) round trips; ``draws`` (C,) kept draws; ``width`` (C, M).
    way : (C, t) width at which the copy that began without a null category is at the last draws.
    """

    names: list[str]
    rate: np.ndarray
    trips: np.ndarray
    draws: np.ndarray
    width: np.ndarray
    way: np.ndarray


def summarise_semi(kept: Kept, frame: Frame, data: ModelData, params: ClassesSettings) -> Results:
    """All results of a classifier with unlabelled samples."""
    results = summarise_draws(kept, frame, data, params, float(ladder(params)[-1]))
    if kept.n_draws == 0:
        return results
    free = frame.codes[frame.used] < 0
    chains = grouping.winners_by_chain(kept, free)
    agreed = grouping.agreement(chains, len(frame.classes))
    tempered = read_tempered(kept)
    results |= with_own_classes(results, frame, *own_classes(chains, len(frame.classes)))
    share = np.asarray(results["probability"].values).T  # type: ignore[union-attr]
    results |= score_unlabelled(share, frame, data)
    doubt = doubt_of(agreed, tempered, ladder(params), int(free.sum()))
    if doubt:
        results["doubt"] = doubt
    results |= modes_table(grouping.find_modes(chains, len(frame.classes)), agreed, tempered, frame)
    results |= swap_results(tempered, ladder(params))
    null, names = float(ladder(params)[-1]), tuple(data["X"].names[0])
    results |= auxiliary_results(kept, frame, names, null, params)
    between = np.zeros(len(frame.codes))
    between[np.flatnonzero(frame.used)[free]] = agreed.apart
    table = results["predictions"]
    assert isinstance(table, Table)
    results["predictions"] = Table({**table.columns, "Between chains": between}, label=table.label)
    if free.any() and data["X"].values.shape[1] != MAPPED:
        results["opens_on"] = EACH
    return results


def own_classes(chains: list[np.ndarray], n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities (C, U) of the classes that unlabelled samples are of, and their Monte Carlo errors.

    ``chains`` are the classes (draws, U) that z of every sample speaks for: as in the groupings, and not as for a new sample
    at the same place, whose noise is another and which need not be unlabelled.
    """

    def share(part: np.ndarray) -> np.ndarray:
        return np.stack([(part == k).mean(axis=0) for k in range(n_classes)])

    by_chain = np.stack([share(chain) for chain in chains])
    by_batch = [share(part) for chain in chains for part in np.array_split(chain, min(_BATCHES, len(chain)))]
    return by_chain.mean(axis=0), standard_error(by_chain, np.stack(by_batch))


def with_own_classes(results: Results, frame: Frame, share: np.ndarray, error: np.ndarray) -> Results:
    """Class probabilities and their table with those of the unlabelled samples' own classes (C, U), and beside them what a
    new sample at the same place would be."""
    there = results["probability"]
    table = results["predictions"]
    assert isinstance(there, Result)
    assert isinstance(table, Table)
    rows = np.flatnonzero(frame.used & (frame.codes < 0))
    probability = np.array(there.values)
    probability[rows] = share.T
    columns = {title: np.array(values) for title, values in table.columns.items()}
    null = {"New sample: P(null)": columns.pop("P(null)")} if "P(null)" in columns else {}
    new = {f"New sample: P({name})": np.asarray(there.values)[:, k] for k, name in enumerate(frame.classes)}
    top, each = probability.argmax(axis=1), np.arange(len(probability))
    columns["Predicted"], columns["Probability"] = np.array(frame.classes)[top], probability[each, top]
    for k, name in enumerate(frame.classes):
        columns[f"P({name})"] = probability[:, k]
        if f"± P({name})" in columns:
            columns[f"± P({name})"][rows] = error[k]
    if "± Monte Carlo" in columns:
        columns["± Monte Carlo"][rows] = error[top[rows], np.arange(len(rows))]
    return {
        "probability": Result(probability, there.dims, label=there.label),
        "probability_new": Result(
            np.asarray(there.values), there.dims, label="probability, new sample there"
        ),
        "predictions": Table({**columns, **new, **null}, label=table.label),
        "prediction_note": "P of an unlabelled sample is that of its own class: the share of the draws, as in the groupings. P of "
        "the others, and “New sample”, are those of a new sample at the same place, known not to be null. "
        f"{results['prediction_note']}",
    }


def doubt_of(agreed: grouping.Agreement, tempered: Tempered, widths: np.ndarray, size: int) -> str:
    """Why the probabilities may be those of the groupings that the chains happened to find; empty when they are not."""
    if size == 0 or widths[-1] == 0:
        return ""
    if agreed.disputed:
        return f"The modes are not mixed: the chains disagree about {agreed.disputed} of {counted(size, 'unlabelled sample')}"
    if len(widths) == 1:
        return "The modes are not compared: a single copy a chain stays in the grouping that it found first"
    few = [name for name, trips in zip(tempered.names, tempered.trips) if trips < FEW_TRIPS]
    if few:
        mixed = "no chain" if len(few) == len(tempered.names) else f"not chain {', '.join(few)}"
        return f"The modes are not shown to be mixed: {mixed} made {FEW_TRIPS} round trips"
    if agreed.compared < 2:
        return "The modes are not shown to be mixed: one chain cannot be compared with another"
    return ""


def score_unlabelled(share: np.ndarray, frame: Frame, data: ModelData) -> Results:
    """The scores with a row for the unlabelled samples whose class is known after all; share (C, n)."""
    if "truth" not in data:
        return {}
    true, names = classes_of(data["truth"])
    place = np.array([frame.classes.index(name) if name in frame.classes else -1 for name in names] + [-1])
    codes = np.where((frame.codes < 0) & frame.used, place[true], -1)
    mask = codes >= 0
    if not mask.any():
        return {}
    return {
        **scored({"Unlabelled": score(codes[mask], share[:, mask].T), **part_scores(share, frame)}),
        "sample_code": Result(np.where(mask, codes, frame.codes), ("sample",)),
        "part": Result(np.where(mask, "unlabelled", parts(frame)), ("sample",)),
    }


def modes_table(
    modes: grouping.Modes, agreed: grouping.Agreement, tempered: Tempered, frame: Frame
) -> Results:
    """The groupings with their shares in every chain, and a line that says how far the chains differ."""
    count = len(modes.share)
    columns: dict[str, np.ndarray] = {
        "Grouping": np.array([str(g + 1) for g in range(count)] + ["rare ones"]),
        "Differs on": np.append(modes.differs.astype(float), math.nan),
    }
    for k, name in enumerate(frame.classes):
        columns[f"In “{name}”"] = np.append(modes.counts[:, k].astype(float), math.nan)
    share = np.vstack([modes.share, 1.0 - modes.share.sum(axis=0)])
    columns["Share"] = share.mean(axis=1).round(2)
    for c, name in enumerate(tempered.names):
        columns[f"Chain {name}"] = share[:, c].round(2)
    largest = float(agreed.apart.max()) if len(agreed.apart) else 0.0
    found = counted(count, "grouping")
    line = f"{found} of the unlabelled samples; probabilities differ by up to {largest:.2f} between chains"
    if modes.looked_at == 0:
        line = "No unlabelled sample"
    elif agreed.compared < 2:
        line = f"Too few draws to compare chains: {found} so far"
    return {
        "modes": Table(columns, label="Groupings"),
        "modes_headline": line,
        "modes_note": (
            "Draws alike in nine tenths of the unlabelled samples make a grouping. “Differs on”: samples that it classes "
            "otherwise than the first."
        ),
    }


def read_tempered(kept: Kept) -> Tempered:
    """From the kept draws of the chains that have any."""
    chains = [(str(number + 1), chain) for number, chain in enumerate(kept.chains) if chain.n_draws]
    last = [(chain, chain.n_draws - 1) for _name, chain in chains]
    length = min(min(chain.n_draws for _name, chain in chains), _SHOWN_DRAWS)
    ways = []
    for _name, chain in chains:
        copy, width = chain.stack("copy")[-length:], chain.stack("width")[-length:]
        ways.append(np.take_along_axis(width, (copy == 0).argmax(axis=1)[:, None], axis=1)[:, 0])
    return Tempered(
        [name for name, _chain in chains],
        np.array([chain.draw("swap_rate", i) for chain, i in last]),
        np.array([int(chain.draw("trips", i).sum()) for chain, i in last]),
        np.array([chain.n_draws for _name, chain in chains]),
        np.array([chain.draw("width", i) for chain, i in last]),
        np.array(ways),
    )


def _way_note(found: Tempered) -> str:
    """Which copy, and of which draws: long ways are not drawn in full."""
    note = "The copy that began without a null category. Each way up and down can bring another grouping."
    shown, kept = found.way.shape[1], int(found.draws.min())
    return (
        note
        if shown == kept
        else f"{note} Drawn are the last {shown} of {counted(kept, 'draw')} of each chain."
    )


def swap_results(found: Tempered, widths: np.ndarray) -> Results:
    """Swap rates of all pairs of rungs, the way of a copy, and a line for each chain."""
    single = len(widths) == 1
    rate, middle = found.rate.mean(axis=0), found.width.mean(axis=0)
    names = [f"{low:.2f}–{high:.2f}" for low, high in itertools.pairwise(middle)] or ["one copy"]
    worst = int(rate.argmin())
    trips = int(found.trips.sum())
    headline = f"Copies swap least between widths {names[worst]}: {rate[worst]:.2f}"
    way = f"{counted(trips, 'round trip')} in {counted(int(found.draws.sum()), 'draw')}"
    if single:
        headline = way = "One copy a chain: nothing swaps places"
    first = found.draws.min() - found.way.shape[1] + 1
    lowest = found.rate.argmin(axis=1)
    return {
        "swap_table": Table(
            {"Half widths": np.array(names), "Swaps taken": rate.round(2)}, label="Swap rates"
        ),
        "swap_headline": headline,
        "swap_note": "Mean of the chains. From 0.2 on copies pass; the rungs were spaced in the warm-up.",
        "way": Result(found.way, ("chain", "place"), label="half width"),
        "way_x": Result(np.arange(first, first + found.way.shape[1], dtype=float), ("place",), label="draw"),
        "way_headline": way,
        "way_note": _way_note(found),
        "chains": Table(
            {
                "Chain": np.array(found.names),
                "Round trips": found.trips,
                "Draws a trip": np.where(
                    found.trips > 0, (found.draws / np.maximum(found.trips, 1)).round(), math.nan
                ),
                "Lowest swap rate": found.rate.min(axis=1).round(2),
                "Between widths": np.array([names[i] for i in lowest]),
            },
            label="Chains",
        ),
        "chains_note": (
            f"A round trip is the way of a copy from no null category to the full one and back. Fewer than {FEW_TRIPS} in "
            "a chain show little."
        ),
    }

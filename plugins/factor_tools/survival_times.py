"""What is known of the times: which items count, when the event came, and what else is in the model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from plaidwork.core.api import Annotation, ModelError, counted
from plaidwork.plugins.factor_tools.common import listed

_HAPPENED = {"yes", "y", "true", "t", "1", "dead", "died", "deceased", "death", "event", "relapse", "relapsed", "progressed"}  # fmt: skip
_NOT = {"no", "n", "false", "f", "0", "alive", "living", "censored", "none"}
_NUMBERS = ((0.0, 1.0), (1.0, 2.0))
"""Two numbers of which the larger is the event: as usual, and as R's survival has them."""
_MOST_CLASSES = 12


@dataclass(frozen=True, slots=True)
class Watched:
    """The n items that count.

    Attributes
    ----------
    time : (n,). event : (n,) bool. scores : (n, K) standardised; NaN columns that are constant.
    others : (n, q) standardised columns that are adjusted for, ``adjusted`` their titles.
    time_name, event_name, items : words for the pictures. left_out : what was left out and why, in words.
    """

    time: np.ndarray
    event: np.ndarray
    scores: np.ndarray
    others: np.ndarray
    adjusted: tuple[str, ...]
    time_name: str
    event_name: str
    items: str
    left_out: tuple[str, ...]


def watched_of(
    time: Annotation, event: Annotation, adjust: Sequence[Annotation], scores: np.ndarray, label: str
) -> Watched:
    """Items whose time, event, factor values and further columns are all known. Raises ``ModelError``."""
    if (time.title, time.axis) == (event.title, event.axis):
        raise ModelError(f"“{time.title}” is chosen as time and as event.", "Choose another column for one.")
    happened = _events(event, label)
    used = [one for one in adjust if one.title not in (time.title, event.title)]
    known = {
        f"{time.title} is unknown": time.known,
        f"{event.title} is unknown": event.known,
        f"{time.title} is below 0": ~(time.values < 0),
        "a factor value is unknown": np.isfinite(scores).all(axis=1),
        **{f"{one.title} is unknown": one.known for one in used},
    }
    keep, left_out = np.ones(len(scores), dtype=bool), []
    for why, mask in known.items():
        if lost := int((keep & ~mask).sum()):
            left_out.append(f"{lost} where {why}")
        keep &= mask
    parts = [part for one in used for part in _columns(one, keep)]
    others = np.column_stack(parts) if parts else np.zeros((int(keep.sum()), 0))
    return Watched(
        time.values[keep],
        happened[keep],
        _standardised(scores[keep]),
        others,
        tuple(one.title for one in used),
        time.title,
        event.title,
        time.axis_label,
        tuple(left_out),
    )


def _events(column: Annotation, label: str) -> np.ndarray:
    """(n,) bool, whether the event happened. Raises ``ModelError`` when that is not clear."""
    texts = _texts(column)
    found = sorted({text for text in texts if text})
    if label:
        if label not in found:
            raise ModelError(
                f"“{label}” does not occur in “{column.title}”.", f"There are: {listed(found, 6) or 'none'}."
            )
        return np.array([text == label for text in texts])
    if column.is_number:
        values = np.unique(column.values[column.known])
        pair = next((pair for pair in _NUMBERS if set(values) <= set(pair)), None)
        if pair is not None and (len(values) == 2 or pair[0] == 0):
            return np.asarray(column.values == pair[1])
    words = {text: _word(text) for text in found}
    if all(word in _HAPPENED | _NOT for word in words.values()):
        return np.array([words.get(text, "") in _HAPPENED for text in texts])
    raise ModelError(
        f"Which value of “{column.title}” says that the event happened is not clear: {listed(found, 6) or 'it has none'}.",
        "Name it in “Label of the event”.",
    )


def _word(text: str) -> str:
    """The text in lower case, without a code before it: ``1:DECEASED`` is deceased."""
    code, colon, rest = text.partition(":")
    return (rest if colon and code.strip().isdigit() else text).strip().casefold()


def _texts(column: Annotation) -> list[str]:
    if not column.is_number:
        return [str(value) for value in column.values]
    return [f"{value:.12g}" if k else "" for value, k in zip(column.values, column.known)]


def _columns(column: Annotation, keep: np.ndarray) -> list[np.ndarray]:
    """A number as it is, text as one column for each class but the first; standardised. Raises ``ModelError``."""
    if column.is_number:
        values = column.values[keep]
        return [_standardised(values[:, None])[:, 0]] if np.ptp(values) > 0 else []
    texts = column.values[keep].astype(str)
    classes = np.unique(texts)
    if len(classes) > _MOST_CLASSES:
        raise ModelError(
            f"“{column.title}” has {counted(len(classes), 'different label')} and cannot be adjusted for.",
            f"Choose columns of numbers, or of {_MOST_CLASSES} classes at most.",
        )
    return [_standardised((texts == one).astype(float)[:, None])[:, 0] for one in classes[1:]]


def _standardised(values: np.ndarray) -> np.ndarray:
    """Mean 0 and standard deviation 1 by column; NaN where a column is constant."""
    if not len(values):
        return values
    spread = np.where(
        np.ptp(values, axis=0) > 0, values.std(axis=0, ddof=1 if len(values) > 1 else 0), np.nan
    )
    return np.asarray((values - values.mean(axis=0)) / spread)

"""What is wrong with data or settings, in words; and which samples, rows and classes are used."""

from __future__ import annotations

import numpy as np

from plaidwork.core.api import Block, ModelData, ModelError, Problem, counted, held_levels, random_test
from plaidwork.plugins.rank_factor.state import Settings

MANY = 4
"""Items named of one sort."""


def some(names: list[str], noun: str) -> str:
    """``3 features (“a”, “b”, “c”)``, the first few named."""
    shown = ", ".join(f"“{name}”" for name in names[:MANY]) + (", …" if len(names) > MANY else "")
    return f"{counted(len(names), noun)} ({shown})"


_USUAL = "test"
"""What test samples are called when nobody says otherwise; then they may have another of the usual names, as *validation*."""


def split_of(data: ModelData, params: Settings) -> tuple[np.ndarray, np.ndarray]:
    """Places of the training and of the test samples. Raises ``ModelError`` when one half is empty.

    Without a “Split” the share of the settings is drawn from each class, the same samples for the same labels.
    """
    n = data["X"].shape[0]
    if "split" not in data:
        labels: Block = data["y"]
        test = random_test(np.where(labels.observed, labels.values, -1), params["test_share"])
        return np.setdiff1d(np.arange(n), test), test
    block: Block = data["split"]
    name = params["test_name"].strip()
    held = [place for place, level in enumerate(block.categories) if level.strip().lower() == name.lower()]
    if not held and name == _USUAL:
        held = held_levels(block.categories)
    if not held:
        raise ModelError(
            f"“Split” has no sample called “{name}”. Found: {', '.join(block.categories)}.",
            "Say under “Test samples are called” which word marks them.",
        )
    test = block.observed & np.isin(block.values, held)
    if test.all() or not test.any():
        raise ModelError(f"“Split” calls {'all' if test.all() else 'no'} samples “{name}”.")
    return np.flatnonzero(~test), np.flatnonzero(test)


def varying_rows(block: Block, train: np.ndarray) -> np.ndarray:
    """Places of the features with two different known values among the training samples."""
    known, values = block.observed[train], block.values[train]
    low = np.where(known, values, np.inf).min(axis=0, initial=np.inf)
    high = np.where(known, values, -np.inf).max(axis=0, initial=-np.inf)
    return np.flatnonzero(high > low)


def class_names(data: ModelData, params: Settings) -> tuple[tuple[str, ...], np.ndarray]:
    """Names of the classes and the class of every sample, -1 where unlabelled.

    Raises ``ModelError`` for a label that is not among the given classes.
    """
    block: Block = data["y"]
    wanted = tuple(dict.fromkeys(part.strip() for part in params["classes"].split(",") if part.strip()))
    codes = np.where(block.observed, block.values, -1)
    if not wanted:
        present = [code for code in range(len(block.categories)) if (codes == code).any()]
        wanted = tuple(block.categories[code] for code in present)
    if missing := [name for name in wanted if name not in block.categories]:
        raise ModelError(
            f"No label is called “{missing[0]}”. Found: {', '.join(block.categories)}.",
            "Correct “Classes”, or leave it empty to use all.",
        )
    position = {block.categories.index(name): index for index, name in enumerate(wanted)}
    found = np.array([position.get(int(code), -2 if code >= 0 else -1) for code in codes], np.int64)
    if (found == -2).any():
        first = int(np.flatnonzero(found == -2)[0])
        raise ModelError(
            f"The label “{block.categories[int(codes[first])]}” of sample “{block.names[0][first]}” is not among the "
            f"classes {', '.join(wanted)}.",
            "Add it to “Classes”, or make the label missing.",
        )
    return wanted, found


def find_problems(data: ModelData, params: Settings) -> list[Problem]:
    """Errors and remarks."""
    try:
        train, _ = split_of(data, params)
    except ModelError as error:
        return [Problem(error.message, error.hint, "split")]
    try:
        classes, codes = class_names(data, params)
    except ModelError as error:
        return [Problem(error.message, error.hint, "classes")]
    found = _label_problems(classes, codes[train])
    found += _row_problems(data["X"], train)
    found += _setting_problems(data["X"], params)
    return found


def _label_problems(classes: tuple[str, ...], codes: np.ndarray) -> list[Problem]:
    counts = {name: int((codes == code).sum()) for code, name in enumerate(classes)}
    used = {name: count for name, count in counts.items() if count}
    if len(used) < 2:
        what = f"only “{next(iter(used))}” ({next(iter(used.values()))})" if used else "none"
        return [
            Problem(
                f"Labels of two classes are needed among the training samples. Found {what}.",
                "Choose labels with at least two classes.",
                "y",
            )
        ]
    if len(used) < len(classes):
        empty = next(name for name in classes if not counts[name])
        return [Problem(f"No training sample has the label “{empty}”.", "Leave that class out.", "y")]
    if len(used) > min(20, max(3, len(codes) // 3)):
        return [
            Problem(
                f"The labels have {counted(len(used), 'class')} for {counted(len(codes), 'training sample')}.",
                "Choose labels of a few classes; every class gets a classifier of its own.",
                "y",
                "warning",
            )
        ]
    return []


def _row_problems(block: Block, train: np.ndarray) -> list[Problem]:
    rows = varying_rows(block, train)
    n_features = block.shape[1]
    if not len(rows):
        return [
            Problem(
                "No feature varies: every one has a single value among the training samples.",
                "Check the data, and that samples are in rows.",
                "X",
            )
        ]
    found = []
    if len(rows) < n_features:
        out = [block.names[1][i] for i in np.setdiff1d(np.arange(n_features), rows)]
        found.append(
            Problem(
                f"{some(out, 'feature')} left out: constant or unknown among the training samples.",
                "Loadings of such features are shown as 0.",
                "X",
                "warning",
            )
        )
    empty = np.flatnonzero(~block.observed[:, rows].any(axis=1))
    if len(empty):
        found.append(
            Problem(
                f"{some([block.names[0][i] for i in empty], 'sample')} without a known value.",
                "Only the label says something about such a sample.",
                "X",
                "warning",
            )
        )
    return found


def _setting_problems(block: Block, params: Settings) -> list[Problem]:
    found = []
    shape = params["image_shape"]
    if len(shape) not in (0, 2) or any(side < 1 or side % 1 for side in shape):
        text = ", ".join(f"{side:g}" for side in shape)
        found.append(
            Problem(
                f"“Image shape” needs the numbers of rows and columns. Found “{text}”.",
                "Leave it empty when the features are not pixels.",
                "image_shape",
            )
        )
    elif shape and shape[0] * shape[1] != block.shape[1]:
        found.append(
            Problem(
                f"Images of {shape[0]:g} × {shape[1]:g} have {counted(shape[0] * shape[1], 'pixel')}. Found "
                f"{counted(block.shape[1], 'feature')}.",
                "Correct “Image shape”, or check that no pixel was left out of the data.",
                "image_shape",
            )
        )
    if params["likelihood"] == "rank" and params["n_levels"] == 1:
        found.append(
            Problem("“Levels” needs 0 (all distinct values) or at least 2. Found 1.", "", "n_levels")
        )
    name = params["shown_feature"].strip()
    if name and name not in block.names[1]:
        found.append(
            Problem(
                f"No feature is called “{name}”.",
                "Leave “Feature of the rank fit” empty for the first.",
                "shown_feature",
            )
        )
    return found

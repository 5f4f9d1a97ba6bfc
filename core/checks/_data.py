"""Data for a model by its declaration alone: regular, or degenerate in one way."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from plaidwork.core.contract.spec import Input, ModelSpec
from plaidwork.core.data.dataset import Dataset

N_ROWS, N_COLUMNS, N_OTHER = 24, 16, 3
Datasets = dict[str, list[Dataset]]
Change = Callable[[np.ndarray, Input], np.ndarray]


def sizes(spec: ModelSpec, **changed: int) -> dict[str, int]:
    """A length for every dim: 24 and 16 for those of the first required matrix, 3 for the others.

    ``changed`` sets the lengths of its first and second dim by the words ``rows`` and ``columns``.
    """
    main = main_input(spec)
    found = {main.dims[0]: changed.get("rows", N_ROWS)}
    if len(main.dims) > 1:
        found.setdefault(main.dims[1], changed.get("columns", N_COLUMNS))
    for item in spec.inputs:
        for dim in item.dims:
            found.setdefault(dim, N_ROWS if item.required and len(item.dims) == 1 else N_OTHER)
    return found


def main_input(spec: ModelSpec) -> Input:
    """The first required matrix, else the first required input."""
    required = [item for item in spec.inputs if item.required] or list(spec.inputs)
    return next((item for item in required if item.kind == "matrix"), required[0])


def shape_of(item: Input, lengths: Mapping[str, int]) -> tuple[int, ...]:
    return tuple(lengths[dim] for dim in item.dims)


def wanted_inputs(spec: ModelSpec, optional: bool = False) -> tuple[Input, ...]:
    return tuple(item for item in spec.inputs if item.required or optional)


def generic(
    spec: ModelSpec,
    seed: int,
    *,
    optional: bool = False,
    missing: float = 0.05,
    change: Change | None = None,
    **changed: int,
) -> Datasets:
    """Datasets by input, of the declared kinds; ``change`` is applied to the values of the main input."""
    rng, lengths, found = np.random.default_rng([seed, 7]), sizes(spec, **changed), {}
    main = main_input(spec)
    for item in wanted_inputs(spec, optional):
        shape = shape_of(item, lengths)
        shapes = [shape]
        if item.many:
            shapes.append((shape[0], max(1, shape[1] // 2)) if len(shape) > 1 else shape)
        arrays = [values(item, one, rng) for one in shapes]
        if missing and item.missing and change is None:
            arrays = [with_gaps(item, array, rng, missing) for array in arrays]
        if change is not None and item is main:
            arrays = [change(array, item) for array in arrays]
        found[item.name] = [dataset(item, array, number) for number, array in enumerate(arrays)]
    return found


def values(item: Input, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    """Numbers of the declared kind: two groups along every axis, and noise."""
    if item.dtype == "categorical" or item.kind == "labels":
        return np.arange(int(np.prod(shape))).reshape(shape) % min(3, max(1, shape[0]))
    signal = np.ones(shape)
    for axis, n in enumerate(shape):
        group = np.where(np.arange(n) < max(1, n // 3), 1.0, -0.5)
        signal = signal * np.expand_dims(group, [a for a in range(len(shape)) if a != axis])
    match item.dtype:
        case "binary":
            return (rng.random(shape) < 1 / (1 + np.exp(-2 * signal))).astype(float)
        case "count":
            return rng.poisson(np.exp(1 + 0.7 * signal)).astype(float)
        case "ordinal":
            return np.clip(np.round(3 + signal + rng.standard_normal(shape)), 1, 5)
    return 2 * signal + rng.standard_normal(shape)


def with_gaps(item: Input, array: np.ndarray, rng: np.random.Generator, share: float) -> np.ndarray:
    """The array with some cells missing, the last one among them, never a whole row or column."""
    gaps = rng.random(array.shape) < share
    gaps[(0,) * array.ndim] = False
    gaps[(-1,) * array.ndim] = array.size > 3
    for axis in range(array.ndim if array.ndim > 1 else 0):
        gaps &= ~np.asarray(gaps.all(axis=axis, keepdims=True))
    return hole(item, array, gaps)


def hole(item: Input, array: Any, where: Any) -> Any:
    """The array, or the values of a dataset, with the cells ``where`` missing."""
    if isinstance(array, Dataset):
        return array.with_(values=hole(item, array.values, where))
    out = np.array(array)
    out[where] = -1 if item.dtype == "categorical" or item.kind == "labels" else np.nan
    return out


def dataset(item: Input, array: Any, number: int = 0) -> Dataset:
    """The array as dataset; items of one dim have one set of names, so that inputs are joined by name. What is one stays."""
    if isinstance(array, Dataset):
        return array
    dims = (*item.dims, item.several) if item.several else item.dims
    words = [dim if axis == 0 or not item.many else f"{dim} {number + 1}." for axis, dim in enumerate(dims)]
    names = [tuple(f"{word} {i + 1}" for i in range(n)) for word, n in zip(words, array.shape)]
    categorical = item.dtype == "categorical" or item.kind == "labels"
    categories: tuple[str, ...] = ()
    if categorical:
        array = np.asarray(array, np.int64)
        categories = tuple(f"class {chr(97 + code)}" for code in range(int(array.max(initial=0)) + 1))
    return Dataset(
        f"{item.name}{number + 1 if number else ''}",
        array,
        names[0],
        names[1] if len(names) > 1 else (),
        kind="categorical" if categorical else item.dtype,
        categories=categories,
    )


def degenerate(spec: ModelSpec, seed: int) -> Iterator[tuple[str, Callable[[], Datasets]]]:
    """Names of the cases that apply to the model's main input, and what makes their data."""
    main = main_input(spec)
    flat = len(main.dims) == 1

    def of(**more: Any) -> Callable[[], Datasets]:
        return lambda: generic(spec, seed, **more)

    yield "one row", of(rows=1)
    yield "two rows", of(rows=2)
    if not flat:
        yield "one column", of(columns=1)
        yield "one cell", of(rows=1, columns=1)
        yield "more columns than rows", of(rows=5, columns=120)
        yield "more rows than columns", of(rows=120, columns=5)
    yield "constant", of(change=lambda a, item: np.full_like(a, a.ravel()[0]))
    yield "all zero", of(change=lambda a, item: np.zeros_like(a))
    yield "duplicate rows", of(change=lambda a, item: np.repeat(a[:1], len(a), axis=0))
    if not flat:
        yield "constant column", of(change=_constant_column)
        yield "duplicate columns", of(change=lambda a, item: np.repeat(a[:, :1], a.shape[1], axis=1))
    if main.missing:
        yield "empty row", of(change=lambda a, item: hole(item, a, 0))
        yield "nothing known", of(change=lambda a, item: hole(item, a, np.ones(a.shape, bool)))
        yield (
            "one known cell",
            of(change=lambda a, item: hole(item, a, np.arange(a.size).reshape(a.shape) > 0)),
        )
        if not flat:
            yield "empty column", of(change=lambda a, item: hole(item, a, (slice(None), 0)))
    if main.dtype == "real":
        yield "huge numbers", of(change=lambda a, item: a * 1e8)
        yield "tiny numbers", of(change=lambda a, item: a * 1e-8)
        yield "far from zero", of(change=lambda a, item: a + 1e6)
        yield "one outlier", of(change=_outlier)
    if main.dtype == "count":
        yield "large counts", of(change=lambda a, item: a * 1e6)
    if main.dtype == "binary":
        yield "all one", of(change=lambda a, item: np.ones_like(a))
    if any(item.sparse for item in wanted_inputs(spec)):
        yield "sparse", lambda: sparse(spec, seed)
        yield "sparse without entries", lambda: sparse(spec, seed, empty=True)


def _constant_column(array: np.ndarray, item: Input) -> np.ndarray:
    out = array.copy()
    out[:, 0] = out[0, 0]
    return out


def _outlier(array: np.ndarray, item: Input) -> np.ndarray:
    out = array.copy()
    out[(0,) * out.ndim] = 1e6
    return out


def sparse(spec: ModelSpec, seed: int, empty: bool = False) -> Datasets:
    """Every input that takes a sparse matrix as one."""
    from scipy.sparse import csr_matrix

    found = generic(spec, seed, missing=0.0)
    for item in wanted_inputs(spec):
        if item.sparse:
            found[item.name] = [
                data.with_(values=csr_matrix(data.values * (0 if empty else 1))) for data in found[item.name]
            ]
    return found

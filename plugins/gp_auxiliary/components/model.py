"""Binary principal components: a probit factor model of a matrix of zeros and ones (page, section 2.7; see NOTES.md)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, cast

import numpy as np
from scipy.special import log_ndtr, ndtri

from plaidwork.core.api import (
    POSITION,
    ChainView,
    Clock,
    Cost,
    Kept,
    Model,
    ModelData,
    ModelError,
    ModelSpec,
    Problem,
    Results,
    Stage,
    State,
    Trial,
    counted,
)
from plaidwork.plugins.gp_auxiliary.components import trajectories
from plaidwork.plugins.gp_auxiliary.components.spec import BINARY_PCA
from plaidwork.plugins.gp_auxiliary.kernels import binary
from plaidwork.plugins.gp_auxiliary.shared.state import ComponentsFields
from plaidwork.plugins.gp_auxiliary.shared.typed_settings import ComponentsSettings

_CELLS_A_SLICE = 400_000
"""Cells of one slice at one component: some 40 ms."""


class BinaryComponents(Model[ComponentsFields, ComponentsSettings]):
    """``y_ij = [mu_j + w_j'x_i + noise > 0]`` with ``x ~ N(0, I)``, ``w_k ~ N(0, I / alpha_k)``."""

    spec: ClassVar[ModelSpec] = BINARY_PCA
    likelihood_of: ClassVar[str] = "Y"
    trials: ClassVar[Sequence[Trial]] = (
        Trial(params={"factors": 2, "precision_shape": 4.0, "precision_rate": 3.0, "mean_sd": 1.0}),
        Trial(name="gaps", params={"factors": 2, "ard": False, "mean_sd": 1.0}, missing=0.3),
    )

    def init(self, data: ModelData, params: ComponentsSettings, rng: np.random.Generator) -> ComponentsFields:
        y, known = data["Y"].values > 0.5, data["Y"].observed
        if not known.any():
            raise ModelError("No cell is known, so there is nothing to fit.")
        count = known.sum(axis=0)
        share = (np.where(known, y, False).sum(axis=0) + 1.0) / (count + 2.0)
        size = params["factors"]
        x = start_scores(np.where(known, y - share, 0.0), size, rng)
        state: ComponentsFields = {
            "scores": x,
            "loadings": 0.3 * rng.standard_normal((y.shape[1], size)),
            "mean": np.asarray(ndtri(share)),
            "precision": np.full(size, start_precision(params)),
            "z": np.zeros(y.shape),
            "log_likelihood": 0.0,
        }
        if leaps_of(params, y.shape):
            state["leaps"] = trajectories.new_leaps(state["loadings"])
        return state

    def stages(
        self,
        state: ComponentsFields,
        data: ModelData,
        params: ComponentsSettings,
        rng: np.random.Generator,
        clock: Clock,
    ) -> Sequence[Stage]:
        """A trajectory of all but z, z and scores row by row, means and loadings column by column, then what moves together."""
        y, known = data.prepared(ones_of, params, ()), data["Y"].observed
        x, w, mu, z = state["scores"], state["loadings"], state["mean"], state["z"]
        n, m = y.shape

        def rows(lo: int, hi: int) -> None:
            binary.draw_rows(rng, lo, hi, 1, y, known, x, w, mu, z)

        def columns(lo: int, hi: int) -> None:
            state["log_likelihood"] += binary.draw_columns(
                rng, lo, hi, y, known, x, w, mu, z, state["precision"], params["mean_sd"] ** -2.0
            )

        def together(lo: int, hi: int) -> None:
            shift_scores(rng, x, w, mu, params["mean_sd"])
            stretch_factors(rng, x, w, state["precision"])
            if params["ard"]:
                state["precision"] = draw_precision(rng, w, params)

        cut = cut_of((n, m), x.shape[1]), cut_of((m, n), x.shape[1])
        found = [
            Stage("scores", rows, n, cut[0]),
            Stage("loadings", columns, m, cut[1], begin=lambda: state.update({"log_likelihood": 0.0})),
            Stage("shift and stretch", together, slice=1000),
        ]
        if "leaps" in state:
            found.insert(0, trajectory(state, data, params, rng, clock))
        return found

    def traces(
        self, state: ComponentsFields, data: ModelData, params: ComponentsSettings
    ) -> Mapping[str, float]:
        w = state["loadings"]
        return {
            "log_likelihood": state["log_likelihood"],
            "signal": float((w**2).sum() / len(w)),
            "spread": float(state["mean"].std()),
        }

    def upgrade_state(
        self, state: State, from_version: int, data: ModelData, params: ComponentsSettings
    ) -> ComponentsFields:
        """Version 1 counted the slices of a sweep: first those of rows, then those of columns."""
        if from_version != 1:
            return super().upgrade_state(state, from_version, data, params)
        call, (n, m), size = state.pop("call"), data["Y"].shape, state["scores"].shape[1]
        rows, columns = pieces_of((n, m), size), pieces_of((m, n), size)
        if 0 < call < len(rows) - 1:
            state[POSITION] = {"stage": "scores", "at": int(rows[call])}
        elif call:
            state[POSITION] = {"stage": "loadings", "at": int(columns[call - len(rows) + 1])}
        return cast("ComponentsFields", state)

    def draws(
        self, state: ComponentsFields, data: ModelData, params: ComponentsSettings
    ) -> Mapping[str, Any]:
        return {
            "scores": state["scores"].copy(),
            "loadings": state["loadings"].copy(),
            "mean": state["mean"].copy(),
            "log_likelihood": state["log_likelihood"],
        }

    def validate(self, data: ModelData, params: ComponentsSettings) -> Sequence[Problem]:
        block = data["Y"]
        known, found = block.observed, []
        if not np.isin(block.values[known], (0.0, 1.0)).all():
            return [Problem("The matrix needs zeros and ones only.", "Choose other data.", "Y")]
        if not known.any():
            return [Problem("No cell is known, so there is nothing to fit.", "", "Y")]
        most = min(known.shape)
        if params["factors"] > most:
            text = f"{counted(params['factors'], 'component')} are more than the {most} that such a matrix can have."
            found.append(Problem(text, f"Choose {most} at most.", "factors"))
        ones = np.where(known, block.values, 0.0).sum(axis=0)
        still = np.flatnonzero((ones == 0) | (ones == known.sum(axis=0)))
        if len(still):
            shown = ", ".join(block.names[1][j] for j in still[:3])
            more = f" and {len(still) - 3} more" if len(still) > 3 else ""
            text = f"The same value in every known cell: {shown}{more}. Their means come from the prior."
            found.append(Problem(text, "", "Y", "warning"))
        return found

    def estimate(self, data: ModelData, params: ComponentsSettings) -> Cost:
        """Bytes of one chain and seconds of a sweep."""
        cells, leaps = float(np.prod(data["Y"].shape)), leaps_of(params, data["Y"].shape)
        kept = float(sum(data["Y"].shape)) * params["factors"]
        size = params["factors"]
        seconds = cells * (8e-8 + 2e-9 * (size + 1) ** 2 + (leaps + bool(leaps)) * (9e-9 + 1.4e-9 * size))
        return Cost((11.0 if leaps else 10.0) * cells + 8.0 * kept, seconds)

    def prepare(self) -> None:
        """Compile the kernels."""
        rng = np.random.Generator(np.random.PCG64DXSM(0))
        y = np.array([[True, False], [False, True]])
        known = np.array([[True, True], [True, False]])
        x, w, mu, z = np.ones((2, 1)), np.ones((2, 1)), np.zeros(2), np.zeros((2, 2))
        for array in (y, known):
            array.setflags(write=False)
        binary.draw_rows(rng, 0, 2, 1, y > 0, known, x, w, mu, z)
        binary.draw_columns(rng, 0, 2, y > 0, known, x, w, mu, z, np.ones(1), 1.0)
        signs = np.array([1, 0], dtype=np.int8)
        signs.setflags(write=False)
        at = (np.zeros(5) for _ in range(5))
        binary.rise(next(at), next(at), signs, 2, 1, next(at))
        binary.leap(next(at), next(at), np.zeros(5), 0.0, -1.0, np.ones(5), True, 1, np.ones(5), signs, 2, 1)

    def simulate(
        self, params: ComponentsSettings, shapes: Mapping[str, Any], rng: np.random.Generator
    ) -> tuple[dict[str, np.ndarray], ComponentsFields]:
        n, m = shapes["Y"]
        size = params["factors"]
        precision = np.full(size, params["loading_sd"] ** -2.0)
        if params["ard"]:
            precision = rng.gamma(params["precision_shape"], size=size) / params["precision_rate"]
        state: ComponentsFields = {
            "scores": rng.standard_normal((n, size)),
            "loadings": rng.standard_normal((m, size)) / np.sqrt(precision),
            "mean": params["mean_sd"] * rng.standard_normal(m),
            "precision": precision,
            "z": np.zeros((n, m)),
            "log_likelihood": 0.0,
        }
        return self.simulate_data(state, params, shapes, rng), state

    def simulate_data(
        self,
        state: ComponentsFields,
        params: ComponentsSettings,
        shapes: Mapping[str, Any],
        rng: np.random.Generator,
    ) -> dict[str, np.ndarray]:
        centre = state["mean"] + state["scores"] @ state["loadings"].T
        return {"Y": (centre + rng.standard_normal(centre.shape) > 0).astype(float)}

    def refresh(
        self, state: ComponentsFields, data: ModelData, params: ComponentsSettings
    ) -> ComponentsFields:
        y, known = data["Y"].values > 0.5, data["Y"].observed
        centre = state["mean"] + state["scores"] @ state["loadings"].T
        value = float(log_ndtr(np.where(y, centre, -centre))[known].sum())
        return {**state, "log_likelihood": value}

    def log_likelihood(
        self,
        chain: ChainView,
        draws: np.ndarray,
        data: ModelData,
        params: ComponentsSettings,
        index: int,
        rows: np.ndarray,
        columns: np.ndarray | None,
    ) -> np.ndarray:
        from plaidwork.plugins.gp_auxiliary.components.density import log_probability_of_cells

        assert columns is not None  # cells are the observations
        return log_probability_of_cells(chain, draws, data["Y"], rows, columns)

    def summarise(self, kept: Kept, data: ModelData, params: ComponentsSettings) -> Results:
        from plaidwork.plugins.gp_auxiliary.components.results import summarise_components

        return summarise_components(kept, data)

    def fitted(
        self,
        kept: Kept,
        data: ModelData,
        params: ComponentsSettings,
        name: str,
        index: int,
        columns: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray]:
        from plaidwork.plugins.gp_auxiliary.components.results import cell_probability

        return cell_probability(kept, np.asarray(columns))

    def predict(
        self, kept: Kept, data: ModelData, new_data: ModelData, params: ComponentsSettings
    ) -> Results:
        from plaidwork.plugins.gp_auxiliary.components.new import predict_rows

        return predict_rows(kept, data, new_data)


def leaps_of(params: ComponentsSettings, shape: tuple[int, int]) -> int:
    """Steps of a trajectory on average, of so many samples and features; 0 for none."""
    return params["leaps"] if shape[0] * shape[1] <= trajectories.MOST_CELLS else 0


def signs_of(data: ModelData, params: ComponentsSettings) -> np.ndarray:
    """(n * m,) int8: 1 of a one, -1 of a zero, 0 of a cell that is not known."""
    block = data["Y"]
    return np.where(block.observed, np.where(block.values > 0.5, 1, -1), 0).astype(np.int8).reshape(-1)


def trajectory(
    state: ComponentsFields,
    data: ModelData,
    params: ComponentsSettings,
    rng: np.random.Generator,
    clock: Clock,
) -> Stage:
    """The stage of scores, loadings and means together, z integrated out: whatever comes next draws z anew."""
    shape = data["Y"].shape

    def target() -> trajectories.Target:
        signs = data.prepared(signs_of, params, ())
        return trajectories.target_of(signs, state["precision"], params["mean_sd"] ** -2.0, shape)

    return Stage(
        "trajectory",
        lambda lo, hi: trajectories.advance(state, target(), lo, hi),
        size=lambda: state["leap"]["steps"] + 1,
        slice=max(
            1, 3 * trajectories.MOST_CELLS // max(1, shape[0] * shape[1]) // (2 + params["factors"] // 4)
        ),
        begin=lambda: trajectories.begin(rng, state, leaps_of(params, shape)),
        end=lambda: trajectories.end(rng, state, target(), clock.warming),
    )


def start_precision(params: ComponentsSettings) -> float:
    """Precision of the loadings at the start: the prior's mean, or what is fixed."""
    if params["ard"]:
        return float(params["precision_shape"] / params["precision_rate"])
    return float(params["loading_sd"] ** -2.0)


def start_scores(rest: np.ndarray, size: int, rng: np.random.Generator) -> np.ndarray:
    """(n, K) scores of unit spread near the main directions of ``rest`` (n, m), by a few power steps from a random start."""
    x = rng.standard_normal((len(rest), size))
    for _ in range(3):
        x = np.linalg.qr(rest @ (rest.T @ x) + 1e-9 * x)[0] if len(rest) >= size else x
    spread = np.sqrt(len(rest))
    return np.ascontiguousarray(
        spread * x / max(1.0, np.abs(x).max() * spread / 4.0)
    ) + 0.3 * rng.standard_normal(x.shape)


def ones_of(data: ModelData, params: ComponentsSettings) -> np.ndarray:
    """(n, m) bool, where the matrix is 1."""
    return np.asarray(data["Y"].values > 0.5)


def _at_once(size: int) -> float:
    """Cells of one slice."""
    return _CELLS_A_SLICE / (1.0 + 0.03 * (size + 1) ** 2)


def pieces_of(shape: tuple[int, int], size: int) -> np.ndarray:
    """Ends of the slices of the first axis, 0 included: the sum of the log likelihood goes slice by slice."""
    length, other = shape
    count = math.ceil(length * max(other, 1) / _at_once(size))
    return np.unique(np.linspace(0, length, min(count, length) + 1).astype(np.int64))


def cut_of(shape: tuple[int, int], size: int) -> int | Callable[[int], int]:
    """``Stage.slice`` of the first axis: few enough units share a slice with other stages."""
    most = int(_at_once(size) / max(shape[1], 1))
    if shape[0] <= most:
        return most
    ends = pieces_of(shape, size)
    return lambda lo: int(ends[np.searchsorted(ends, lo, side="right")])


def draw_precision(rng: np.random.Generator, w: np.ndarray, params: ComponentsSettings) -> np.ndarray:
    """(K,) precisions of the loadings w (m, K): ``Gamma(shape + m / 2, rate + sum w^2 / 2)``."""
    shape = params["precision_shape"] + 0.5 * len(w)
    drawn = rng.standard_gamma(shape, size=w.shape[1]) / (params["precision_rate"] + 0.5 * (w**2).sum(axis=0))
    return np.clip(drawn, 1e-12, 1e12)


def shift_scores(
    rng: np.random.Generator, x: np.ndarray, w: np.ndarray, mu: np.ndarray, mean_sd: float
) -> None:
    """Shift all scores by -d and the means by W d, in place: no cell notices, so only the priors decide (a Gibbs step)."""
    precision = len(x) * np.eye(x.shape[1]) + w.T @ w / mean_sd**2
    linear = x.sum(axis=0) - w.T @ mu / mean_sd**2
    root = np.linalg.cholesky(precision)
    half = np.linalg.solve(root, linear) + rng.standard_normal(len(linear))
    shift = np.linalg.solve(root.T, half)
    x -= shift
    mu += w @ shift


def stretch_factors(rng: np.random.Generator, x: np.ndarray, w: np.ndarray, precision: np.ndarray) -> None:
    """Multiply the loadings of each component by c and divide its scores by c, in place: no cell notices.

    A Metropolis step: the priors and the Jacobian ``c^(m - n)`` decide.
    """
    n, m = len(x), len(w)
    log_c = 1.7 / math.sqrt(n + m) * rng.standard_normal(x.shape[1])
    c = np.exp(log_c)
    ratio = (m - n) * log_c - 0.5 * (c**-2.0 - 1.0) * (x**2).sum(axis=0)
    ratio -= 0.5 * precision * (c**2 - 1.0) * (w**2).sum(axis=0)
    c = np.where(np.log(rng.random(x.shape[1])) < ratio, c, 1.0)
    x /= c
    w *= c

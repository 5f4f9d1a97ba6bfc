"""The base class of every model, and what passes between a model and its host."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Generic

import numpy as np

from plaidwork.core.contract.layout import Layout
from plaidwork.core.contract.model_data import ModelData, ParamsT, State, StateT
from plaidwork.core.contract.relaxation import Relaxation
from plaidwork.core.contract.schedule import Clock
from plaidwork.core.contract.spec import ModelSpec
from plaidwork.core.contract.stages import Stage, advance
from plaidwork.core.contract.trial import Trial
from plaidwork.core.deferred import Holder
from plaidwork.core.errors import ModelError

if TYPE_CHECKING:
    from plaidwork.core.draws.draws import ChainView, Kept


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong (``severity="error"``) or noteworthy (``"warning"``) about data or settings.

    ``where`` names the input or hyperparameter it belongs to, so that the form can show it at the field. ``transform`` and
    ``options`` name a transformation (``docs/command-line.md``) of the input ``where`` that helps; the window offers it with a click.
    An ``axis`` among the options is that of the matrix as the model gets it. ``settings`` are hyperparameters that help, the one that gives
    the click its name last; they go before a transformation.
    """

    message: str
    hint: str = ""
    where: str = ""
    severity: str = "error"
    transform: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)


def refuse_errors(problems: Iterable[Problem]) -> None:
    """Raise ``ModelError`` for the first that is an error, as a model does that is asked to fit what :meth:`Model.validate` refuses."""
    for problem in problems:
        if problem.severity == "error":
            raise ModelError(problem.message, problem.hint)


@dataclass(frozen=True, slots=True)
class Cost:
    """An estimate before the fit: bytes of memory and seconds of one sweep, for one chain.

    ``shared`` are bytes that all chains use together beside the data. ``draw`` are bytes of a kept draw on average, where that
    is not what the variables declare; what a few large draws take belongs to ``memory``.
    """

    memory: float
    seconds_per_sweep: float
    shared: float = 0.0
    draw: float | None = None


@dataclass(frozen=True, slots=True)
class Result(Holder):
    """An array found by the fit. ``dims`` name its axes (input dims, model dims, or any new name)."""

    values: np.ndarray
    dims: tuple[str, ...] = ()
    unit: str = ""
    label: str = ""
    doc: str = ""

    def __post_init__(self) -> None:
        if not self._hold():
            object.__setattr__(self, "values", np.asarray(self.values))
        object.__setattr__(self, "dims", tuple(self.dims))


SHARE = "share"
"""Unit of columns of a table that are shares of 1."""


@dataclass(frozen=True, slots=True)
class Table:
    """Equal-length columns by title; ``units`` by column title, "share" for shares of 1, which are shown in per cent;
    ``decimals`` by title, where four significant digits do not do; text columns are object or str arrays. ``words`` are titles of
    columns whose cells are words of the program, not names from the data: they are shown in the user's language."""

    columns: Mapping[str, np.ndarray]
    units: Mapping[str, str] = field(default_factory=dict)
    label: str = ""
    doc: str = ""
    decimals: Mapping[str, int] = field(default_factory=dict)
    words: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "words", tuple(self.words))
        columns = {title: np.asarray(column) for title, column in self.columns.items()}
        object.__setattr__(self, "columns", columns)
        lengths = {len(column) for column in columns.values()}
        if len(lengths) > 1:
            raise ValueError(f"table columns differ in length: {sorted(lengths)}")

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))


Results = dict[str, Result | Table | str]
"""What ``summarise`` returns: arrays, tables and texts by name (a name is an identifier)."""


def single_numbers(results: Mapping[str, Any]) -> dict[str, float]:
    """Results that are one number, by name."""
    found = {}
    for name, result in results.items():
        if isinstance(result, Result) and result.held.size == 1 and result.values.dtype.kind in "biuf":
            found[name] = float(result.values.reshape(()))
    return found


class Model(ABC, Generic[StateT, ParamsT]):
    """A model: a declaration and four methods; the rest is optional.

    One instance serves all chains, so an instance keeps no state of its own. ``class Mine(Model[Fields, Settings])``, of
    two ``TypedDict``, lets type checkers know what is in its states and settings; both may be left out, from the right.
    """

    if not TYPE_CHECKING:

        def __class_getitem__(cls, item: Any) -> type:  # typing's own wants both before Python 3.13
            return cls

    spec: ClassVar[ModelSpec]
    relaxation: ClassVar[Relaxation] = Relaxation()
    """Variational models: arrays that may go on beyond a sweep, where the schedule has ``relaxation``; by itself none."""
    trials: ClassVar[Sequence[Trial]] = (Trial(),)
    """Where the sampler is compared with its prior; of use to models that offer ``simulate``."""
    likelihood_of: ClassVar[str] = ""
    """Name of the input whose values ``log_likelihood`` is about; of use to models that offer it."""
    likelihood_by_row: ClassVar[bool] = False
    """Whether a row of that matrix is one observation; else each of its cells is."""

    @abstractmethod
    def init(self, data: ModelData, params: ParamsT, rng: np.random.Generator) -> StateT:
        """The state before the first sweep. Raise ``ModelError`` for data that cannot be fitted."""

    def stages(
        self, state: StateT, data: ModelData, params: ParamsT, rng: np.random.Generator, clock: Clock
    ) -> Sequence[Stage]:
        """The parts of one sweep in their order, as functions that change ``state`` in place.

        Asked before every slice and every stage, so it is quick and changes nothing. The host cuts the stages into slices, keeps where
        the sweep stands with the state, and takes up a stopped sweep there. A stage that is over may be left out later
        in the same sweep; others stay. With ``stages`` comes ``traces``; a model whose sweep is always short may have
        ``step`` instead of both.
        """
        raise NotImplementedError(f"{self.spec.title} has neither stages() nor step()")

    def traces(self, state: StateT, data: ModelData, params: ParamsT) -> Mapping[str, float]:
        """The declared traces at the end of a sweep of ``stages``; changes nothing."""
        raise NotImplementedError(f"{self.spec.title} has stages() without traces()")

    def objective(self, state: StateT, data: ModelData, params: ParamsT) -> float:
        """Variational models: what the ascent raises, at this state; changes nothing.

        The checks ask after every stage whose ``whole`` is set, so that they name the update at which it falls. By
        itself it is the primary one of ``traces``: right when they remember nothing from stages that come later.
        """
        primary = self.spec.primary_trace
        assert primary is not None
        return float(self.traces(state, data, params)[primary.name])

    def step(
        self, state: StateT, data: ModelData, params: ParamsT, rng: np.random.Generator, clock: Clock
    ) -> Mapping[str, float] | None:
        """Advance ``state`` in place by a slice; the traces when that ends a sweep, else None.

        By itself it takes the next slice of ``stages``. A model may do a whole short sweep here instead, or keep a
        position of its own; how a sweep is split must not depend on time, or runs would not repeat.
        """
        ended = advance(self, state, data, params, rng, clock)
        return self.traces(state, data, params) if ended else None

    @abstractmethod
    def draws(self, state: StateT, data: ModelData, params: ParamsT) -> Mapping[str, Any]:
        """What to keep of this sweep: one entry per declared variable (copies, not views of the state)."""

    @abstractmethod
    def summarise(self, kept: Kept, data: ModelData, params: ParamsT) -> Results:
        """Results of all chains. Also called on a snapshot while the fit runs, off the GUI thread."""

    def validate(self, data: ModelData, params: ParamsT) -> Sequence[Problem]:
        """What is wrong with these data or settings, before the fit starts."""
        return ()

    def prepare(self) -> None:
        """Compile (or load from the cache) the kernels; called once before the first sweep."""

    def estimate(self, data: ModelData, params: ParamsT) -> Cost | None:
        """Memory and time of one chain, for the set-up page; None when unknown."""
        return None

    def converged(self, traces: Mapping[str, np.ndarray], tolerance: float) -> bool:
        """Variational and optimising models: whether to stop, where the schedule has no window.

        ``traces`` hold all sweeps so far. The default looks at the primary trace: its relative change over the last two
        sweeps.
        """
        primary = self.spec.primary_trace
        if primary is None:
            return False
        values = traces[primary.name]
        if len(values) < 3:
            return False
        change = float(np.max(np.abs(np.diff(values[-3:]))))
        return change <= tolerance * max(1.0, abs(float(values[-1])))

    def may_stop(self, traces: Mapping[str, np.ndarray], params: ParamsT) -> bool:
        """Variational and optimising models: whether a restart whose objective stands still may end.

        False while something is still to come that lets it rise again, such as a part of the model that joins later.
        """
        return True

    def extrapolates(self, clock: Clock, params: ParamsT) -> bool:
        """Whether the arrays of ``relaxation`` may be carried on before this sweep.

        False before a sweep that takes a decision by the state it begins from, such as which parts are of no use.
        """
        return True

    def extrapolated(self, state: StateT, before: StateT, data: ModelData, params: ParamsT) -> None:
        """Bring up to date, in place, what follows from the arrays of ``relaxation``, which have just been carried on.

        ``before`` is the state before that, without what is ``fixed``. A sweep follows at once.
        """

    def sample(self, state: StateT, rng: np.random.Generator, n: int) -> Sequence[Mapping[str, Any]]:
        """Variational models: ``n`` independent draws from q, in the form of :meth:`draws`."""
        raise NotImplementedError(f"{self.spec.title} does not draw from its approximation")

    def predict(self, kept: Kept, data: ModelData, new_data: ModelData, params: ParamsT) -> Results:
        """Predictions for new data."""
        raise NotImplementedError(f"{self.spec.title} does not predict new data")

    def fitted(
        self, kept: Kept, data: ModelData, params: ParamsT, name: str, index: int, columns: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """What the fit expects in cells of the input ``name``, block ``index`` of it, in these columns.

        Returns means and standard deviations of the cells (noise included), each (n, len(columns)), on the scale of
        the data: a probability for 0/1, a rate for counts; NaN where the fit says nothing. It is asked for a few
        columns at a time, whether they are observed or not, so that nothing as large as the data has to be stored.
        """
        raise NotImplementedError(f"{self.spec.title} does not tell fitted values")

    def response(
        self,
        kept: Kept,
        data: ModelData,
        params: ParamsT,
        name: str,
        rows: np.ndarray,
        wanted: frozenset[str],
    ) -> Mapping[str, Result]:
        """What the fit says at ``rows`` (m, D) of the input ``name``, on the scale of the data.

        Returns arrays by name whose first axis are the rows, as class probabilities (m, C) or an interval (m, K, 2);
        those ``wanted`` at least. A row's answer does not depend on the others. Views with the option ``response`` ask
        for maps and curves over columns that the user chooses, while the fit runs too: an answer for 1600 rows should
        take a second or two.
        """
        raise NotImplementedError(f"{self.spec.title} does not tell what it says at other values")

    def log_likelihood(
        self,
        chain: ChainView,
        draws: np.ndarray,
        data: ModelData,
        params: ParamsT,
        index: int,
        rows: np.ndarray,
        columns: np.ndarray | None,
    ) -> np.ndarray:
        """Log densities (s, len(rows)) of observations of block ``index`` of the input ``likelihood_of``, given ``draws`` of a chain.

        Of a matrix whose cells are observations those at (rows[i], columns[i]) are meant; with ``likelihood_by_row``, and of
        labels and vectors, the whole rows, and ``columns`` is None. In nats, on the scale of the data as given; held-out
        cells at their true values (``Block.truth``); NaN where the fit says nothing. By these numbers the host leaves
        observations out, weighs solutions and compares fits. ``s`` is the number of draws taken: all, or where that would
        take long, some of them spread evenly. A variational model draws from q instead, the same however often it is asked.

        A latent quantity of the observation's own (its cluster, its score) is integrated out given all else of the draw,
        or leaving it out goes wrong.
        """
        raise NotImplementedError(f"{self.spec.title} does not tell the density of single observations")

    def simulate(
        self, params: ParamsT, shapes: Mapping[str, tuple[int, ...]], rng: np.random.Generator
    ) -> tuple[Mapping[str, Any], StateT]:
        """Draw parameters from the prior and data given them: (values by input, state).

        Values are arrays, or a :class:`~plaidwork.core.api.Dataset` where names of items or of categories matter to the model.
        The state is one that ``step`` and ``draws`` take together with these data.
        """
        raise NotImplementedError(f"{self.spec.title} does not simulate data")

    def simulate_data(
        self, state: StateT, params: ParamsT, shapes: Mapping[str, tuple[int, ...]], rng: np.random.Generator
    ) -> Mapping[str, Any]:
        """Draw data given the parameters in ``state``, which stays as it is: values by input.

        With ``simulate`` it lets the checks compare the sampler with its prior (Geweke's test).
        """
        raise NotImplementedError(f"{self.spec.title} does not simulate data")

    def refresh(self, state: StateT, data: ModelData, params: ParamsT) -> StateT:
        """The state after the data were replaced: bring up to date what it remembers of them (default: nothing)."""
        return state

    def layout(self, data: ModelData, params: ParamsT) -> Layout:
        """Where a stored state may differ from a fresh one in more than values, and the ranges of whole numbers, by place.

        Before a chain goes on from a file the host makes a fresh state by :meth:`init` and compares: a kernel that gets arrays of other
        shapes, or a label that counts beyond them, writes where it should not. By itself a stored state has the places, types and
        shapes of a fresh one. See :class:`~plaidwork.core.contract.layout.Part`.
        """
        return {}

    def contradiction(self, state: StateT, data: ModelData, params: ParamsT) -> str:
        """What in a stored state contradicts itself or the data, as a part of a sentence ("“sizes” do not add up to …"); else empty.

        For what :meth:`layout` cannot say, as that counts are those of the labels. Asked after it, so that shapes and ranges are
        as declared, and in the middle of a sweep too.
        """
        return ""

    def draw_layout(self, data: ModelData, params: ParamsT) -> Layout:
        """The ranges of whole numbers among the variables, by name, where somebody indexes with them; ``below`` may name a dim of inputs.

        Types and lengths of dims are compared with what :attr:`spec` declares, before anything is made of the draws of a file.
        """
        return {}

    def upgrade_state(self, state: State, from_version: int, data: ModelData, params: ParamsT) -> StateT:
        """A stored state of an older ``state_version`` in today's form. Raise ``ModelError`` if impossible."""
        raise ModelError(
            f"This run was made with state version {from_version} of {self.spec.title}, now {self.spec.state_version}.",
            "Its results can be browsed; fit again to go on.",
        )

    @classmethod
    def lacks(cls) -> tuple[str, ...]:
        """Names of the methods that a model has to have and this one has not."""
        found = sorted(getattr(cls, "__abstractmethods__", ()))
        if cls.offers("stages") and not cls.offers("traces"):
            found.append("traces")
        if not (cls.offers("stages") or cls.offers("step")):
            found.append("stages (or step)")
        return tuple(found)

    @classmethod
    def offers(cls, method: str) -> bool:
        """Whether the model overrides the optional method of this name."""
        return getattr(cls, method) is not getattr(Model, method)

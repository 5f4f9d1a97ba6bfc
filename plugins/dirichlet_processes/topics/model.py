"""The topic model: what the host calls."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, cast

import numpy as np

from plaidwork.core.api import (
    Block,
    Clock,
    Cost,
    Kept,
    Layout,
    Model,
    ModelData,
    ModelSpec,
    Params,
    Part,
    Problem,
    Results,
    Stage,
    State,
    Trial,
    passes,
    refuse_errors,
)
from plaidwork.plugins.dirichlet_processes.topics.corpus import corpus_of, counts_of, find_problems
from plaidwork.plugins.dirichlet_processes.topics.keeping import ROOM, kept_topics
from plaidwork.plugins.dirichlet_processes.topics.kernels import collapsed
from plaidwork.plugins.dirichlet_processes.topics.kernels.collapsed import ALPHA, ETA, GAMMA
from plaidwork.plugins.dirichlet_processes.topics.settings import TopicSettings
from plaidwork.plugins.dirichlet_processes.topics.spec import HDP_TOPICS
from plaidwork.plugins.dirichlet_processes.topics.starts import first_state
from plaidwork.plugins.dirichlet_processes.topics.state import TopicState, in_blocks, used_topics
from plaidwork.plugins.dirichlet_processes.topics.stored import LAYOUT, contradiction_of
from plaidwork.plugins.dirichlet_processes.topics.sweep import Updates, log_joint, perplexity, refreshed

TOKENS_AT_ONCE = 200_000
"""Of a slice, some 30 ms."""
AT_ONCE = 1000
"""Slice of a stage that takes next to no time: the next one is done in the same."""
LARGE = 100_000
"""Tokens from which moves are tried in every tenth sweep alone after the warm-up."""
SELDOM = 10
CACHED = 1e7
"""Bytes of the table of counts at which a sweep takes twice as long for each topic."""
MOST_OF = 0.99

SMALL: dict[str, Any] = {
    "alpha_shape": 4.0, "alpha_rate": 3.0, "gamma_shape": 4.0, "gamma_rate": 3.0, "eta_shape": 4.0, "eta_rate": 6.0,
    "left_out": 0.0,
}  # fmt: skip
"""Priors under which a few tokens have one topic or several."""


def _trial(name: str, documents: int, words: int, **settings: Any) -> Trial:
    return Trial(name=name, params={**SMALL, **settings}, shapes={"X": (documents, words)}, warmup=40, thin=4)


class HdpTopics(Model[TopicState, TopicSettings]):
    """Topics of documents, their number inferred."""

    spec: ClassVar[ModelSpec] = HDP_TOPICS
    trials: ClassVar[Sequence[Trial]] = (
        _trial("all tokens, no moves", 2, 3, moves=0),
        _trial("with moves", 2, 3, moves=3),
        _trial("quick sweeps between", 2, 3, moves=0, quick_sweeps=3),
        _trial("moves and quick sweeps", 2, 3, moves=2, quick_sweeps=2),
        _trial("concentrations fixed", 3, 2, moves=1, quick_sweeps=1, learn=False, eta=0.5),
    )

    def init(self, data: ModelData, params: TopicSettings, rng: np.random.Generator) -> TopicState:
        refuse_errors(self.validate(data, params))
        return first_state(corpus_of(data, params), params, rng)

    def stages(
        self,
        state: TopicState,
        data: ModelData,
        params: TopicSettings,
        rng: np.random.Generator,
        clock: Clock,
    ) -> Sequence[Stage]:
        corpus = corpus_of(data, params)
        one = Updates(state, corpus, params, rng)
        docs, tokens = len(corpus.starts) - 1, len(corpus.words)
        part = 1 + TOKENS_AT_ONCE * docs // tokens
        words = 1 + TOKENS_AT_ONCE * 8 // len(state["totals"])
        quick = clock.sweep % (params["quick_sweeps"] + 1) > 0
        if quick:
            found = [
                Stage("words of topics", one.draw_words, corpus.n_words, words, begin=one.begin_words, end=one.end_words, whole=False),
                Stage("topics", one.draw_quickly, docs, part, end=one.forget_words, whole=False),
            ]  # fmt: skip
        else:
            found = [Stage("topics", one.draw_tokens, docs, part, begin=one.begin, whole=False)]
        moves = params["moves"] if clock.warming or tokens <= LARGE or clock.sweep % SELDOM == 0 else 0
        return [
            *found,
            Stage(
                "splits and merges", one.make_moves, moves, 1 + TOKENS_AT_ONCE // (8 * tokens), whole=False
            ),
            Stage("tables", one.draw_tables, docs, 4 * part, begin=one.begin_tables, whole=False),
            Stage("weights and concentrations", one.draw_weights, slice=1, whole=False),
            Stage("density", one.add_density, docs, 4 * part, whole=False),
            Stage("words left out", lambda lo, hi: one.add_held_out(clock.warming), slice=AT_ONCE),
        ]

    def traces(self, state: TopicState, data: ModelData, params: TopicSettings) -> Mapping[str, float]:
        at, law, tokens = state["at"], state["law"], len(state["topic"])
        tried = int(at[collapsed.TRIED])
        return {
            "log_joint": log_joint(state, params),
            "main_topics": float(main_topics(state)),
            "n_topics": float(used_topics(state)),
            "alpha": float(law[ALPHA]),
            "gamma": float(law[GAMMA]),
            "eta": float(law[ETA]),
            "perplexity": perplexity(state),
            "moved": float(at[collapsed.MOVED] / tokens),
            "accepted": float(at[collapsed.ACCEPTED] / tried) if tried else math.nan,
        }

    def draws(self, state: TopicState, data: ModelData, params: TopicSettings) -> Mapping[str, Any]:
        return {
            "main_topics": main_topics(state),
            "alpha": float(state["law"][ALPHA]),
            "gamma": float(state["law"][GAMMA]),
            "eta": float(state["law"][ETA]),
            "sizes": state["totals"][: used_topics(state)].astype(np.int64),
            "log_joint": log_joint(state, params),
            **kept_topics(state, corpus_of(data, params)),
        }

    def summarise(self, kept: Kept, data: ModelData, params: TopicSettings) -> Results:
        from plaidwork.plugins.dirichlet_processes.topics.results import summarise_topics

        return summarise_topics(kept, data, corpus_of(data, params), params)

    def predict(self, kept: Kept, data: ModelData, new_data: ModelData, params: TopicSettings) -> Results:
        from plaidwork.plugins.dirichlet_processes.topics.newcomers import predict_documents

        return predict_documents(kept, data, new_data)

    def validate(self, data: ModelData, params: TopicSettings) -> Sequence[Problem]:
        found: list[Problem] = data.prepared(_problems, cast(Params, params), ())
        return found

    def prepare(self) -> None:
        from plaidwork.plugins.dirichlet_processes.topics.simulate import as_data

        data = as_data(np.random.default_rng(1).poisson(2.0, (6, 5)))
        for quick in (0, 1):
            given = {"quick_sweeps": quick, "moves": 4, "left_out": 0.5}
            params = cast(TopicSettings, self.spec.check_params(given))
            rng = np.random.default_rng(1)
            state = self.init(data, params, rng)
            for sweep in range(2):
                for _ in passes(self, state, data, params, rng, Clock(sweep, 0)):
                    pass

    def estimate(self, data: ModelData, params: TopicSettings) -> Cost:
        counts = counts_of(data["X"])
        (documents, words), lengths = counts.shape, np.asarray(counts.sum(axis=1)).ravel()
        tokens = max(float(lengths.sum()), 1.0)
        topics = 1.25 * min(
            max(math.sqrt(tokens) / 9.0, 4.0), 100.0
        )  # of a usual chain; some begin with half as many again
        table = 4.0 * words * (topics + 16.0)
        own = 2.0 * tokens + table * (3.0 if params["quick_sweeps"] else 1.0)
        kept = topics * (8.0 * words + np.min_scalar_type(int(lengths.max())).itemsize * documents)
        missed = 1.0 + min(table / CACHED, 2.0)  # a table of counts beyond the processor's cache takes longer
        return Cost(
            memory=2.25 * own
            + 50.0 * tokens / topics
            + kept,  # with its checkpoint, a move, and a draw with its words
            seconds_per_sweep=tokens * (8e-8 + 1.25e-9 * topics * missed) + 3e-4,
            # words of tokens, and shares of topics in the results
            shared=_words(data["X"], counts.indices, tokens) + 4.0 * documents * topics,
            draw=8.0 * min(ROOM, topics * (documents + words)),
        )

    def simulate(
        self, params: TopicSettings, shapes: Mapping[str, Any], rng: np.random.Generator
    ) -> tuple[dict[str, Any], TopicState]:
        from plaidwork.plugins.dirichlet_processes.topics.simulate import draw_all

        counts, state = draw_all(params, shapes["X"], rng)
        return {"X": counts}, state

    def simulate_data(
        self, state: TopicState, params: TopicSettings, shapes: Mapping[str, Any], rng: np.random.Generator
    ) -> dict[str, Any]:
        from plaidwork.plugins.dirichlet_processes.topics.simulate import draw_words

        return {"X": draw_words(state, shapes["X"], rng)}

    def layout(self, data: ModelData, params: TopicSettings) -> Layout:
        return LAYOUT

    def draw_layout(self, data: ModelData, params: TopicSettings) -> Layout:
        return {"main_topics": Part(low=0), "sizes": Part(low=0)}

    def contradiction(self, state: TopicState, data: ModelData, params: TopicSettings) -> str:
        return contradiction_of(state, corpus_of(data, params))

    def upgrade_state(
        self, state: State, from_version: int, data: ModelData, params: TopicSettings
    ) -> TopicState:
        if from_version in (1, 2):  # topics of four bytes; slots by sixteen
            return in_blocks(cast(TopicState, {**state, "topic": state["topic"].astype(np.uint16)}))
        return super().upgrade_state(state, from_version, data, params)

    def refresh(self, state: TopicState, data: ModelData, params: TopicSettings) -> TopicState:
        return refreshed(state, corpus_of(data, params))


def _words(block: Block, columns: np.ndarray, tokens: float) -> float:
    """Bytes of the words of tokens; of mapped counts only where their numbers have eight bytes, which the kernels do not read."""
    if block.mapped:
        return 4.0 * len(columns) if columns.dtype == np.int64 else 0.0
    return 5.0 * tokens


def _problems(data: ModelData, params: Params) -> list[Problem]:
    """Looked for once for all chains."""
    return find_problems(data)


def main_topics(state: TopicState) -> int:
    """Topics that hold 99 % of the tokens together, the largest first: K99."""
    sizes = np.sort(state["totals"][: used_topics(state)])[::-1].cumsum()
    return int(np.searchsorted(sizes, MOST_OF * sizes[-1]) + 1)

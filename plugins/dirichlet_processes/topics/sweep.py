"""What the stages of a sweep do to the state of one chain."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from plaidwork.plugins.dirichlet_processes.partitions import draw_alpha, draw_shared_alpha
from plaidwork.plugins.dirichlet_processes.topics.corpus import Corpus
from plaidwork.plugins.dirichlet_processes.topics.kernels import (
    collapsed,
    held_out,
    sparse,
    split_merge,
    tables,
)
from plaidwork.plugins.dirichlet_processes.topics.kernels.collapsed import ALPHA, ETA, GAMMA, HIGH, REST
from plaidwork.plugins.dirichlet_processes.topics.settings import TopicSettings
from plaidwork.plugins.dirichlet_processes.topics.state import TopicState, compact, count_again, grow

SCANS = np.array([3, 10, 30])
"""Restricted scans of a move, one of these by chance: few for most moves, many where a topic is large."""
LEAST = 1e-12


@dataclass(frozen=True)
class Updates:
    """One chain with its corpus and settings."""

    state: TopicState
    corpus: Corpus
    params: TopicSettings
    rng: np.random.Generator

    def begin(self) -> None:
        """Counters of this sweep begin anew."""
        self.state["at"][HIGH + 1 :] = 0

    def begin_words(self) -> None:
        """Room for the words of the topics."""
        self.begin()
        state = self.state
        state["phi"] = np.zeros_like(state["counts"])
        state["running"] = np.zeros_like(state["counts"])
        state["sums"] = np.zeros(len(state["totals"]))

    def draw_words(self, lo: int, hi: int) -> None:
        """Words of all topics, for a quick sweep."""
        state = self.state
        sparse.draw_words(
            self.rng, state["counts"], state["law"], state["at"], state["phi"], state["sums"], lo, hi
        )

    def end_words(self) -> None:
        """Make them probabilities."""
        state = self.state
        sparse.weigh_words(
            state["beta"], state["law"], state["at"], state["phi"], state["sums"], state["running"]
        )

    def draw_tokens(self, lo: int, hi: int) -> None:
        """Topics of the tokens of documents ``lo`` to ``hi``; topics may come and go."""
        state, starts = self.state, self.corpus.starts
        first = int(starts[lo])
        while first < starts[hi]:
            first = collapsed.draw_tokens(
                self.rng, self.corpus.words, starts, state["topic"], state["counts"], state["totals"], state["beta"],
                state["law"], state["at"], first, hi,
            )  # fmt: skip
            if first < starts[hi]:
                grow(state)

    def draw_quickly(self, lo: int, hi: int) -> None:
        """Topics of the tokens of documents ``lo`` to ``hi``, given the words of the topics."""
        state = self.state
        sparse.draw_given_words(
            self.rng, self.corpus.words, self.corpus.starts, state["topic"], state["counts"], state["totals"], state["at"],
            state["phi"], state["running"], lo, hi,
        )  # fmt: skip

    def forget_words(self) -> None:
        """The words of the topics are not needed any more."""
        self.state["phi"] = self.state["running"] = np.zeros((0, 0), np.float32)
        self.state["sums"] = np.zeros(0)

    def make_moves(self, lo: int, hi: int) -> None:
        """Splits and merges."""
        state, corpus = self.state, self.corpus
        while (
            lo := split_merge.make_moves(
                self.rng, corpus.words, corpus.starts, state["topic"], state["counts"], state["totals"], state["beta"],
                state["law"], state["at"], SCANS, lo, hi,
            )
        ) < hi:  # fmt: skip
            grow(state)

    def begin_tables(self) -> None:
        """Topics without a token leave before their tables are drawn."""
        compact(self.state)
        self.state["tables"] = np.zeros(len(self.state["totals"]), np.int64)

    def draw_tables(self, lo: int, hi: int) -> None:
        """Tables of documents ``lo`` to ``hi``."""
        state = self.state
        tables.seat_documents(
            self.rng, self.corpus.starts, state["topic"], state["beta"], state["law"][ALPHA], state["tables"], lo, hi
        )  # fmt: skip

    def draw_weights(self, lo: int, hi: int) -> None:
        """Concentrations and weights of the topics, given the tables; gamma first, as it is drawn without a look at the weights."""
        state, rng = self.state, self.rng
        law, used = state["law"], int(state["at"][HIGH])
        seats = state["tables"][:used]
        if self.params["learn"]:
            total = int(seats.sum())
            law[GAMMA] = draw_alpha(
                rng, law[GAMMA], total, used, self.params["gamma_shape"], self.params["gamma_rate"]
            )
            law[ALPHA] = draw_shared_alpha(
                rng,
                law[ALPHA],
                self.corpus.lengths,
                total,
                self.params["alpha_shape"],
                self.params["alpha_rate"],
            )
            law[ETA] = self.draw_eta(used)
        parts = rng.standard_gamma(np.append(seats, law[GAMMA]))
        parts = np.maximum(parts / parts.sum(), 1e-300)
        state["beta"][:used], law[REST] = parts[:-1], parts[-1]
        state["log_words"] = tables.log_words(state["counts"], state["totals"], used, law[ETA])
        state["log_places"] = 0.0

    def draw_eta(self, used: int) -> float:
        """Weight of each word, by tables of words in topics and ``q_k ~ Beta(V eta, n_k)``, drawn as logarithms."""
        state, rng = self.state, self.rng
        eta, n_words = float(state["law"][ETA]), self.corpus.n_words
        seats = tables.seat_words(rng, state["counts"], used, eta)
        every = n_words * eta
        small = np.log(np.maximum(rng.gamma(every + 1.0, size=used), 1e-300))
        small += np.log(np.maximum(rng.random(used), 1e-300)) / every  # log of a gamma number of shape V eta
        large = np.log(rng.gamma(state["totals"][:used]))
        log_q = small - np.logaddexp(small, large)
        shape, rate = self.params["eta_shape"] + seats, self.params["eta_rate"] - n_words * log_q.sum()
        return max(float(rng.gamma(shape) / rate), LEAST)

    def add_density(self, lo: int, hi: int) -> None:
        """Log probability of the topics of documents ``lo`` to ``hi``."""
        state = self.state
        state["log_places"] += tables.log_documents(
            self.corpus.starts, state["topic"], state["beta"], state["law"][ALPHA], lo, hi
        )

    def add_held_out(self, warming: bool) -> None:
        """Probabilities of the tokens left out: those of this draw alone while warming, then their sum over draws."""
        held, state = self.state["held_out"], self.state
        here = np.empty_like(held["total"])
        held_out.probability_of_words(
            self.corpus.starts, state["topic"], state["counts"], state["totals"], state["beta"], state["law"], state["at"],
            self.corpus.out_docs, self.corpus.out_words, here,
        )  # fmt: skip
        fresh = held["draws"] <= 0
        held["total"] = here if fresh else held["total"] + here
        held["draws"] = -1 if warming else (1 if fresh else held["draws"] + 1)


def perplexity(state: TopicState) -> float:
    """Of the tokens left out, with probabilities averaged over draws; NaN without any."""
    held = state["held_out"]
    if not held["draws"] or not len(held["total"]):
        return math.nan
    return float(np.exp(-np.log(held["total"] / abs(held["draws"])).mean()))


def log_joint(state: TopicState, params: TopicSettings) -> float:
    """Log density of words, topics of tokens, weights beta as atoms of a Dirichlet process, and concentrations."""
    law, beta = state["law"], state["beta"][: int(state["at"][HIGH])]
    total = state["log_words"] + state["log_places"] + len(beta) * math.log(law[GAMMA]) - np.log(beta).sum()
    total += (law[GAMMA] - 1.0) * math.log(law[REST])
    if params["learn"]:
        for name, x in (("alpha", law[ALPHA]), ("gamma", law[GAMMA]), ("eta", law[ETA])):
            a, b = params[f"{name}_shape"], params[f"{name}_rate"]  # type: ignore[literal-required]
            total += a * math.log(b) - math.lgamma(a) + (a - 1.0) * math.log(x) - b * x
    return float(total)


def refreshed(state: TopicState, corpus: Corpus) -> TopicState:
    """The state after its data were replaced: its counts and densities are those of the new ones."""
    count_again(state, corpus)
    law, used = state["law"], int(state["at"][HIGH])
    state["log_words"] = tables.log_words(state["counts"], state["totals"], used, law[ETA])
    state["log_places"] = tables.log_documents(
        corpus.starts, state["topic"], state["beta"], law[ALPHA], 0, len(corpus.starts) - 1
    )
    return state

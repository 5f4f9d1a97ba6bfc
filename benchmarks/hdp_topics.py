"""Topics beside tomotopy on a corpus of triplets: tokens a second near 100 topics, and perplexity of documents completed, by CPU time.

``python benchmarks/hdp_topics.py --counts poliblog5k_counts.csv.gz --peer /path/to/python-with-tomotopy`` gives both the same documents
and judges both alike: half of the words of held-out documents give their topics' shares (30 rounds of CVB0), the other half is told. One thread each.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import os
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

TRAINING, START, SEED = 4000, 100, 1
PEER = """
import sys, time
import numpy as np, tomotopy as tp
given = np.load(sys.argv[1]); sweeps, every = int(sys.argv[3]), int(sys.argv[4])
words, starts = given["words"], given["starts"]
model = tp.HDPModel(tw=tp.TermWeight.ONE, initial_k=int(sys.argv[5]), alpha=.1, gamma=.1, eta=.1, seed=1)
for lo, hi in zip(starts[:-1], starts[1:]):
    model.add_doc([str(w) for w in words[lo:hi]])
model.train(0)
seconds, found = 0.0, []
for done in range(0, sweeps, every):
    begun = time.process_time()
    model.train(every, workers=1)
    seconds += time.process_time() - begun
    live = [k for k in range(model.k) if model.is_live_topic(k)]
    place = np.array([int(w) for w in model.used_vocabs])
    phi = np.zeros((len(live), int(given["n_words"]))) + 1e-12
    phi[:, place] = [model.get_topic_word_dist(k) for k in live]
    share = model.get_count_by_topics()[live].astype(float)
    found.append((seconds, phi, model.alpha * share / share.sum()))
np.savez(sys.argv[2], seconds=[f[0] for f in found], topics=[len(f[1]) for f in found],
         **{f"phi{i}": f[1] for i, f in enumerate(found)}, **{f"prior{i}": f[2] for i, f in enumerate(found)})
"""


def triplets(path: Path) -> np.ndarray:
    """(N, 3) document, word, count."""
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt") as file:
        return np.loadtxt(file, delimiter=",", skiprows=1, dtype=np.int64)


def tokens(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Words (T,) and starts of documents."""
    rows = rows[np.lexsort((rows[:, 1], rows[:, 0]))]
    docs = np.unique(np.repeat(rows[:, 0], rows[:, 2]), return_inverse=True)[1]
    words = np.repeat(rows[:, 1], rows[:, 2]).astype(np.int32)
    return words, np.concatenate([[0], np.cumsum(np.bincount(docs))]).astype(np.int64)


class Judge:
    """Perplexity of held-out documents."""

    def __init__(self, rows: np.ndarray) -> None:
        words, starts = tokens(rows)
        rng = np.random.default_rng(SEED)
        given = np.zeros(len(words), bool)
        for lo, hi in itertools.pairwise(starts):
            given[rng.permutation(np.arange(lo, hi))[: (hi - lo + 1) // 2]] = True
        docs = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        self.words, self.told, self.docs = words[given], words[~given], docs[~given]
        self.starts = np.concatenate([[0], np.cumsum(np.bincount(docs[given], minlength=len(starts) - 1))])

    def __call__(self, phi: np.ndarray, prior: np.ndarray) -> float:
        from plaidwork.plugins.dirichlet_processes.topics.kernels.held_out import complete

        shares, by_word = np.zeros((len(self.starts) - 1, len(prior))), np.ascontiguousarray(phi.T)
        complete(
            self.words, np.ones(len(self.words)), self.starts, by_word, np.maximum(prior, 1e-9), 30, shares
        )
        return float(np.exp(-np.log((shares[self.docs] * by_word[self.told]).sum(axis=1)).mean()))


def ours(words: np.ndarray, starts: np.ndarray, n_words: int, sweeps: int, every: int, quick: int) -> Any:
    """Seconds, topics, words of topics and prior shares, by steps of ``every`` sweeps."""
    from plaidwork.core.api import Clock
    from plaidwork.plugins.dirichlet_processes.topics.corpus import Corpus
    from plaidwork.plugins.dirichlet_processes.topics.model import HdpTopics
    from plaidwork.plugins.dirichlet_processes.topics.starts import first_state

    model = HdpTopics()
    model.prepare()
    given = {"start_topics": START, "quick_sweeps": quick, "moves": 0, "left_out": 0.0}
    params: Any = model.spec.check_params(given)
    corpus = Corpus(words, starts, n_words, np.zeros(0, np.int64), np.zeros(0, np.int32))
    rng = np.random.default_rng(SEED)
    state = first_state(corpus, params, rng)

    class Given:
        """The corpus in place of data that were read."""

        def prepared(self, *_: Any) -> Corpus:
            return corpus

    seconds, found, data = 0.0, [], Given()
    for done in range(sweeps):
        begun = time.process_time()
        while model.step(state, data, params, rng, Clock(done, 0)) is None:  # type: ignore[arg-type]
            pass
        seconds += time.process_time() - begun
        if (done + 1) % every == 0:
            used, (alpha, _, eta, rest) = int(state["at"][0]), state["law"]
            phi = state["counts"][:, :used].T.astype(float) + eta
            phi = np.vstack([phi / phi.sum(axis=1, keepdims=True), np.full(n_words, 1 / n_words)])
            found.append((seconds, used, phi, alpha * np.append(state["beta"][:used], rest)))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--counts", type=Path, required=True)
    parser.add_argument("--peer", type=Path)
    parser.add_argument("--sweeps", type=int, default=100)
    parser.add_argument("--every", type=int, default=10)
    options = parser.parse_args()
    rows = triplets(options.counts)
    n_words, n_docs = int(rows[:, 1].max()) + 1, int(rows[:, 0].max()) + 1
    training = np.isin(rows[:, 0], np.random.default_rng(SEED).permutation(n_docs)[:TRAINING])
    words, starts = tokens(rows[training])
    judge, size = Judge(rows[~training]), len(words)
    print(
        f"{size} training tokens, {len(starts) - 1} documents, {n_words} words; {START} topics at the start"
    )
    runs = {
        "every token": ours(words, starts, n_words, options.sweeps, options.every, 0),
        "4 of 5 sweeps quick": ours(words, starts, n_words, options.sweeps, options.every, 4),
    }
    if options.peer:
        with tempfile.TemporaryDirectory() as folder:
            given, out = Path(folder) / "given.npz", Path(folder) / "out.npz"
            np.savez(given, words=words, starts=starts, n_words=n_words)
            arguments = [given, out, options.sweeps, options.every, START]
            subprocess.run([options.peer, "-c", PEER, *map(str, arguments)], check=True)
            made = np.load(out)
            runs["tomotopy"] = [
                (float(made["seconds"][i]), int(made["topics"][i]), made[f"phi{i}"], made[f"prior{i}"])
                for i in range(len(made["seconds"]))
            ]
    for name, found in runs.items():
        print(
            f"{name}: sweeps, CPU seconds, million tokens a second since the step before, topics, perplexity"
        )
        before = 0.0
        for step, (seconds, topics, phi, prior) in enumerate(found):
            speed = size * options.every / (seconds - before) / 1e6
            before = seconds
            done = (step + 1) * options.every
            print(f"{done:6d} {seconds:8.1f} {speed:6.2f} {topics:5d} {judge(phi, prior):8.1f}", flush=True)


if __name__ == "__main__":
    main()

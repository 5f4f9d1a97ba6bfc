"""Held-out bound against CPU time: sweeps in one part and in several parts of the documents, and stochastic steps at first; one thread.

Run: OPENBLAS_NUM_THREADS=1 python benchmarks/supervised_ibp_parts.py [DOCUMENTS WORDS SWEEPS PARTS [SEED]]. Documents of 104 words from
25 true topics and a background; 20 topics are fitted. Printed is the mean log density of the words of 500 held-out documents (a bound, nats a document).
"""

import sys
import time

import numpy as np
from scipy.sparse import csr_matrix

from plaidwork.core.api import Block, Clock, ModelData
from plaidwork.core.plugins.registry import registry
from plaidwork.plugins.supervised_ibp import heldout
from plaidwork.plugins.supervised_ibp.corpus import corpus_of, prepared_rows

TRUE, HELD, LENGTH, TOPICS = 25, 500, 104, 20


def topical(n, d, rng):
    """Documents (n, d) of LENGTH words, 60 % of them from one of the document's topics; outcome."""
    common = 1 / np.arange(1, d + 1) ** 0.7
    sources = [common]
    sources += [np.sqrt(common) * rng.gamma(1.0, size=d) * (rng.random(d) < 0.01) for _ in range(TRUE)]
    ends = [np.cumsum(source / source.sum()) for source in sources]
    z = rng.random((n, TRUE)) < 0.12
    order = np.argsort(rng.random((n, TRUE)) - z, axis=1).astype(np.int8)  # own topics first
    count = z.sum(axis=1)
    columns = np.empty((n, LENGTH), np.int32)
    for place in range(LENGTH):
        own = (count > 0) & (rng.random(n) < 0.6)
        chosen = order[np.arange(n), (rng.random(n) * np.maximum(count, 1)).astype(int)]
        source = np.where(own, chosen + 1, 0)
        for number, end in enumerate(ends):
            at = np.flatnonzero(source == number)
            columns[at, place] = np.minimum(np.searchsorted(end, rng.random(len(at))), d - 1)
    start = np.arange(0, n * LENGTH + 1, LENGTH)
    x = csr_matrix((np.ones(n * LENGTH), columns.ravel(), start), (n, d))
    x.sum_duplicates()
    return x, z @ rng.standard_normal(TRUE) + rng.standard_normal(n)


def model_data(x, y):
    n = x.shape[0]
    names = (tuple(map(str, range(n))), tuple(map(str, range(x.shape[1]))))
    split = (np.arange(n) >= n - HELD).astype(float)
    blocks = {"X": Block("X", x, np.ones((1, 1), bool), None, names)}
    for name, values in (("y", y), ("split", split)):
        blocks[name] = Block(name, values, np.ones(n, bool), None, names[:1])
    return ModelData(blocks)


def climb(data, sweeps, **given):
    """CPU seconds, held-out bound and bound of the fit after every sweep."""
    model, rng = registry().model("supervised_ibp"), np.random.default_rng(1)
    wanted = {
        "n_topics": TOPICS,
        "together": False,
        "min_documents": 5,
        "start": "sparse",
        "moves": 0,
        **given,
    }
    params = model.spec.check_params(wanted)
    corpus = corpus_of(data, params)
    held = prepared_rows(data, corpus, corpus.test, params)
    state, cpu, found = model.init(data, params, rng), 0.0, []
    for sweep in range(sweeps):
        begin, traces = time.process_time(), None
        while traces is None:
            traces = model.step(state, data, params, rng, Clock(sweep, 0))
        cpu += time.process_time() - begin
        phi = np.ascontiguousarray(state["phi"].T)
        topics = heldout.Topics(phi, state["cov"], state["share_a"], state["share_b"])
        _, evidence = heldout.infer(held, topics, corpus, params, method="mean-field", starts=2)
        density = heldout.log_density(held, topics, corpus, params, evidence)
        found.append((cpu, float(density.mean()), traces["elbo"]))
    return np.array(found)


def ways(parts, n):
    """Settings by name."""
    stochastic = {
        f"stochastic, {passes} passes, batches of {size}": {
            "steps": "stochastic",
            "stochastic_passes": passes,
            "batch_documents": size,
        }
        for passes, size in ((3, n // 5), (3, n // 20), (3, n // 50), (10, n // 20))
    }
    return {"one part": {"parts": 1}, f"{parts} parts": {"parts": parts}, **stochastic}


def main():
    n, d, sweeps, parts, *seed = map(int, sys.argv[1:] or (50_000, 20_000, 50, 4))
    x, y = topical(n + HELD, d, np.random.default_rng(*(seed or [0])))
    print(f"{n} x {d}, {x.nnz} entries")
    data = model_data(x, y)
    registry().model("supervised_ibp").prepare()
    climbs = {}
    for name, given in ways(parts, n).items():
        found = climbs[name] = climb(data, sweeps, **given)
        marks = [i for i in (1, 2, 3, 5, 8, 12, 20, 30, 50, 80) if i <= sweeps]
        told = ", ".join(f"{i}: {found[i - 1, 0]:.2f} s {found[i - 1, 1]:.2f}" for i in marks)
        print(f"{name}: {told}; bound of the fit at the end {found[-1, 2]:.0f}", flush=True)
    end = max(found[-1, 1] for found in climbs.values())
    for gap in (30.0, 10.0, 3.0, 1.0):
        told = []
        for name, found in climbs.items():
            there = np.flatnonzero(found[:, 1] >= end - gap)
            when = f"sweep {there[0] + 1}, {found[there[0], 0]:.2f} s" if len(there) else "never"
            told.append(f"{name} {when}")
        print(f"within {gap:g} of the best end: {'; '.join(told)}")


if __name__ == "__main__":
    main()

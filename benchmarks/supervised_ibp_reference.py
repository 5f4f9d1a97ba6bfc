"""The supervised Indian buffet process beside the R package texteffect 0.3 on its BioSample data.

Run: python benchmarks/supervised_ibp_reference.py PATH/biosample.csv.gz. The random numbers are those of R after set.seed(1):
half of the rows for training, and after set.seed(1) again the start of the topics (K = 2, alpha = 4, noise 0.8). From there both the
seed's formulas as printed (dense, stopping as the package does) and the model of Plaidwork are fitted.
"""

import csv
import gzip
import math
import sys

import numpy as np
from scipy.special import digamma, expit

from plaidwork.core.dataset import Dataset
from plaidwork.core.fitting import fit
from plaidwork.core.plan import make_plan
from plaidwork.core.registry import registry
from plaidwork.plugins.supervised_ibp import heldout, kernels
from plaidwork.plugins.supervised_ibp.corpus import corpus_of, prepared_rows
from plaidwork.plugins.supervised_ibp.effects import regress
from plaidwork.plugins.supervised_ibp.exclusivity import exclusivity

K, ALPHA, NOISE, VARIANCE = 2, 4.0, 0.8, 5.0
MASK = 0xFFFFFFFF


class LikeR:
    """Uniform numbers, samples and beta numbers as R 3.6 and later draws them (Mersenne Twister, rejection sampling)."""

    def __init__(self, seed):
        for _ in range(50):
            seed = (69069 * seed + 1) & MASK
        words = []
        for _ in range(625):
            seed = (69069 * seed + 1) & MASK
            words.append(seed)
        self._bits = np.random.MT19937()
        self._bits.state = {
            "bit_generator": "MT19937",
            "state": {"key": np.array(words[1:], np.uint32), "pos": 624},
        }

    def uniform(self):
        word = int(self._bits.random_raw())
        return min(
            max(word * 2.3283064365386963e-10, 0.5 * 2.328306437080797e-10), 1 - 0.5 * 2.328306437080797e-10
        )

    def below(self, n):
        """A whole number below n."""
        bits = math.ceil(math.log2(n))
        while True:
            value = 0
            for _ in range(0, bits + 1, 16):
                value = 65536 * value + math.floor(self.uniform() * 65536)
            value &= (1 << bits) - 1
            if value < n:
                return value

    def sample(self, n, size):
        """``size`` of n without replacement, from 0."""
        left, found = list(range(n)), []
        for _ in range(size):
            place = self.below(n)
            found.append(left[place])
            n -= 1
            left[place] = left[n]
        return np.array(found)

    def beta(self, first, second):
        """Beta number by the algorithms of Cheng (1978)."""
        low, high = min(first, second), max(first, second)
        if low == 0:
            return 0.0 if first == 0 else 1.0
        total = low + high
        if low <= 1:
            return self._beta_small(first == low, low, high, total)
        scale = math.sqrt((total - 2) / (2 * low * high - total))
        gamma = low + 1 / scale
        while True:
            one, two = self.uniform(), self.uniform()
            v, w = _tilted(scale, one, low)
            z, r = one * one * two, gamma * v - 1.3862944
            s = low + r - w
            if (
                s + 2.609438 >= 5 * z
                or s > math.log(z)
                or r + total * math.log(total / (high + w)) >= math.log(z)
            ):
                return high / (high + w) if first != low else w / (high + w)

    def _beta_small(self, straight, low, high, total):
        scale, delta = 1 / low, 1 + high - low
        k1 = delta * (0.0138889 + 0.0416667 * low) / (high * scale - 0.777778)
        k2 = 0.25 + (0.5 + 0.25 / delta) * low
        while True:
            one, two = self.uniform(), self.uniform()
            if one < 0.5:
                z = one * one * two
                if 0.25 * two + z - one * two >= k1:
                    continue
            else:
                z = one * one * two
                if z <= 0.25:
                    v, w = _tilted(scale, one, high)
                    break
                if z >= k2:
                    continue
            v, w = _tilted(scale, one, high)
            if total * (math.log(total / (low + w)) + v) - 1.3862944 >= math.log(z):
                break
        return low / (low + w) if straight else w / (low + w)


def _tilted(scale, uniform, size):
    v = scale * math.log(uniform / (1 - uniform))
    return v, min(size * math.exp(v), sys.float_info.max) if v <= 709.78 else sys.float_info.max


def start_like_r(random, n, k, alpha):
    """(n, k) shares from a draw of broken sticks, topic after topic."""
    sticks = np.cumprod([random.beta(alpha, 1.0) for _ in range(k)])
    return np.array([[random.beta(share, 1 - share) for _ in range(n)] for share in sticks]).T


def seed_fit(x, y, nu):
    """The seed's updates until no parameter changes by more than 1e-3, as the package stops: nu, phi, sweeps."""
    n, d = x.shape
    phi = np.linalg.lstsq(nu, x, rcond=None)[0]

    def others(nu, phi):
        spread = 1 / (1 / VARIANCE + nu.sum(axis=0) / NOISE)
        phi = phi.copy()
        for k in range(K):
            rest = x - (nu @ phi - np.outer(nu[:, k], phi[k]))
            phi[k] = nu[:, k] @ rest / NOISE * spread[k]
        moment = nu.T @ nu
        moment[np.diag_indices(K)] = nu.sum(axis=0)
        s = np.linalg.pinv(moment + np.eye(K))
        m = s @ nu.T @ y
        rate = 0.1 + (y @ y - y @ nu @ s @ nu.T @ y) / 2
        shares = np.column_stack([ALPHA / K + nu.sum(axis=0), 1 + n - nu.sum(axis=0)])
        return phi, spread, m, s, rate, shares

    shape, found = 0.1 + n / 2, others(nu, phi)
    for sweep in range(1, 10_000):
        phi, spread, m, s, rate, shares = found
        new = nu.copy()
        for k in range(K):
            rest = np.delete(np.arange(K), k)
            words = (
                -2 * x @ phi[k] + phi[k] @ phi[k] + d * spread[k] + 2 * new[:, rest] @ (phi[rest] @ phi[k])
            )
            outcome = (
                -2 * m[k] * y + rate * s[k, k] / (shape - 1) + m[k] ** 2 + 2 * m[k] * (new[:, rest] @ m[rest])
            )
            v = (
                digamma(shares[k, 0])
                - digamma(shares[k, 1])
                - words / (2 * NOISE)
                - shape / (2 * rate) * outcome
            )
            new[:, k] = expit(v)
        later = others(new, phi)
        change = max(float(np.abs(a - b).max()) for a, b in zip((new, *later), (nu, *found)))
        nu, found = new, later
        if change < 1e-3:
            return nu, found[0], sweep
    return nu, found[0], sweep


def main():
    with gzip.open(sys.argv[1], "rt", encoding="utf-8", newline="") as file:
        head, *rows = csv.reader(file)
    table = np.array(rows, float)
    x, y = table[:, 1:], table[:, 0]
    train = LikeR(1).sample(len(y), len(y) // 2)
    nu = start_like_r(LikeR(1), len(train), K, ALPHA)
    half, outcome = x[train], y[train]
    scaled = (half - half.mean(axis=0)) / half.std(axis=0, ddof=1)
    seed_nu, seed_phi, sweeps = seed_fit(scaled, (outcome - outcome.mean()) / outcome.std(ddof=1), nu.copy())
    order = np.argsort(train)
    data, settings = inputs(x, y, train, np.array(head[1:]))
    model = registry().model("supervised_ibp")
    corpus = corpus_of(make_plan(model, data(nu), settings).data, model.spec.check_params(settings))
    seed_score = exclusivity(corpus, seed_nu[order], seed_phi).sum()
    print(f"seed's formulas: {sweeps} sweeps, exclusivity {seed_score:.6f} (R: 3.286722)")
    for name, start in (("R's start", nu), ("the seed's solution", seed_nu)):
        run = fit("supervised_ibp", data(start), settings, chains=1)
        own = run.results["assignments"].values
        print(
            f"Plaidwork from {name}: {run.chains[0].sweep} sweeps, bound {run.chains[0].trace.rows()[-1, 0]:.4f}, "
            f"exclusivity {float(run.results['exclusivity'].values):.6f}; against the seed's solution the largest "
            f"difference of a probability is {np.abs(own - seed_nu[order]).max():.2g}, "
            f"{int(((own > 0.5) != (seed_nu[order] > 0.5)).sum())} of {own.size} calls differ"
        )
    print_effects(run, data(seed_nu), corpus)


def print_effects(run, data, corpus):
    """Effects from the solution of the run; topics of test documents from R's one start after set.seed(0), and exact."""
    params, chain = run.params, run.kept().chains[0]
    topics = heldout.Topics(
        chain.draw("weights", 0)[:, corpus.words],
        *(chain.draw(name, 0) for name in ("weight_cov", "share_a", "share_b")),
    )
    plan = make_plan(registry().model("supervised_ibp"), data, params)
    words = prepared_rows(plan.data, corpus, corpus.test, params)
    base, rows, cross = heldout.scores(topics, corpus, params)
    start = start_like_r(LikeR(0), words.shape[0], K, NOISE)  # the package takes the noise for alpha here
    nu, bound = np.empty(start.shape), np.empty(len(start))
    kernels.mean_field_shares(base + words @ rows, cross, start[None], 1000, 1e-6, nu, bound)
    for name, found in (("R's start", nu), ("all states", heldout.infer(words, topics, corpus, params)[0])):
        y = data["y"].values[corpus.test]
        effects = regress(y, found >= 0.5, kind="classical")
        print(
            f"effects, topics from {name}: mean without topics {effects.value[0]:.4f} "
            f"({effects.value[0] - corpus.y_mean:.4f} above the training mean), effects {effects.value[1:].round(4)}, "
            f"errors {effects.error[1:].round(4)}"
        )
    print("  (R: 63.6815, which it prints as 1.2855)")


def inputs(x, y, train, words):
    """The data with R's split as a function of the start (training rows), and the settings."""
    names = tuple(f"row {i + 1}." for i in range(len(y)))
    split = np.ones(len(y))
    split[train] = 0.0

    def data(nu):
        start = np.full((len(y), K), 0.5)
        start[train] = nu
        return {
            "X": Dataset("X", x, names, tuple(words), kind="count"),
            "y": Dataset("y", y, names),
            "split": Dataset("split", split, names, kind="binary"),
            "start": Dataset("start", start, names, tuple(f"t{k}" for k in range(K))),
        }

    return data, {"n_topics": K, "alpha": ALPHA, "noise": NOISE, "start": "given", "together": False}


if __name__ == "__main__":
    main()

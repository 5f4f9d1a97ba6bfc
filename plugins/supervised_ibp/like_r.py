"""Random numbers as R 3.6 and later draws them: Mersenne Twister, rejection sampling, beta numbers of Cheng."""

from __future__ import annotations

import math
import sys

import numpy as np

MASK = 0xFFFFFFFF
FOUR, FIVE = 1.3862944, 2.609438
"""log 4 and 1 + log 5, with the digits that R has."""


class LikeR:
    """A stream after ``set.seed(seed)``."""

    def __init__(self, seed: int) -> None:
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

    def uniform(self) -> float:
        """``runif(1)``."""
        word = int(self._bits.random_raw())
        return min(
            max(word * 2.3283064365386963e-10, 0.5 * 2.328306437080797e-10), 1 - 0.5 * 2.328306437080797e-10
        )

    def below(self, n: int) -> int:
        """A whole number below n."""
        bits = math.ceil(math.log2(n)) if n > 1 else 0
        while True:
            value = 0
            for _ in range(0, bits + 1, 16):
                value = 65536 * value + math.floor(self.uniform() * 65536)
            value &= (1 << bits) - 1
            if value < n:
                return value

    def sample(self, n: int, size: int) -> np.ndarray:
        """``size`` of n without replacement, from 0."""
        left, found = list(range(n)), []
        for _ in range(size):
            place = self.below(n)
            found.append(left[place])
            n -= 1
            left[place] = left[n]
        return np.array(found)

    def beta(self, first: float, second: float) -> float:
        """``rbeta(1, first, second)``: algorithms BB and BC of Cheng (1978), Communications of the ACM 21, 317-322."""
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
            z, r = one * one * two, gamma * v - FOUR
            s = low + r - w
            if (
                s + FIVE >= 5 * z
                or s > math.log(z)
                or r + total * math.log(total / (high + w)) >= math.log(z)
            ):
                return high / (high + w) if first != low else w / (high + w)

    def _beta_small(self, straight: bool, low: float, high: float, total: float) -> float:
        """Algorithm BC, for a parameter of at most 1."""
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
            if total * (math.log(total / (low + w)) + v) - FOUR >= math.log(z):
                break
        return low / (low + w) if straight else w / (low + w)


def _tilted(scale: float, uniform: float, size: float) -> tuple[float, float]:
    v = scale * math.log(uniform / (1 - uniform))
    return v, min(size * math.exp(v), sys.float_info.max) if v <= 709.78 else sys.float_info.max

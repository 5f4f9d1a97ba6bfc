"""Probability of single labels given a draw, by which the host leaves samples out and compares fits.

A sample's own z is integrated out given those of all others: ``z_i | z_-i ~ N(z_i - (Qz)_i / Q_ii, 1 / Q_ii)``, with Q the
precision of z (page, section 1). The weights ``1 / p(y_i | z_-i, theta)`` then leave a sample out exactly but for the number
of draws (Vehtari, Mononen, Tolvanen, Sivula, Winther 2016, JMLR 17(103)).
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from scipy.special import log_ndtr

from plaidwork.core.api import ChainView, ModelData
from plaidwork.core.numerics.used_draws import spread
from plaidwork.plugins.gp_auxiliary.classes.predict import ordered
from plaidwork.plugins.gp_auxiliary.classes.predicting import FieldsT, Predicting
from plaidwork.plugins.gp_auxiliary.kernels.chances import log_own_chances
from plaidwork.plugins.gp_auxiliary.shared.frame import Frame, make_prior
from plaidwork.plugins.gp_auxiliary.shared.gram import times_q
from plaidwork.plugins.gp_auxiliary.shared.typed_settings import LawSettings, SettingsT

WORK = 4e10
"""Multiplications that the precisions of all draws of a chain may cost: a few seconds of one core."""
_LEAST_DRAWS = 25
_TINY = 1e-300


class Sampled(Predicting[FieldsT, SettingsT]):
    """Classifiers that keep draws of z: what they say of single labels."""

    likelihood_of: ClassVar[str] = "y"

    def log_likelihood(
        self,
        chain: ChainView,
        draws: np.ndarray,
        data: ModelData,
        params: SettingsT,
        index: int,
        rows: np.ndarray,
        columns: np.ndarray | None,
    ) -> np.ndarray:
        frame, has_cuts = self.frame(data, params), any(v.name == "cuts" for v in self.spec.variables)
        filled, null = self.filled(data, params), self.null_width(params)
        return log_probability_of_labels(chain, draws, frame, filled, null, rows, has_cuts)


def log_probability_of_labels(
    chain: ChainView,
    draws: np.ndarray,
    frame: Frame,
    params: LawSettings,
    null: float,
    rows: np.ndarray,
    has_cuts: bool,
) -> np.ndarray:
    """(s, rows) log probabilities of the labels of samples in the fit; NaN of others.

    ``null``: half width of the null category. ``s`` draws are taken, fewer than ``draws`` where N is large.
    """
    prior = make_prior(frame.fitted, params, False, frame.columns)
    code = frame.codes[frame.used]
    labelled = np.flatnonzero(code >= 0)
    fixed = params["parameters"] != "inferred"
    most = len(draws) if fixed else max(_LEAST_DRAWS, int(WORK / float(len(code)) ** 3))
    taken = draws[np.sort(spread(len(draws))[:most])]
    found = np.full((len(taken), len(frame.codes)), np.nan)
    places = np.flatnonzero(frame.used)[labelled]
    gram = None
    for s, draw in enumerate(taken.tolist()):
        if gram is None or not fixed:
            gram = prior.gram(chain.draw("theta", draw))
        z = np.ascontiguousarray(chain.draw("z", draw))
        variance = 1.0 / gram["diagonal"][labelled]
        mean = z[:, labelled] - times_q(z.T, gram).T[:, labelled] * variance
        cuts = chain.draw("cuts", draw) if has_cuts else None
        found[s, places] = _log_share(mean, np.maximum(variance - 1.0, 0.0), code[labelled], null, cuts)
    return found[:, rows]


def _log_share(
    mean: np.ndarray, variance: np.ndarray, code: np.ndarray, null: float, cuts: np.ndarray | None
) -> np.ndarray:
    """(m,) log probability of each sample's own class, f ~ N(mean (K, m), variance (m,)) integrated out."""
    sd = np.sqrt(1.0 + variance)
    if cuts is not None:
        share = ordered(mean[0], variance, cuts)
        return np.asarray(np.log(np.maximum(share[code, np.arange(len(code))], _TINY)))
    if len(mean) > 1:
        return np.asarray(log_own_chances(np.ascontiguousarray(mean), sd, code, null))
    side = np.where(code == 1, mean[0], -mean[0])
    return np.asarray(log_ndtr((side - null) / sd))

"""Small data with exact answers: plain, with replicates and gaps, and ambiguous."""

from __future__ import annotations

import math

import numpy as np
from exact import model_data

from plaidwork_lcms_annotation.model import LcmsAnnotation

MODEL = LcmsAnnotation()
TWO = "M+H, 1, 1, H; M+Na, 1, 1, Na"
BASE = {
    "adducts_positive": TWO, "rates": "given", "alpha": 1.0, "priors": "given", "run_start": 0.0, "run_end": 100.0,
    "level": 10.0, "level_spread": 2.0, "top": 1,
}  # fmt: skip


def settings(**more):
    return MODEL.spec.check_params({**BASE, **more})


def plain():
    """Glucose as M+H, M+1 and M+Na with some errors, one peak elsewhere, one that fits glucose at another time."""
    data = [
        [181.07090, 40.0, math.exp(11.0)],
        [182.07380, 42.0, math.exp(8.0)],
        [203.05300, 43.0, math.exp(9.0)],
        [150.0, 60.0, math.exp(10.0)],
        [181.07040, 52.0, math.exp(9.5)],
    ]
    return model_data(data, ["C6H12O6", "C5H9NO2"]), settings(ppm=2.0, rt_sd=4.0)


def replicated():
    """Two replicates, of some peaks one; names of one formula weigh together."""
    none = [np.nan] * 3
    data = [
        [181.07090, 40.0, math.exp(11.0), 181.0702, 60.0, math.exp(10.0)],
        [182.07380, 43.0, math.exp(8.6), *none],
        [*none, 203.05300, 63.0, math.exp(9.0)],
        [181.08200, 41.0, math.exp(8.0), 181.0818, 61.0, math.exp(8.5)],
    ]
    titles = ["mz", "rt", "intensity", "mz.2", "rt.2", "intensity.2"]
    texts = ["C6H12O6", "C5H12N2O5", "C6H12O6"]
    data = model_data(data, texts, titles, weights=[3.0, 1.0, 1.0])
    return data, settings(ppm=20.0, rt_sd=5.0, ratio_sd=0.4)


def ambiguous():
    """Formulas 33 ppm apart with other isotopes, and times and heights that leave it open which are together."""
    data = [
        [181.0680, 40.0, math.exp(11.0)],
        [182.0712, 46.0, math.exp(8.7)],
        [203.0500, 44.0, math.exp(9.0)],
        [181.0684, 54.0, math.exp(9.4)],
        [204.0532, 52.0, math.exp(7.3)],
    ]
    return model_data(data, ["C6H12O6", "C13H8O"]), settings(ppm=12.0, rt_sd=6.0, ratio_sd=0.5)


CASES = {"plain": plain, "replicates": replicated, "ambiguous": ambiguous}

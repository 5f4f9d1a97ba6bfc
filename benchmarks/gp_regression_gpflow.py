"""GPflow as the peer of ``gp_regression.py``, which runs this file with an interpreter that has it: ``--gpflow PYTHON``.

A line of JSON on standard input asks, one on standard output answers. One thread; seconds are those of the processor.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import json
import resource
import sys
import time

import gpflow
import numpy as np
import tensorflow as tf

tf.config.threading.set_intra_op_parallelism_threads(1)
tf.config.threading.set_inter_op_parallelism_threads(1)
BOUNDS: dict[tuple[int, int], object] = {}


def fit(asked: dict[str, object]) -> dict[str, object]:
    """Exact regression of standardised inputs and values from three starts; mean and sd of new observations."""
    x, y, new = (np.array(asked[name]) for name in ("x", "y", "new"))
    rng = np.random.default_rng(0)
    before, best, top = time.process_time(), None, -np.inf
    for start in range(3):
        scale = np.exp(rng.standard_normal(x.shape[1] + 2)) if start else np.ones(x.shape[1] + 2)
        kernel = gpflow.kernels.SquaredExponential(
            variance=scale[0], lengthscales=np.sqrt(x.shape[1]) * scale[2:]
        )
        model = gpflow.models.GPR((x, y[:, None]), kernel, noise_variance=0.1 * scale[1])
        try:
            gpflow.optimizers.Scipy().minimize(model.training_loss, model.trainable_variables)
        except tf.errors.InvalidArgumentError:  # a start that ends where the covariance is singular
            continue
        value = float(model.log_marginal_likelihood())
        if value > top:
            best, top = model, value
    mean, variance = best.predict_y(new)
    seconds = time.process_time() - before
    found = {"mean": mean.numpy()[:, 0].tolist(), "sd": np.sqrt(variance.numpy()[:, 0]).tolist()}
    return {**found, "evidence": top, "seconds": seconds}


def bound(asked: dict[str, object]) -> dict[str, object]:
    """The collapsed bound and its gradient at amplitude² 1, lengths sqrt(D) and noise variance 0.1; compiled by the first time it is asked for."""
    file = np.load(asked["file"])
    x, y, points = (file[name] for name in ("x", "y", "points"))
    key = (len(x), len(points))
    if key not in BOUNDS:
        BOUNDS.clear()
        kernel = gpflow.kernels.SquaredExponential(lengthscales=np.full(x.shape[1], np.sqrt(x.shape[1])))
        model = gpflow.models.SGPR((x, y[:, None]), kernel, points, noise_variance=0.1)
        gpflow.set_trainable(model.inducing_variable, False)

        @tf.function
        def evaluate() -> tuple[tf.Tensor, list[tf.Tensor]]:
            with tf.GradientTape() as tape:
                value = model.elbo()
            return value, tape.gradient(value, model.trainable_variables)

        BOUNDS[key] = evaluate
    before = time.process_time()
    value = float(BOUNDS[key]()[0])
    seconds = time.process_time() - before
    return {"value": value, "seconds": seconds, "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}


print(json.dumps({"version": gpflow.__version__}), flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    print(json.dumps({"fit": fit, "bound": bound}[asked["task"]](asked)), flush=True)

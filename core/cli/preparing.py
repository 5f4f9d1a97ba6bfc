"""The command ``prepare``: kernels compiled before anybody waits for them."""

from __future__ import annotations

import argparse
import multiprocessing
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from plaidwork.core.cli.printing import tell, warn
from plaidwork.core.draws.verdicts import listed
from plaidwork.core.inference.linear_algebra import one_thread_in_children
from plaidwork.core.inference.team import processors
from plaidwork.core.kernel_cache import cache_folder
from plaidwork.core.plugins.folder import add_plugin_folder
from plaidwork.core.plugins.registry import registry
from plaidwork.core.subprocesses import end_with_parent


def prepare(options: argparse.Namespace) -> int:
    """``plaidwork prepare [MODEL …]``: a model at a time in as many processes as there are processors; 3 when one failed."""
    wanted = options.models or [spec.id for spec in registry().specs()]
    for model in wanted:
        registry().model(model)  # an unknown one is told before any work
    begun, failed = time.monotonic(), []
    workers = ProcessPoolExecutor(
        max_workers=min(processors(), len(wanted)),
        mp_context=multiprocessing.get_context("spawn"),
        initializer=end_with_parent,
    )
    with one_thread_in_children(), workers:
        waiting = {workers.submit(_compiled, model, options.plugin_dir): model for model in wanted}
        for done in as_completed(waiting):
            model, error = waiting[done], done.exception()
            if error is None:
                tell(f"{model:<24}{done.result():6.1f} s")
            else:
                failed.append(model)
                warn(f"plaidwork: The kernels of {model} could not be compiled: {error}")
    if failed:
        warn(f"plaidwork: Without kernels of their own: {listed(failed)}.")
        return 3
    tell(
        f"Compiled kernels are kept in {cache_folder()}; all were there after {time.monotonic() - begun:.0f} s."
    )
    return 0


def _compiled(model: str, folders: Sequence[Path]) -> float:
    """In a process of its own: seconds until the kernels of a model were compiled, or found compiled."""
    begun = time.monotonic()
    for folder in folders:
        add_plugin_folder(folder)
    registry().model(model).prepare()
    return time.monotonic() - begun

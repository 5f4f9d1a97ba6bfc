"""Who runs the chains of a command: ``--executor`` and ``--cluster``."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

from plaidwork.core.cli.printing import tell
from plaidwork.core.draws.counting import counted
from plaidwork.core.errors import SettingError
from plaidwork.core.inference.execution import named_executor
from plaidwork.core.study.running import MakeExecutor


@dataclass(frozen=True)
class Executors:
    """What was asked for; ``cluster`` goes before ``name``."""

    name: str = "threads"
    cluster: str = ""
    quiet: bool = False

    @contextmanager
    def makers(self, jobs: int = 0) -> Iterator[MakeExecutor]:
        """What makes an executor for a fit; for a study of ``jobs`` at a time processes stay from fit to fit.

        Raises ``SettingError`` for a cluster that is not there.
        """
        if self.cluster:
            from plaidwork.core.inference.cluster import Cluster

            with Cluster(self.cluster) as cluster:
                if not self.quiet:
                    tell(
                        f"Cluster: {counted(cluster.threads, 'chain')} at a time; what runs where: {cluster.dashboard}"
                    )
                yield cluster.executor
        elif self.name == "processes" and jobs:
            from plaidwork.core.inference.process_pool import ProcessPool

            with ProcessPool(max(jobs, os.cpu_count() or 1)) as pool:
                yield pool.executor
        else:
            yield partial(named_executor, self.name)


def executors(options: argparse.Namespace, default: str = "threads") -> Executors:
    """What the options of a command ask for. Raises ``SettingError`` when they ask for two things."""
    if options.cluster and options.executor not in (None, "threads"):
        raise SettingError(
            f"--cluster and --executor {options.executor} exclude each other.", "Leave one of them out."
        )
    return Executors(options.executor or default, options.cluster or "", options.json)

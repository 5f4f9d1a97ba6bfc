"""Who runs the chains of a command: ``--executor`` and ``--cluster``."""

from __future__ import annotations

import argparse
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from plaidwork.core.cli.printing import tell
from plaidwork.core.draws.counting import counted
from plaidwork.core.errors import SettingError
from plaidwork.core.inference.cluster_link import local_size
from plaidwork.core.inference.place import Place
from plaidwork.core.study.running import MakeExecutor

if TYPE_CHECKING:
    from plaidwork.core.inference.cluster import Cluster


@dataclass(frozen=True)
class Executors:
    """What was asked for, and whether nothing is printed about it."""

    place: Place
    quiet: bool = False
    leave: bool = False
    """Whether the fit is left on the cluster instead of being waited for."""

    def makers(self, jobs: int = 0) -> AbstractContextManager[MakeExecutor]:
        """What makes an executor for a fit, as :meth:`Place.executors`; says where a cluster is."""
        return self.place.executors(jobs, None if self.quiet else _tell_cluster)


def _tell_cluster(cluster: Cluster) -> None:
    tell(f"Cluster: {counted(cluster.threads, 'chain')} at a time; what runs where: {cluster.dashboard}")


def executors(options: argparse.Namespace, default: str = "auto") -> Executors:
    """What the options of a command ask for. Raises ``SettingError`` when they ask for two things."""
    cluster = options.cluster or ""
    executor = options.executor or ("auto" if cluster else default)  # a cluster goes before a job file
    leave = getattr(options, "leave", False)
    if leave and (not cluster or local_size(cluster)):
        raise SettingError(
            "--leave needs --cluster with the address of a scheduler that does not end with this command."
        )
    return Executors(Place(executor, cluster), options.json, leave)

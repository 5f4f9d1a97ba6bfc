"""The way to a dask cluster: its address, its certificates, and what its workers have installed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from plaidwork.core.contract.plugin_info import owner_of
from plaidwork.core.draws.counting import counted
from plaidwork.core.errors import SettingError
from plaidwork.core.inference.environment import environment
from plaidwork.core.inference.plan import FitPlan

CONNECT_SECONDS = 30.0
INSTALL = "pip install 'plaidwork[cluster]'"
_PACKAGES = ("plaidwork", "numpy", "scipy", "numba")


@dataclass(frozen=True)
class TLS:
    """Names of the files of an encrypted cluster (``tls://…``): certificate of the authority, own certificate, its key."""

    ca: str = ""
    cert: str = ""
    key: str = ""

    def __post_init__(self) -> None:
        given = (self.ca, self.cert, self.key)
        if any(given) and not all(given):
            raise SettingError(
                "TLS needs three files: the authority's certificate, your certificate and its key."
            )

    def __bool__(self) -> bool:
        return bool(self.ca)


@dataclass(frozen=True)
class WorkerFacts:
    """A worker of a cluster: its address, and versions by package, or why it did not tell them."""

    address: str
    versions: dict[str, str]
    trouble: str = ""


def installed() -> bool:
    """Whether dask is there, without which there are no clusters."""
    return find_spec("distributed") is not None


def local_size(where: str) -> int:
    """N of ``local:N``; 0 for the address of a scheduler. Raises ``SettingError`` for what is neither."""
    kind, _, count = where.partition(":")
    if kind == "local":
        if not count.isdecimal() or not 1 <= int(count) <= 1024:
            raise SettingError(f"A cluster of this computer is local:N, with N processes. Found “{where}”.")
        return int(count)
    if not where.strip() or any(character.isspace() for character in where):
        raise SettingError(f"The address of a scheduler is like tcp://host:8786. Found “{where}”.")
    return 0


def connect(where: str, tls: TLS | None = None) -> tuple[Any, Any]:
    """A cluster of our own (or None) and a client. Raises ``SettingError``."""
    try:
        from distributed import Client, LocalCluster, Security
    except ImportError:
        raise SettingError("A cluster needs dask, which is not installed.", INSTALL) from None
    count = local_size(where)
    if count:
        own = LocalCluster(
            n_workers=count, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0"
        )
        return own, Client(own)
    security = None
    if tls:
        for name in (tls.ca, tls.cert, tls.key):
            if not Path(name).is_file():
                raise SettingError(f"There is no file {name}.")
        security = Security(
            tls_ca_file=tls.ca, tls_client_cert=tls.cert, tls_client_key=tls.key, require_encryption=True
        )
    try:
        return None, Client(where, timeout=CONNECT_SECONDS, security=security)
    except (OSError, ValueError, TimeoutError, TypeError) as error:
        raise SettingError(f"No dask scheduler answers at {where}: {error}.") from error


def versions() -> dict[str, str]:
    """What may differ from computer to computer and matters; run on the workers too."""
    found = environment()
    return {name: found[name] for name in _PACKAGES} | {"Python": found["python"].rpartition(".")[0]}


def _versions_with(model: type, plugin: str) -> dict[str, str]:
    """The same; that the model is named makes a worker load it."""
    return versions() | {"plugin": plugin}


def survey(client: Any) -> list[WorkerFacts]:
    """What the workers have installed, by address; one that dies just now is left out."""
    return _told(client.run(versions, on_error="return"))


def _told(answers: dict[str, Any]) -> list[WorkerFacts]:
    found = []
    for worker, there in sorted(answers.items()):
        if isinstance(there, OSError):  # it dies just now
            continue
        failed = isinstance(there, BaseException)
        found.append(WorkerFacts(worker, {} if failed else there, str(there) if failed else ""))
    return found


def differences(workers: list[WorkerFacts]) -> list[str]:
    """Sentences on what workers have other than this computer, or lack, and how many of them; empty where nothing differs."""
    here = versions()
    said = Counter(f"Plaidwork cannot be loaded ({w.trouble})" for w in workers if w.trouble)
    for worker in (worker for worker in workers if not worker.trouble):
        said.update(
            f"{package} is {worker.versions.get(package)}, here {version},"
            for package, version in here.items()
            if worker.versions.get(package) != version
        )
    return [f"{text} on {count} of {counted(len(workers), 'worker')}." for text, count in said.items()]


def compare(client: Any, plan: FitPlan) -> None:
    """Ask the workers for versions, and whether they can load the model. Raises ``SettingError``."""
    model, plugin = type(plan.model), owner_of(plan.model).title
    here = _versions_with(model, plugin)
    for worker in _told(client.run(_versions_with, model, plugin, on_error="return")):
        if worker.trouble:
            raise SettingError(
                f"The worker {worker.address} cannot load {plan.spec.title}: {worker.trouble}.",
                "Install the same Plaidwork and the same plugins there.",
            )
        for package, version in here.items():
            there = worker.versions.get(package)
            if there != version:
                raise SettingError(
                    f"{package} is {there} on {worker.address}, and {version} here.",
                    "Install the same version on both: with another, draws may differ.",
                )

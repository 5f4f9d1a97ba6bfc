"""A process that ended within its chain: whose fault it is, and how that is told."""

from __future__ import annotations

from plaidwork.core.contract.plugin_fault import PluginFault
from plaidwork.core.contract.plugin_info import owner_of
from plaidwork.core.draws.chain import ChainRecord
from plaidwork.core.inference.events import Event, Failed, Preparing, Started, Swept
from plaidwork.core.inference.executor import NOTHING_KEPT, PLUGIN_HINT
from plaidwork.core.inference.plan import FitPlan
from plaidwork.core.subprocesses import SIGKILL, how_ended


def method_after(event: Event) -> str:
    """The method of the model that is called after an event."""
    return "init" if isinstance(event, Preparing) else "step" if isinstance(event, (Started, Swept)) else ""


def lost(plan: FitPlan, record: ChainRecord, code: int | None, method: str) -> Failed:
    """The event for a process that ended within a chain. Nobody but the system ends one by SIGKILL: memory was short."""
    what = f"The process of chain {record.chain + 1} of {plan.spec.title} {how_ended(code)}"
    if not method or (code is not None and code == -SIGKILL):
        hint = "The computer may be short of memory. What was kept before is still there."
        return Failed(record.chain, f"{what}.", hint)
    info = owner_of(plan.model)
    error = f"{what}, some time after sweep {record.sweep}"
    fault = PluginFault(info.name, info.version, method, "", error)
    info.faults.append(fault)
    return Failed(
        record.chain, fault.message, PLUGIN_HINT if record.sweep else NOTHING_KEPT, fault.report, fault
    )

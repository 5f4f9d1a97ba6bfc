"""Many fits of one model to the same data that belong together: grids, seeds, starts and folds, ranked."""

from plaidwork.core.contract.metric import Metric, metrics_of
from plaidwork.core.study.grid import MOST_JOBS, combinations, split_values
from plaidwork.core.study.job import Status, StudyJob
from plaidwork.core.study.record import StudyChoice, StudyRecord, choice_of_run, study_records, study_table
from plaidwork.core.study.running import MakeExecutor
from plaidwork.core.study.study import Study, adopt

__all__ = [
    "MOST_JOBS",
    "MakeExecutor",
    "Metric",
    "Status",
    "Study",
    "StudyChoice",
    "StudyJob",
    "StudyRecord",
    "adopt",
    "choice_of_run",
    "combinations",
    "metrics_of",
    "split_values",
    "study_records",
    "study_table",
]

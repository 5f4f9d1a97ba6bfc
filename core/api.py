"""All that a plugin may import; nothing else of Plaidwork is promised to stay as it is."""

from plaidwork.core.analysis import (
    Analysis,
    AnalysisData,
    AnalysisRecord,
    AnalysisSpec,
)
from plaidwork.core.annotations import Annotation, AnnotationRef, Annotations
from plaidwork.core.assessment import (
    SCORES,
    Interval,
    Scores,
    auc,
    correlation_interval,
    mean_auc,
    rank_correlation,
    score,
    score_table,
    wilson,
)
from plaidwork.core.attached import AttachedFile, FileRequest
from plaidwork.core.chain import chain_of
from plaidwork.core.dataset import Dataset
from plaidwork.core.draws import ChainView, Kept
from plaidwork.core.errors import DataError, ModelError, SettingError
from plaidwork.core.hookspecs import hookimpl
from plaidwork.core.importers import Issue, Preview, Reader
from plaidwork.core.importers.base import Added
from plaidwork.core.model import (
    Block,
    Cost,
    Model,
    ModelData,
    Params,
    Problem,
    Result,
    Results,
    State,
    Table,
    Trial,
)
from plaidwork.core.numbers import (
    format_count,
    format_fixed,
    format_loss,
    format_number,
    format_percent,
    format_probability,
    format_rate,
)
from plaidwork.core.numerics.used_draws import ByChain, rounds, spread, standard_error
from plaidwork.core.per_matrix import per_matrix
from plaidwork.core.response import axis_places
from plaidwork.core.samples import Sample
from plaidwork.core.schedule import Clock, Schedule
from plaidwork.core.spec import (
    API_VERSION,
    Choice,
    Hyperparameter,
    Input,
    ModelSpec,
    Trace,
    Variable,
    View,
)
from plaidwork.core.splitting import random_test
from plaidwork.core.stages import POSITION, Stage, passes
from plaidwork.core.study import Metric, Study
from plaidwork.core.summaries import (
    MatchedBlocks,
    comembership,
    correlate_rows,
    coverage,
    distribution,
    match_blocks,
    match_factors,
    nmi_overlap_ishiguro,
    pick_items,
    rank_chains,
)
from plaidwork.core.views import ResultStore, ViewFactory

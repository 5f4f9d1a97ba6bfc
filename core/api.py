"""All that a plugin needs of Plaidwork; nothing beyond this module and its extensions is promised to stay as it is.

Extensions are promised alike: ``api_blocks``, ``api_factors``, ``api_scores``, ``api_sparse``, ``api_draws`` and ``api_tempering`` for models of one family,
``api_pictures`` for pictures of a plugin's own, all in ``plaidwork.core``, and the kernels in ``plaidwork.core.numerics``.
"""

from plaidwork.core.contract.hookspecs import hookimpl
from plaidwork.core.contract.hyperparameter import Choice, Hyperparameter
from plaidwork.core.contract.in_python import in_python
from plaidwork.core.contract.layout import Layout, Part
from plaidwork.core.contract.model import Cost, Model, Problem, Result, Results, Table, refuse_errors
from plaidwork.core.contract.model_data import Block, ModelData, Params, State
from plaidwork.core.contract.per_matrix import per_matrix
from plaidwork.core.contract.relaxation import Relaxation
from plaidwork.core.contract.schedule import Clock, Schedule
from plaidwork.core.contract.spec import API_VERSION, Input, ModelSpec, Trace, Variable, View
from plaidwork.core.contract.splitting import random_test
from plaidwork.core.contract.stages import POSITION, Stage, part_rngs, passes, share, threads
from plaidwork.core.contract.trial import Trial
from plaidwork.core.contract.views import ResultStore, ViewFactory
from plaidwork.core.data.by_values import choice_of_each, mean_of, whole_numbers
from plaidwork.core.data.column_scales import unlike_scales, usual_variances
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.data.importers import Issue, Preview, Reader
from plaidwork.core.data.importers.base import Added
from plaidwork.core.data.levels import first_number
from plaidwork.core.data.measured import held_levels
from plaidwork.core.data.samples import Sample
from plaidwork.core.draws.chain import chain_of
from plaidwork.core.draws.counting import agree, counted, plural
from plaidwork.core.draws.draws import ChainView, Kept
from plaidwork.core.draws.numbers import (
    column_format,
    format_correlation,
    format_count,
    format_fixed,
    format_loss,
    format_number,
    format_percent,
    format_probability,
    format_rate,
)
from plaidwork.core.errors import DataError, ModelError, SettingError
from plaidwork.core.findings.analysis import Analysis, AnalysisData, AnalysisRecord, AnalysisSpec
from plaidwork.core.findings.annotations import Annotation, AnnotationRef, Annotations
from plaidwork.core.findings.attached import AttachedFile, FileRequest
from plaidwork.core.findings.response import axis_places
from plaidwork.core.study import Metric, Study

__all__ = [  # noqa: RUF022 - by theme
    # the contract and how it is entered
    "API_VERSION",
    "hookimpl",
    # what a model declares
    "Choice",
    "Hyperparameter",
    "Input",
    "ModelSpec",
    "Schedule",
    "Trace",
    "Variable",
    "View",
    # the model, and what passes between it and the host
    "Block",
    "Clock",
    "Cost",
    "Layout",
    "Model",
    "ModelData",
    "Params",
    "Part",
    "Problem",
    "Relaxation",
    "State",
    "Trial",
    "axis_places",
    "chain_of",
    "held_levels",
    "per_matrix",
    "random_test",
    "refuse_errors",
    # a long sweep
    "POSITION",
    "Stage",
    "in_python",
    "part_rngs",
    "passes",
    "share",
    "threads",
    # what was kept, and what is made of it
    "ChainView",
    "Kept",
    "Result",
    "Results",
    "Table",
    # numbers as text
    "agree",
    "column_format",
    "counted",
    "format_correlation",
    "format_count",
    "format_fixed",
    "format_loss",
    "format_number",
    "format_percent",
    "format_probability",
    "format_rate",
    "plural",
    # errors that a user can act on
    "DataError",
    "ModelError",
    "SettingError",
    # what tables look like
    "choice_of_each",
    "first_number",
    "mean_of",
    "unlike_scales",
    "usual_variances",
    "whole_numbers",
    # files and examples
    "Added",
    "Dataset",
    "Issue",
    "Preview",
    "Reader",
    "Sample",
    # work beyond the fit
    "Analysis",
    "AnalysisData",
    "AnalysisRecord",
    "AnalysisSpec",
    "Annotation",
    "AnnotationRef",
    "Annotations",
    "AttachedFile",
    "FileRequest",
    # studies
    "Metric",
    "Study",
    # a view of the plugin's own
    "ResultStore",
    "ViewFactory",
]

# ruff: noqa
"""Names that vulture takes for dead code, and who uses them. What is in none of these groups and is reported is deleted."""

# Qt and pyqtgraph call them
_.clone
_.drawPicture
_.expandingDirections
_.filterAcceptsRow
_.headerData
_.hidePopup
_.hitButton
_.loadResource
_.stepBy
_.tickStrings
_.viewRangeChanged
tickSpecs

# markdown-it-py calls them, or asks them of an address
_.fence
_.link_close
_.link_open
_.normalizeLink
_.normalizeLinkText
_.validateLink

# h5py asks a stream that it reads from
_.seekable

# numba reads it
_._cache_path

# found by their name: commands by that of their action, the command line by that of the command, stored fields, lazy imports
_.__getattr__
_.analyse
_.dark
_.documentation
_.export
_.export_job
_.export_script
_.fit_again
_.english
_.follow_system
_.german
_.system_language
_.compare_sessions
_.import_image_folder
_.import_text
_.import_text_folder
_.inputs_hash
_.job_toml
_.larger_text
_.light
_.new_session
_.next_pane
_.next_tab
_.compare_runs
_.previous_pane
_.show_actions
_.show_beside
_.previous_tab
_.reset_layout
_.python_script
_.session_notes
_.shortcuts
_.show_log
_.show_session
_.show_side
_.smaller_text
_.verify
_.write_methods

# models and analyses, which plugins name as texts
BayesianPlaid
BinaryComponents
DirichletProcessMixture
Effects
BlocksAndAnnotations
FactorsAndCovariates
FactorsAndSurvival
GeneSetEnrichment
InfinitePlaid
PlaidCounts
KnownBlocks
OrderedClasses
QuickClasses
QuickRegression
RankFactor
RankFactorVB
Regression
SemiClasses

# views of plugins, which their factories name as texts
fit_along
noise_along
observed_against_predicted

# the standard library reads them
_.__class_getitem__
_.default_factory
_.formatter_class

# a field of a record, read by subscript
_.use_covariates
_.noise_sd
_.noise_variance
_.standardise_y

# promised to plugins and scripts
_.by_setting
_.deprecated
_.__deprecated_since__
thumbnail

# what only the tests ask: where something is on the screen, and laws to hold samplers against
_.action_info
_.all_names
_.annotation_field
_.contrast_mode
_.dependencies
_.file_field
_.is_open
_.point_of
_.prior_sd
_.tag_rect
low_rank_precision

# a file of records, which is left out, calls it
roots_of

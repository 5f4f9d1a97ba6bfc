"""Parts of a session as files of their own: draws as netCDF, a dataset as ``.h5ad``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from plaidwork.core.data.dataset import Dataset
from plaidwork.core.hdf5.atomic import replace_file
from plaidwork.core.hdf5.h5 import Writer, open_new, put
from plaidwork.core.inference.run import CHANGING, Run
from plaidwork.core.session.store.axis_labels import AxisLabels
from plaidwork.core.session.store.datasets import write_dataset
from plaidwork.core.session.store.inference import write_inference

if TYPE_CHECKING:
    from plaidwork.core.session.session import Session


def write_netcdf(run: Run, session: Session, path: Path) -> None:
    """All draws and traces kept so far; ``arviz.from_netcdf`` and ``xarray.open_datatree`` read it."""
    labels = AxisLabels(session).of(run)
    with CHANGING:
        left_out, views = run.schedule.left_out, [record.view() for record in run.chains]

    def write(temporary: Path) -> None:
        with open_new(temporary) as file:
            put(
                file,
                title=run.title,
                model=run.spec.id,
                model_version=run.spec.version,
                seed=np.int64(run.seed),
            )
            write_inference(Writer(file), file, file, run.spec, views, left_out, labels)

    replace_file(path, write, backup=False)


def write_h5ad(dataset: Dataset, path: Path) -> None:
    """One dataset with its annotations; ``anndata.read_h5ad`` reads it."""

    def write(temporary: Path) -> None:
        with open_new(temporary) as file:
            write_dataset(Writer(file), file, dataset)

    replace_file(path, write, backup=False)

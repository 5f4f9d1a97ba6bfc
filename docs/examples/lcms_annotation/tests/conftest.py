"""The package is found in its source folder when it is not installed."""

import importlib.util
import sys
from pathlib import Path

if importlib.util.find_spec("plaidwork_lcms_annotation") is None:
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

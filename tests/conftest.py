"""No test sees, or writes, the settings and plugins of whoever runs it."""

import pytest

from plaidwork.core.linear_algebra import one_thread


@pytest.fixture(scope="session", autouse=True)
def _one_thread():
    """Linear algebra as in a fit, for tests that call a model's methods themselves."""
    with one_thread():
        yield


@pytest.fixture(scope="session", autouse=True)
def _own_folders(tmp_path_factory):
    folder = tmp_path_factory.mktemp("user")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PLAIDWORK_CONFIG", str(folder / "config"))
        patch.setenv("PLAIDWORK_PLUGINS", str(folder / "plugins"))
        for name in ("PLAIDWORK_DISABLE", "PLAIDWORK_PLUGIN_DIRS", "PLAIDWORK_PLUGIN_SECONDS"):
            patch.delenv(name, raising=False)
        yield

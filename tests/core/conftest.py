"""What tests of files share."""

from __future__ import annotations

import gzip

import pytest


@pytest.fixture
def write(tmp_path):
    """Writes a text, or bytes as they are, to a file of this name, packed where it ends so; the path."""

    def written(text, name="x.csv", encoding="utf-8"):
        path = tmp_path / name
        content = text if isinstance(text, bytes) else text.encode(encoding)
        path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
        return path

    return written

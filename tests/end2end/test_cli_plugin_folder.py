"""``plaidwork plugin install`` and ``uninstall``: they say what and where, ask, and never go on by themselves."""

import pytest
from sparing import some
from wheels_made import either_way, make_wheel  # noqa: F401

from plaidwork.core.cli import main


@pytest.fixture
def site(tmp_path, monkeypatch):
    monkeypatch.setenv("PLAIDWORK_PLUGINS", str(tmp_path / "plugins"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    return tmp_path / "plugins" / "site"


@pytest.mark.usefixtures("either_way")
def test_install_and_uninstall(tmp_path, site, capsys):
    wheel = make_wheel(tmp_path)
    assert main(["plugin", "install", str(wheel), "--yes"]) == 0
    text = capsys.readouterr().out
    assert "guest-level 0.1.0: A guest for tests." in text
    assert str(site) in text
    assert "stay as they are" in text
    assert "Installed guest-level 0.1.0. Plugins: level" in text
    assert (site / "guest_level.py").is_file()
    assert main(["plugin", "uninstall", "level", "--yes"]) == 0
    assert "Removed guest-level 0.1.0" in capsys.readouterr().out
    assert not site.exists()


@pytest.mark.usefixtures("either_way")
@pytest.mark.parametrize(("answer", "code"), some([("y", 0), ("", 4), ("no", 4)], [("", 4)]))
def test_the_question_decides(tmp_path, site, monkeypatch, answer, code):
    asked = []
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("builtins.input", lambda text: asked.append(text) or answer)
    assert main(["plugin", "install", str(make_wheel(tmp_path))]) == code
    assert site.exists() == (code == 0)
    assert "all that you can do" in asked[0]


@pytest.mark.usefixtures("either_way")
def test_without_a_terminal_nothing_is_agreed(tmp_path, site, monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin.isatty", lambda: False, raising=False)
    assert main(["plugin", "install", str(make_wheel(tmp_path))]) == 2
    assert "Add --yes" in capsys.readouterr().err
    assert not site.exists()


def test_refusals_have_an_exit_code(tmp_path, site, capsys):
    assert main(["plugin", "install", str(tmp_path / "no.whl"), "--yes"]) == 2
    assert "does not exist" in capsys.readouterr().err
    assert main(["plugin", "uninstall", "plaid", "--yes"]) == 2
    assert "was not installed into the plugin folder" in capsys.readouterr().err

"""The frozen folder as a package for Debian and as an archive: both hold what they must, install, start and leave nothing.

The quick tests pack a small folder in place of the program. The slow one takes the package that ``sh installer/frozen/build.sh``
has made in ``dist/``, or in the folder that ``PLAIDWORK_BUNDLE_OUT`` names.
"""

import gzip
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from test_installing import everything, needs, type_of

ROOT = Path(__file__).resolve().parent.parent
FROZEN = ROOT / "installer" / "frozen"
OUT = Path(os.environ.get("PLAIDWORK_BUNDLE_OUT", ROOT / "dist"))
TYPE = "application/x-plaidwork-session"

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the package is for Debian")


def checked(*command, **environment):
    """What a command has written; it must end with code 0."""
    done = subprocess.run(command, env=os.environ | environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def small(tmp_path):
    """A folder like the frozen one, whose program only greets."""
    folder = tmp_path / "frozen"
    (folder / "_internal").mkdir(parents=True)
    (folder / "plaidwork").write_text("#!/bin/sh\necho hello\n", encoding="utf-8")
    (folder / "plaidwork").chmod(0o700)
    for name in ("LICENCES.txt", "sbom.cdx.json", "_internal/a.so"):
        (folder / name).write_text(name, encoding="utf-8")
        (folder / name).chmod(0o600)
    return folder


def packed(script, folder, out, epoch="1700000000"):
    out.mkdir()
    checked("sh", FROZEN / script, folder, out, "1.2", SOURCE_DATE_EPOCH=epoch)
    (made,) = out.iterdir()  # and nothing that was made on the way
    return made


def installed(package, root):
    """Installs below ``root``, as ``dpkg`` does, without the packages that it depends on; gives the ``dpkg`` to go on with."""
    administration = root / "var" / "lib" / "dpkg"
    for name in ("info", "updates", "triggers"):
        (administration / name).mkdir(parents=True)
    (administration / "status").touch()
    command = ["dpkg", f"--root={root}", f"--log={root}/var/log", "--force-not-root", "--force-depends"]
    checked(*command, "--install", package)
    return command


@pytest.mark.parametrize(("script", "end"), [("deb.sh", ".deb"), ("tar.sh", ".tar.zst")])
def test_equal_folders_are_packed_alike(small, tmp_path, script, end):
    needs("dpkg-deb", "zstd")
    first = packed(script, small, tmp_path / "first")
    for path in small.rglob("*"):
        os.utime(path, (1, 1))
    assert first.name.endswith(end)
    assert packed(script, small, tmp_path / "second").read_bytes() == first.read_bytes()
    assert packed(script, small, tmp_path / "third", "1800000000").read_bytes() != first.read_bytes()


def test_package_installs_and_leaves_nothing(small, tmp_path):
    needs("dpkg-deb", "dpkg")
    root = tmp_path / "root"
    dpkg = installed(packed("deb.sh", small, tmp_path / "out"), root)
    assert checked(root / "usr" / "bin" / "plaidwork") == "hello\n"
    assert (root / "usr/lib/plaidwork/_internal/a.so").stat().st_mode & 0o777 == 0o644
    assert (root / "usr/share/doc/plaidwork/copyright").read_text(encoding="utf-8") == "LICENCES.txt"
    assert b"plaidwork" in gzip.decompress((root / "usr/share/man/man1/plaidwork.1.gz").read_bytes())
    assert (root / "usr/share/lintian/overrides/plaidwork").is_file()
    assert checked(*dpkg, "--verify", "plaidwork") == ""
    checked(*dpkg, "--purge", "plaidwork")
    assert not [name for name in everything(root) if "plaidwork" in name.lower() or name.startswith("usr")]


def test_archive_says_how_to_install_it(small, tmp_path):
    needs("zstd")
    checked("tar", "-C", tmp_path, "-xf", packed("tar.sh", small, tmp_path / "out"))
    folder = tmp_path / "plaidwork"
    hint = (folder / "INSTALL.txt").read_text(encoding="utf-8")
    entries = [path for path in (folder / "share").rglob("*") if path.is_file()]
    assert len(entries) == 5
    assert all(f"  ~/.local/{path.relative_to(folder)}\n" in hint for path in entries)
    assert checked(folder / "plaidwork") == "hello\n"


@pytest.mark.parametrize(
    ("system", "words"),
    [("Darwin arm64", "this is not Linux on 64-bit x86"), ("Linux x86_64", "it needs binutils zstd")],
)
def test_what_cannot_be_had_is_no_failure_of_the_build(tmp_path, system, words):
    """It ends with 3, by which `.ci/run` leaves it out, and says what is missing; here nothing but a few tools is there."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("basename", "date", "dirname", "mkdir", "sh"):
        (tools / name).symlink_to(shutil.which(name))
    (tools / "uname").write_text(
        f"#!{tools}/sh\n[ $1 = -s ] && echo {system.split()[0]} || echo {system.split()[1]}\n",
        encoding="utf-8",
    )
    (tools / "uname").chmod(0o755)
    environment = os.environ | {"PATH": str(tools), "PLAIDWORK_NO_APT": "1"}
    command = [tools / "sh", FROZEN / "build.sh", tmp_path / "out"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 3, done.stdout + done.stderr
    assert f"The folder cannot be built here: {words}." in done.stderr
    assert not any((tmp_path / "out").iterdir())


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_real_package_starts_and_leaves_nothing(tmp_path):
    """Installed below a folder, with an empty home and without what the tests have in their environment."""
    needs("dpkg-deb", "dpkg", "update-mime-database")
    package = next(iter(sorted(OUT.glob("plaidwork_*_amd64.deb"))), None)
    if package is None:
        pytest.skip(f"there is no package in {OUT}: sh installer/frozen/build.sh makes it")
    root, home = tmp_path / "root", tmp_path / "home"
    home.mkdir()
    dpkg = installed(package, root)
    share = root / "usr" / "share"
    if shutil.which("desktop-file-validate"):
        checked("desktop-file-validate", share / "applications" / "plaidwork.desktop")
    if shutil.which("appstreamcli"):
        checked(
            "appstreamcli",
            "validate",
            "--no-net",
            share / "metainfo" / "org.plaidwork.Plaidwork.metainfo.xml",
        )
    before = everything(root)
    clean = {"HOME": str(home), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "QT_QPA_PLATFORM": "offscreen"}
    if "PLAIDWORK_KERNELS" in os.environ:
        clean["PLAIDWORK_KERNELS"] = os.environ["PLAIDWORK_KERNELS"]
    command = [root / "usr" / "bin" / "plaidwork", "--smoke", tmp_path / "smoke"]
    done = subprocess.run(command, env=clean, cwd=home, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert everything(root) == before  # the program writes nothing where it lies
    checked("update-mime-database", share / "mime")
    assert type_of(share, tmp_path / "smoke.plaidwork") == [TYPE, TYPE.replace("/", "-")]
    listed = (root / "usr/lib/plaidwork/sbom.cdx.json").read_text(encoding="utf-8")
    assert '"PySide6_Essentials"' in listed
    shutil.rmtree(share / "mime")
    assert checked(*dpkg, "--audit") == ""
    checked(*dpkg, "--purge", "plaidwork")
    assert not [name for name in everything(root) if "plaidwork" in name.lower() or name.startswith("usr")]

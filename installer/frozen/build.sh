#!/bin/sh
# Build the program as one folder that needs no Python, pack it, and try it. On Debian 12, by 64-bit x86:
#
#   sh installer/frozen/build.sh [OUT]
#
# OUT (dist) gets plaidwork-VERSION-linux-x86_64.tar.zst and, where dpkg-deb is, a .deb for Debian 12. It takes some minutes
# and 4 GB on the disk. The build environment is made anew in OUT/work; PLAIDWORK_BUILD_PYTHON names one that is there already
# and has Plaidwork[bundle]. PLAIDWORK_NO_SMOKE=1 leaves out the trial of the folder.
#
# It ends with 3 where it cannot be built for a reason that is not ours: another system, a tool that cannot be had.
#
# try_deb.sh OUT/plaidwork_VERSION_amd64.deb tries the package on a Debian 12 of its own. OUT/work may be deleted afterwards.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
out=${1:-$root/dist}
mkdir -p "$out"
out=$(cd "$out" && pwd)
work=$out/work
python=${PYTHON:-python3} venv=$work/environment bin=$work/environment/bin
export SOURCE_DATE_EPOCH="${SOURCE_DATE_EPOCH:-$(git -C "$root" log -1 --format=%ct 2>/dev/null || date +%s)}"
export PYTHONHASHSEED=0 # the archive of modules comes out the same

# shellcheck source=installer/steps.sh
. "$root/installer/steps.sh"

lacking() { say "The folder cannot be built here: $*"; exit 3; }

[ "$(uname -s) $(uname -m)" = "Linux x86_64" ] || lacking "this is not Linux on 64-bit x86."
missing=
for pair in objdump:binutils zstd:zstd; do
    command -v "${pair%:*}" >/dev/null 2>&1 || missing="$missing ${pair#*:}"
done
# shellcheck disable=SC2086  # a list of names
[ -z "$missing" ] || install_packages $missing || lacking "it needs$missing."

rm -rf "$work/frozen"
mkdir -p "$work/frozen"
pip() { "$bin/python" -m pip install -q --disable-pip-version-check "$@"; }
if [ -z "${PLAIDWORK_BUILD_PYTHON:-}" ]; then
    rm -rf "$venv"
    make_environment
    if ! pip "$root[bundle]"; then
        pip "$root[excel,parquet]" || fail "Plaidwork could not be installed."
        lacking "PyInstaller could not be installed."
    fi
fi
python=${PLAIDWORK_BUILD_PYTHON:-$bin/python}
"$python" - <<END || lacking "$python has no library that programs can be linked to, as libpython3.11 is of Debian's Python."
import ctypes, sysconfig
from contextlib import suppress
folder, name = map(sysconfig.get_config_var, ("LIBDIR", "INSTSONAME"))
for place in (f"{folder}/{name}", name):
    with suppress(OSError):
        ctypes.CDLL(place)
        raise SystemExit(0)
raise SystemExit(1)
END
cd "$work/frozen" # not the checkout: its folders would hide what is installed
"$python" -m PyInstaller --noconfirm --log-level WARN --distpath "$work/frozen/dist" --workpath "$work/frozen/build" \
    "$here/plaidwork.spec"
folder=$work/frozen/dist/plaidwork
"$python" "$root/installer/contents.py" --licences "$folder/LICENCES.txt" --sbom "$folder/sbom.cdx.json" \
    --folder "$folder/_internal"

version=$("$folder/plaidwork" --version | cut -d' ' -f2)
if [ -z "${PLAIDWORK_NO_SMOKE:-}" ]; then
    QT_QPA_PLATFORM=${QT_QPA_PLATFORM:-offscreen} "$folder/plaidwork" --smoke "$work/frozen/smoke"
    echo "The folder was tried: it starts, fits, saves and reads again."
fi
if command -v dpkg-deb >/dev/null 2>&1; then sh "$here/deb.sh" "$folder" "$out" "$version"; fi
sh "$here/tar.sh" "$folder" "$out" "$version"
du -sh "$folder" "$out"/plaidwork*

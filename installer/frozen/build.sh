#!/bin/sh
# Build the program as one folder that needs no Python, pack it, and try it. On Debian 12, by 64-bit x86:
#
#   sh installer/frozen/build.sh [OUT]
#
# OUT (dist) gets plaidwork-VERSION-linux-x86_64.tar.zst and, where dpkg-deb is, a .deb for Debian 12. It takes some minutes
# and 4 GB on the disk. The build environment is made anew in OUT/work; PLAIDWORK_BUILD_PYTHON names one that is there already
# and has Plaidwork[excel,parquet] and pyinstaller. PLAIDWORK_NO_SMOKE=1 leaves out the trial of the folder.
#
# try_deb.sh OUT/plaidwork_VERSION_amd64.deb tries the package on a Debian 12 of its own. OUT/work may be deleted afterwards.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
out=${1:-$root/dist}
mkdir -p "$out"
out=$(cd "$out" && pwd)
work=$out/work
python=${PLAIDWORK_BUILD_PYTHON:-}
export SOURCE_DATE_EPOCH="${SOURCE_DATE_EPOCH:-$(git -C "$root" log -1 --format=%ct 2>/dev/null || date +%s)}"
export PYTHONHASHSEED=0 # the archive of modules comes out the same

rm -rf "$work/frozen"
mkdir -p "$work/frozen"
if [ -z "$python" ]; then
    "${PYTHON:-python3}" -m venv --clear "$work/environment"
    python=$work/environment/bin/python
    "$python" -m pip install -q --disable-pip-version-check "$root[excel,parquet]" 'pyinstaller>=6.10,<7'
fi
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

#!/bin/sh
# Make a package for Debian 12 of the frozen folder: deb.sh FOLDER OUT VERSION. Called by build.sh.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
linux=$root/installer/linux
folder=$1 out=$2 version=$3
tree=$(mktemp -d -p "$out")
trap 'rm -rf "$tree"' EXIT
chmod 755 "$tree"

# shellcheck source=installer/steps.sh
. "$root/installer/steps.sh" # the libraries that Qt needs

share=$tree/usr/share
mkdir -p "$tree/DEBIAN" "$tree/usr/lib" "$tree/usr/bin"
cp -a "$folder" "$tree/usr/lib/plaidwork"
ln -s ../lib/plaidwork/plaidwork "$tree/usr/bin/plaidwork"
install -Dm644 "$linux/plaidwork.desktop" "$share/applications/plaidwork.desktop"
install -Dm644 "$linux/plaidwork.xml" "$share/mime/packages/plaidwork.xml"
install -Dm644 "$linux/plaidwork.metainfo.xml" "$share/metainfo/org.plaidwork.Plaidwork.metainfo.xml"
install -Dm644 "$root/resources/icons/mark.svg" "$share/icons/hicolor/scalable/apps/plaidwork.svg"
install -Dm644 "$linux/plaidwork-session.svg" \
    "$share/icons/hicolor/scalable/mimetypes/application-x-plaidwork-session.svg"
install -Dm644 "$folder/LICENCES.txt" "$share/doc/plaidwork/copyright"

depends=$(printf '%s' "$libraries" | tr -s ' \n' ',,' | sed 's/,/, /g')
size=$(du -sk "$tree/usr" | cut -f1)
cat >"$tree/DEBIAN/control" <<END
Package: plaidwork
Version: $version
Section: science
Priority: optional
Architecture: amd64
Depends: libc6 (>= 2.36), $depends
Installed-Size: $size
Maintainer: The Plaidwork developers <plaidwork@localhost>
Description: workbench for Bayesian latent-structure models
 Plaidwork finds blocks, factors and networks that explain a table of data, by
 sampling or by variational inference, and shows what was found with its
 uncertainty. It brings the Python and the libraries that it needs.
END
find "$tree" -exec touch -h -d "@${SOURCE_DATE_EPOCH:-0}" {} +
dpkg-deb --root-owner-group -Zzstd -z10 --build "$tree" "$out/plaidwork_${version}_amd64.deb" >/dev/null

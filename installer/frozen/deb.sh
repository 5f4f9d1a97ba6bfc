#!/bin/sh
# Make a package for Debian 12 of the frozen folder: deb.sh FOLDER OUT VERSION. Called by build.sh.
#
# It has no scripts of its own: the packages that keep the databases of types, menu entries and icons (shared-mime-info,
# desktop-file-utils, gtk-update-icon-cache) watch the folders that the entries go to, and make them anew by themselves when
# this package comes and goes. The program writes nothing into its folder, so there is nothing to take out but what is listed.
# Equal folders give equal packages, as long as SOURCE_DATE_EPOCH is the same.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
folder=$1 out=$2 version=$3
: "${SOURCE_DATE_EPOCH:=0}"
export SOURCE_DATE_EPOCH
tree=$(mktemp -d -p "$out")
trap 'rm -rf "$tree"' EXIT

# shellcheck source=installer/steps.sh
. "$root/installer/steps.sh" # the libraries that Qt needs, and the entries

mkdir -p "$tree/DEBIAN" "$tree/usr/lib" "$tree/usr/bin" "$tree/usr/share/doc/plaidwork"
cp -a "$folder" "$tree/usr/lib/plaidwork"
ln -s ../lib/plaidwork/plaidwork "$tree/usr/bin/plaidwork"
put() { install -Dm644 "$1" "$tree/usr/share/$2/$3"; }
entries put
put "$folder/LICENCES.txt" doc/plaidwork copyright
put "$here/lintian-overrides" lintian/overrides plaidwork
mkdir -p "$tree/usr/share/man/man1"
gzip -9n <"$root/installer/linux/plaidwork.1" >"$tree/usr/share/man/man1/plaidwork.1.gz"
author="The Plaidwork developers <plaidwork@localhost>"
gzip -9n >"$tree/usr/share/doc/plaidwork/changelog.gz" <<END
plaidwork ($version) unstable; urgency=medium

  * What has changed is told in CHANGELOG.md of the sources.

 -- $author  $(LC_ALL=C date -u -R -d "@$SOURCE_DATE_EPOCH")
END
# modes do not depend on the umask; libraries need not be executable
find "$tree" -type d -exec chmod 755 {} +
find "$tree" -type f -exec chmod 644 {} +
chmod 755 "$tree/usr/lib/plaidwork/plaidwork"

# shellcheck disable=SC2086  # a list of names
depends=$(printf ', %s' $libraries)
cat >"$tree/DEBIAN/control" <<END
Package: plaidwork
Version: $version
Section: science
Priority: optional
Architecture: amd64
Depends: libc6 (>= 2.36)$depends
Recommends: desktop-file-utils, hicolor-icon-theme, shared-mime-info
Installed-Size: $(du -sk --apparent-size "$tree/usr" | cut -f1)
Maintainer: $author
Description: workbench for Bayesian latent-structure models
 Plaidwork finds blocks, factors and networks that explain a table of data, by
 sampling or by variational inference, and shows what was found with its
 uncertainty. It brings the Python and the libraries that it needs.
END
(cd "$tree" && find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum >DEBIAN/md5sums)
find "$tree" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
dpkg-deb --root-owner-group -Zzstd -z10 --build "$tree" "$out/plaidwork_${version}_amd64.deb" >/dev/null

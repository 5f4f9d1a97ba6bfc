#!/bin/sh
# Try the package on a Debian 12 of its own, with nothing else on it: try_deb.sh FILE.deb [MIRROR]. As root, with debootstrap and a
# network; 4 GB in TMPDIR, which must allow programs and devices. What it makes is taken away again.
#
# It installs the package as apt does, asks the linker for what Qt's platforms miss, starts the program as an ordinary user
# without a screen and then on a screen of its own (Xvfb), looks whether the desktop knows the type and the entry, and whether
# all is gone after it was removed.
set -eu

package=$1
mirror=${2:-http://deb.debian.org/debian}
fail() { echo "try_deb.sh: $*" >&2; exit 1; }
[ "$(id -u)" = 0 ] || fail "needs root, for debootstrap and chroot."
command -v debootstrap >/dev/null 2>&1 || fail "needs debootstrap."
[ -f "$package" ] || fail "$package was not found."

root=$(mktemp -d)
away() {
    for place in dev/shm proc; do umount "$root/$place" 2>/dev/null || true; done
    rm -rf --one-file-system "$root"
}
trap away EXIT
chmod 755 "$root"
inside() { chroot "$root" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive "$@"; }
add() { inside apt-get -qq install -y --no-install-recommends "$@" >"$root/log" 2>&1 || { cat "$root/log"; fail "apt failed."; }; }
user() { chroot --userspec=someone "$root" /usr/bin/env -i HOME=/home/someone PATH=/usr/bin:/bin LANG=C.UTF-8 "$@"; }
ours() { (cd "$root" && find etc usr var/lib/dpkg opt -ipath '*plaidwork*' | sort); }

debootstrap --variant=minbase bookworm "$root" "$mirror" >"$root.log" 2>&1 || { cat "$root.log"; fail "debootstrap failed."; }
rm -f "$root.log"
mount -t proc proc "$root/proc"
mkdir -p "$root/dev/shm"
mount -t tmpfs tmpfs "$root/dev/shm" # processes of chains share memory
inside useradd -m someone
cp "$package" "$root/package.deb"
chmod 644 "$root/package.deb"

from=$(date +%s)
add /package.deb
echo "It was installed with what it depends on in $(($(date +%s) - from)) s."
# with the path that the program sets for itself
missing=$(inside LD_LIBRARY_PATH=/usr/lib/plaidwork/_internal sh -c 'cd /usr/lib/plaidwork/_internal/PySide6
    for file in *.abi3.so Qt/plugins/platforms/libqxcb.so Qt/plugins/platforms/libqoffscreen.so; do ldd "$file"; done' |
    sed -n 's/^[[:space:]]*\([^ ]*\) => not found.*/\1/p' | sort -u)
[ -z "$missing" ] || fail "Qt misses $missing"
user QT_QPA_PLATFORM=offscreen plaidwork --smoke /home/someone/first || fail "it failed without a screen."
echo "Without a screen it starts, fits, saves and reads again."

add shared-mime-info desktop-file-utils xvfb xauth
user QT_QPA_PLATFORM=xcb xvfb-run -a plaidwork --smoke /home/someone/second || fail "it failed on a screen."
echo "On a screen too."
[ -z "${PLAIDWORK_KEEP_PICTURE:-}" ] || cp "$root/home/someone/second.png" "$PLAIDWORK_KEEP_PICTURE"
type=application/x-plaidwork-session
grep -q "^$type=plaidwork.desktop" "$root/usr/share/applications/mimeinfo.cache" || fail "the desktop has no entry for $type."
grep -q ":$type:\*.plaidwork" "$root/usr/share/mime/globs2" || fail "the desktop does not know $type."
inside desktop-file-validate /usr/share/applications/plaidwork.desktop
inside dpkg --verify plaidwork | grep . && fail "the program has changed its files."
inside apt-get -qq purge -y plaidwork >/dev/null 2>&1
left=$(ours)
[ -z "$left" ] || fail "removed, it leaves $left"
grep -q "$type" "$root/usr/share/mime/globs2" "$root/usr/share/applications/mimeinfo.cache" && fail "the desktop still knows $type."
echo "The desktop knew its entry and its type; removed, it leaves nothing."

#!/bin/sh
# The last step in making a root file system: run by mmdebstrap with the folder, and by the Dockerfile with /.
set -eu
root=${1%/}

chroot "$root/" groupadd --gid 1000 sandbox
chroot "$root/" useradd --uid 1000 --gid 1000 --home-dir /mnt/data --no-create-home --shell /bin/bash sandbox
mkdir -p "$root/mnt/data" "$root/mnt/skills" "$root/run/egress" "$root/run/spool" "$root/opt/switchyard"
chown 1000:1000 "$root/mnt/data"

if [ -x "$root/usr/lib/go-1.23/bin/go" ]; then
  ln -sf /usr/lib/go-1.23/bin/go "$root/usr/local/bin/go"
  ln -sf /usr/lib/go-1.23/bin/gofmt "$root/usr/local/bin/gofmt"
fi
[ -e "$root/usr/bin/python" ] || ln -s python3 "$root/usr/bin/python"
# The container is thrown away: pip may install for the user without being told twice.
rm -f "$root"/usr/lib/python3*/EXTERNALLY-MANAGED

# Nobody becomes somebody else in here.
find "$root/" -xdev -perm /6000 ! -type l -exec chmod ug-s {} +

# Nothing of the machine that built this stays: its mirror, its proxy, its name, its resolver.
rm -rf "$root"/etc/apt/sources.list.d/* "$root"/etc/apt/apt.conf.d/99mmdebstrap "$root"/etc/dpkg/dpkg.cfg.d/99mmdebstrap
: > "$root/etc/apt/sources.list"
for file in etc/resolv.conf etc/hostname; do
  if [ -n "$root" ]; then : > "$root/$file"; fi
done
rm -rf "$root"/var/lib/apt/lists/* "$root"/var/cache/apt/* "$root"/var/cache/debconf/*-old "$root"/var/lib/dpkg/*-old
find "$root/var/log" -type f -delete

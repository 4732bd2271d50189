#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Process 1 of the namespaces that setup/debian13.sh makes: mount the root, enter it, run a command.
set -euo pipefail

: "${home:?}" "${root:?}" "${state:?}" # given by setup/debian13.sh
layer=$home/layer
rm -rf "$layer"
mkdir -p "$layer"/{upper,work,root} "$home"/{cache,cargo}
mount -t overlay -o "lowerdir=$root,upperdir=$layer/upper,workdir=$layer/work" \
	overlay "$layer/root"
cd "$layer/root"
mkdir -p src old root/.local/state/wirespeed root/.cache root/.cargo
mount --bind "$home/src" src
mount --bind "$home/cache" root/.cache
mount --bind "$home/cargo" root/.cargo
mount --bind "$state" root/.local/state/wirespeed
mount --rbind /dev dev
mount --rbind /sys sys
mount -t proc proc proc
mount -t tmpfs tmpfs run
mkdir run/lock
# How package clients reach their registries from this host.
for file in /etc/resolv.conf /etc/hosts /etc/ssl/certs /etc/pip.conf /root/.npmrc; do
	[ -e "$file" ] || continue
	[ -e ".$file" ] || touch ".$file"
	mount --bind -o ro "$file" ".$file"
done
# A mount of its own as the root: programs mount and pivot below it as on any host.
pivot_root . old
umount --lazy old
cd /src
export HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
unset home root state layer file XDG_STATE_HOME XDG_RUNTIME_DIR PIP_FIND_LINKS
# Not exec'd: process 1 has to wait for orphans.
"$@" 8>&- 9>&-

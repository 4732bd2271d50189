#!/bin/busybox sh
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=dash
# Finds the disk with the serial number wirespeed-root, makes it the root, and starts its init.
# A squashfs is given a tmpfs over it; an ext4 is mounted as it is, to be written to.
export PATH=/bin

fail() {
	echo "wirespeed-initramfs: $*"
	# The machine ends: nobody is to wait for it.
	echo 1 >/proc/sys/kernel/sysrq
	echo o >/proc/sysrq-trigger
	while :; do sleep 1; done
}

busybox mkdir -p /proc /sys /dev /lower /upper /root
busybox mount -t devtmpfs dev /dev
busybox mount -t proc proc /proc
busybox mount -t sysfs sys /sys
while read -r module; do
	busybox insmod "$module" || fail "$module cannot be loaded"
done </modules

disk=""
for serial in /sys/block/*/serial; do
	[ -e "$serial" ] || continue
	read -r number <"$serial"
	block=${serial%/serial}
	[ "$number" = wirespeed-root ] && disk=/dev/${block##*/}
done
[ -n "$disk" ] || fail "no disk with the serial number wirespeed-root"

if busybox mount -t squashfs -o ro "$disk" /lower 2>/dev/null; then
	busybox mount -t tmpfs -o mode=755 upper /upper
	busybox mkdir /upper/changes /upper/work
	busybox mount -t overlay -o lowerdir=/lower,upperdir=/upper/changes,workdir=/upper/work \
		overlay /root || fail "no overlay over $disk"
else
	busybox mount -t ext4 "$disk" /root || fail "$disk is neither a squashfs nor an ext4"
fi
busybox mount -o move /dev /root/dev
busybox mount -o move /proc /root/proc
busybox mount -o move /sys /root/sys
exec busybox switch_root /root /sbin/init

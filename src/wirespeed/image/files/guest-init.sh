#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A guest's process 1: what a kernel does not mount by itself, and sshd on the serial control port.
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
control=/dev/virtio-ports/wirespeed.control

mkdir -p /dev/pts /dev/shm /dev/hugepages /run /tmp /root
mount -t devpts -o gid=5,mode=620 devpts /dev/pts
mount -t tmpfs -o mode=1777 tmpfs /dev/shm
mount -t tmpfs -o mode=755 tmpfs /run
mount -t tmpfs -o mode=1777 tmpfs /tmp
mount -t hugetlbfs hugetlbfs /dev/hugepages
mkdir /run/sshd /run/lock
modprobe -a virtio_console virtio_rng virtio_net uio_pci_generic
echo guest >/proc/sys/kernel/hostname
ip link set lo up
/usr/lib/wirespeed/take-keys

# The port's link is udev's to make: there is none here.
mkdir -p /dev/virtio-ports
for name in /sys/class/virtio-ports/*/name; do
	[ -e "$name" ] || continue
	port=${name%/name}
	ln -s "../${port##*/}" "/dev/virtio-ports/$(cat "$name")"
done
[ -e "$control" ] || echo "wirespeed-guest: no virtio-serial port named wirespeed.control"

echo "wirespeed-guest: ready"
while :; do
	# Whoever connects sends a line first (remote/awaited.py). While nobody is connected, a read
	# ends at once.
	if [ -n "$(busybox dd bs=512 count=1 <"$control" 2>/dev/null)" ]; then
		/usr/sbin/sshd -i -e -f /etc/wirespeed/sshd_config <>"$control" >&0 2>/dev/console
	else
		sleep 0.1
	fi
done

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Takes over the keys that this start was given (image/access.py), and the name where it has one.
given=/sys/firmware/qemu_fw_cfg/by_name/opt/wirespeed
modprobe qemu_fw_cfg
umask 077
mkdir -p /run/wirespeed
for name in authorized_key host_key; do
	cat "$given/$name/raw" >"/run/wirespeed/$name" || echo "wirespeed: $name was not given" >&2
done
if [ -e "$given/hostname/raw" ]; then
	umask 022
	cat "$given/hostname/raw" >/etc/hostname
	hostname -F /etc/hostname
fi

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Start the build of wsdp that fits the libraries of this system. The wheel installs this as `wsdp`.
set -u
# The name of a build's folder is its DPDK: dpdk-22.11/wsdp.
for build in "$(dirname "$(readlink -f "$0")")"/../libexec/wirespeed/dpdk-*/wsdp; do
	folder=${build%/wsdp}
	releases=${releases:+$releases or }${folder##*-}
	if linked=$(ldd "$build" 2>&1); then
		lacking=$(echo "$linked" | sed -n 's/^[[:space:]]*//; /not found/p' | head -n 1)
		[ -n "$lacking" ] || exec "$build" "$@"
	else
		lacking=$linked
	fi
done
echo "wsdp: this system lacks DPDK $releases or a library that wsdp needs ($lacking); install" \
	"its DPDK, on Debian and Ubuntu: apt-get install dpdk librte-meta-allpmds libpcap0.8" >&2
exit 127

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Start the build of wsdp that fits the libraries of this system. The wheel installs this as `wsdp`.
set -u
# The name of a build's folder is its DPDK: dpdk-22.11/wsdp.
for build in "$(dirname "$(readlink -f "$0")")"/../libexec/wirespeed/dpdk-*/wsdp; do
	folder=${build%/wsdp}
	releases=${releases:+$releases or }${folder##*-}
	if linked=$(ldd "$build" 2>&1); then
		absent=$(echo "$linked" | sed -n 's/^[[:space:]]*//; /not found/p')
		[ -n "$absent" ] || exec "$build" "$@"
	else
		absent=$linked
	fi
	case "$absent" in
	*librte_eal*) ;;
	# Its DPDK is there: what else is absent is what to install.
	*) lacking=${absent%%"
"*} ;;
	esac
done
install="on Debian and Ubuntu: apt-get install dpdk librte-meta-allpmds libmnl0 libpcap0.8"
if [ -n "${lacking:-}" ]; then
	echo "wsdp: a library is missing or too old ($lacking); install it, $install" >&2
	exit 127
fi
# librte_eal.so.24 is of DPDK 23.11: one ABI a year since 20.0 of 2019.
abi=$(ldconfig -p 2>/dev/null | sed -n 's/.*librte_eal\.so\.\([0-9]*\)[ .].*/\1/p' | sort -n | tail -n 1)
if [ -n "$abi" ]; then
	echo "wsdp: built for DPDK $releases, this system has DPDK $((abi - 1)).11 (ABI $abi); use the" \
		"container, or build wsdp from the source tree: make setup" >&2
else
	echo "wsdp: no DPDK $releases; install it, $install" >&2
fi
exit 127

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Install the Debian packages named in the given files, if any is missing. Installing Open vSwitch
# or PostgreSQL would normally start and enable a system service: what this script brings in is
# neither started nor enabled, and a service that was there before is left as it is. An entry A|B
# means: the first of these that this Debian has.
set -eu

installed() {
	dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q 'ok installed'
}

# The first of A|B|C that is installed, else the first that can be, else nothing.
choose() {
	names=$(echo "$1" | tr '|' ' ')
	for name in $names; do
		installed "$name" && echo "$name" && return
	done
	for name in $names; do
		apt-cache show "$name" >/dev/null 2>&1 && echo "$name" && return
	done
	echo "${names%% *}"
}

wanted=$(cat "$@" | sed 's/#.*//')
missing=""
for entry in $wanted; do
	package=$(choose "$entry")
	installed "$package" || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" -ne 0 ]; then
	echo "Missing Debian packages:$missing" >&2
	echo "Run this once as root: $0 $*" >&2
	exit 1
fi

policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
	printf '#!/bin/sh\nexit 101\n' >"$policy"
	chmod 755 "$policy"
	trap 'rm -f "$policy"' EXIT
	trap 'exit 130' INT TERM
fi

services_before=" "
for unit in openvswitch-switch ovsdb-server ovs-vswitchd postgresql; do
	[ -e "/lib/systemd/system/$unit.service" ] && services_before="$services_before$unit "
done

export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
# Package lists are there only now: choose again.
missing=""
for entry in $wanted; do
	package=$(choose "$entry")
	installed "$package" || missing="$missing $package"
done
echo "Installing$missing"
# shellcheck disable=SC2086  # the list is meant to be split
apt-get install -y -qq --no-install-recommends $missing >/dev/null

for unit in openvswitch-switch ovsdb-server ovs-vswitchd postgresql; do
	case "$services_before" in
	*" $unit "*) ;;
	*)
		if [ -e "/lib/systemd/system/$unit.service" ] && command -v systemctl >/dev/null; then
			systemctl --quiet disable "$unit.service" 2>/dev/null ||
				echo "Note: $unit.service could not be disabled; see systemctl status $unit" >&2
		fi
		;;
	esac
done

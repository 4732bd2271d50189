#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Install the Debian packages named in the given files, if any is missing. Installing Open vSwitch,
# libvirt, PostgreSQL, Prometheus, RabbitMQ, BIRD, FRR, Podman or sshd would normally start and enable
# a system service: what this script brings in is neither started nor enabled, and a service that was
# there before is left as it is. An entry A|B means: the first of these that this Debian has. An entry
# A>=VERSION that this Debian has only older comes from its backports, which are not added to the
# system's sources.
set -eu

installed() {
	found=$(dpkg-query -W -f '${Status} ${Version}' "${1%%>=*}" 2>/dev/null) || return 1
	case "$found" in
	*'ok installed '*) new_enough "${found##* }" "$1" ;;
	*) return 1 ;;
	esac
}

# Succeed when version $1 satisfies entry $2.
new_enough() {
	case "$2" in
	*'>='*) dpkg --compare-versions "$1" ge "${2##*>=}" ;;
	esac
}

# Succeed when only the backports have entry $1.
from_backports() {
	case "$1" in
	*'>='*) ;;
	*) return 1 ;;
	esac
	candidate=$(apt-cache policy "${1%%>=*}" | sed -n 's/^ *Candidate: //p')
	! new_enough "$candidate" "$1"
}

# Print the first of A|B|C that is installed, else the first available one, else nothing.
choose() {
	names=$(echo "$1" | tr '|' ' ')
	for name in $names; do
		installed "$name" && echo "$name" && return
	done
	for name in $names; do
		apt-cache show "${name%%>=*}" >/dev/null 2>&1 && echo "$name" && return
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

# One at a time: a second installation waits, then installs what is still missing.
[ -n "${locked:-}" ] || locked=yes exec flock --close /var/lib/dpkg "$0" "$@"

scratch=$(mktemp -d)
policy=/usr/sbin/policy-rc.d
ours=""
trap 'rm -rf "$scratch" $ours' EXIT
trap 'exit 130' INT TERM
if [ ! -e "$policy" ]; then
	ours=$policy
	printf '#!/bin/sh\nexit 101\n' >"$policy"
	chmod 755 "$policy"
fi

units="openvswitch-switch ovsdb-server ovs-vswitchd postgresql ssh libvirtd virtlogd virtlockd
	libvirt-guests grub-common grub-initrd-fallback rabbitmq-server epmd mariadb prometheus bird frr podman
	podman-restart podman-auto-update"
# Any kind: libvirt and Podman also have sockets and timers that would start a service.
existing() {
	for kind in service socket timer; do
		for unit in $units libvirtd-ro libvirtd-admin virtlogd-admin virtlockd-admin; do
			[ -e "/lib/systemd/system/$unit.$kind" ] && echo "$unit.$kind"
		done
	done
	return 0
}
units_before=" $(existing | tr '\n' ' ')"

export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
# Package lists are there only now: choose again.
missing=""
newer=""
for entry in $wanted; do
	package=$(choose "$entry")
	installed "$package" && continue
	if from_backports "$package"; then
		newer="$newer ${package%%>=*}"
	else
		missing="$missing ${package%%>=*}"
	fi
done
[ -n "$missing$newer" ] || exit 0
echo "Installing$missing$newer"
install="apt-get install -y -qq --no-install-recommends"
if [ -n "$newer" ]; then
	# Sources and lists of its own, so that the system's stay as they are.
	mkdir "$scratch/parts" "$scratch/lists"
	cp -a /etc/apt/sources.list.d/. "$scratch/parts/"
	setup_directory=$(dirname "$0")
	"$setup_directory/backports-source.sh" >"$scratch/parts/wirespeed-backports.list"
	chmod 755 "$scratch" "$scratch/parts" "$scratch/lists"
	own="-o Dir::Etc::sourceparts=$scratch/parts -o Dir::State::lists=$scratch/lists"
	# shellcheck disable=SC1091  # the host's own
	suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
	# shellcheck disable=SC2086  # the lists are meant to be split
	apt-get $own update -qq
	# shellcheck disable=SC2086
	$install $own -t "$suite-backports" $newer >/dev/null
fi
# shellcheck disable=SC2086
[ -z "$missing" ] || $install $missing >/dev/null

for unit in $(existing); do
	case "$units_before" in
	*" $unit "*) ;;
	*)
		command -v systemctl >/dev/null || continue
		systemctl --quiet disable "$unit" 2>/dev/null ||
			echo "Note: $unit could not be disabled; see systemctl status $unit" >&2
		;;
	esac
done

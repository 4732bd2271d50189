#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Run a command in this source tree on Debian 13: setup/debian13.sh ROOT COMMAND [ARGUMENT...]
#
# ROOT is a name for a root directory and its package lists: `short` has what measuring needs, `deb`
# what building Debian packages needs, `whole` what all tests need. Each is made once for a state of the lists, from the mirror that this
# host's apt reads, and kept in build/debian13, as are the virtual environment and builds made there.
# The command runs as root in its own mount and PID namespaces. Its changes to the root's files are
# a layer that the next run discards; processes and mounts end with this script, whatever ends it.
# Kernel, network and huge pages are this host's. The journals of changes to them are, too: what a
# killed command left is undone when its last process has ended.
set -euo pipefail

suite=trixie
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
# What every installed Debian has, or make and the tests need; packages-*.txt do not name it.
usual=ca-certificates,git,less,make,procps,python3,systemd,udev

fail() {
	echo "setup/debian13.sh: $2" >&2
	exit "$1"
}

# apt-get replaces the $(WORD).
# shellcheck disable=SC2016
mirror_of() {
	apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' "Release: $1" \
		'Component: main' | head -n 1
}

make_root() {
	local host_suite mirror security scratch=$root.new log=$home/$name.log
	# shellcheck disable=SC1091  # the host's own
	host_suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
	mirror=$(mirror_of "$host_suite")
	security=$(mirror_of "$host_suite-security")
	[ -n "$mirror" ] || fail 1 "apt has no package list of $host_suite; run apt-get update"
	echo "Making ${root#"$PWD"/}"
	rm -rf "$home/$name-"*
	{
		echo "deb [signed-by=$keyring] $mirror $suite main"
		echo "deb [signed-by=$keyring] $mirror $suite-updates main"
		[ -z "$security" ] || echo "deb [signed-by=$keyring] $security $suite-security main"
	} >"$home/sources.list"
	# Nobody reads its documentation; a root that a power cut damages is made again. Building packages
	# asks apt what this Debian has.
	if ! mmdebstrap --mode=root --variant=minbase --format=directory --skip=cleanup/apt/lists \
		--aptopt='APT::Install-Recommends "false"' --aptopt='APT::Sandbox::User "root"' \
		--dpkgopt=force-unsafe-io --dpkgopt='path-exclude=/usr/share/doc/*' \
		--dpkgopt='path-exclude=/usr/share/locale/*' --dpkgopt='path-exclude=/usr/share/man/*' \
		--include="$usual,$packages" "$suite" "$scratch" "$home/sources.list" >"$log" 2>&1; then
		tail -n 20 "$log" >&2
		fail 1 "mmdebstrap failed; see ${log#"$PWD"/}"
	fi
	mv "$scratch" "$root"
}

# Copy the files that git knows or would add, and remove those that it no longer does. What was
# built there before stays.
copy_sources() {
	local old=$home/files new=$home/files.new
	mkdir -p "$home/src"
	git ls-files -z --cached --others --exclude-standard | LC_ALL=C sort -z |
		while IFS= read -r -d '' file; do
			if [ -e "$file" ] || [ -L "$file" ]; then
				printf '%s\0' "$file"
			fi
		done >"$new"
	touch "$old"
	LC_ALL=C comm -z -23 "$old" "$new" | (cd "$home/src" && xargs -0 -r rm -f --)
	tar --create --null --files-from="$new" | tar --extract --directory="$home/src"
	mv "$new" "$old"
}

enter() {
	setpriv --pdeathsig KILL unshare --mount --pid --fork --kill-child \
		setup/debian13-inside.sh "$@"
}

# Undo what a command left that could not. Standard input ends when all its processes have.
# shellcheck disable=SC2317  # called by main
undo() {
	cat >/dev/null
	if [ -n "$(ls "$state/journal")" ] && [ -x "$home/src/.venv/bin/wirespeed" ]; then
		enter .venv/bin/wirespeed clean
	fi
}

main() {
	local setup=setup/packages undoing status=0
	declare -A lists=(
		[short]="$setup-run.txt"
		[deb]="$setup-run.txt $setup-deb.txt $setup-rust.txt"
		[whole]="$setup-run.txt $setup-dev.txt $setup-guests.txt $setup-npm.txt
			$setup-rust.txt $setup-openstack.txt"
	)
	name=${1:-none}
	[ -n "${lists[$name]:-}" ] || fail 2 "no root $name; give short, deb or whole"
	[ $# -ge 2 ] || fail 2 "no command; give one after the root's name"
	shift
	[ "$(id -u)" -eq 0 ] || fail 1 "mounts need root; run it as root"

	# The names of Debian 13: the first of A|B, in any version.
	# shellcheck disable=SC2086  # the lists are meant to be split
	packages=$(sed 's/#.*//; s/[|>].*//; /^$/d' ${lists[$name]} | sort -u | paste -sd,)
	home=$PWD/build/debian13
	root=$home/$name-$(echo "$suite $usual $packages" | sha256sum | cut -c 1-12)
	state=${XDG_STATE_HOME:-$HOME/.local/state}/wirespeed
	mkdir -p "$home" "$state/journal"

	exec 9>"$home/lock"
	flock --nonblock 9 || {
		echo "Another run uses build/debian13; waiting for its end"
		flock 9
	}
	[ -d "$root" ] || make_root
	copy_sources
	# It keeps the lock, and is not in the session that a terminal or a CI system ends.
	export home root state
	export -f enter undo
	exec 8> >(exec setsid bash -c undo)
	undoing=$!
	enter "$@" || status=$?
	exec 8>&-
	wait "$undoing" || status=1
	exit "$status"
}

cd "$(dirname "$0")/.."
main "$@"

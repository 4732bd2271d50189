#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Print a line of a sources.list for the backports of this Debian, from the mirror of its own
# packages and with Debian's keys; nothing where apt reads the backports already.
set -eu

# shellcheck disable=SC1091  # the host's own
suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
# apt-get replaces the $(WORD).
# shellcheck disable=SC2016
targets() {
	apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' "Release: $1" \
		'Component: main'
}

[ -z "$(targets "$suite-backports")" ] || exit 0
key=/usr/share/keyrings/debian-archive-keyring.gpg
mirror=$(targets "$suite" | head -n 1)
[ -z "$mirror" ] || echo "deb [signed-by=$key] $mirror $suite-backports main"

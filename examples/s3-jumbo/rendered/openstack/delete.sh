#!/bin/bash
# Plan s3-jumbo: removes what create.sh makes, as far as it got; properties of images stay.
# Needs an administrator's credentials in the environment.
set -euo pipefail

fail() {
	echo "delete.sh: $*" >&2
	exit 1
}

openstack token issue -f value -c expires >/dev/null ||
	fail "Keystone at ${OS_AUTH_URL:-(OS_AUTH_URL is not set)} did not accept the credentials in the environment (OS_*)"

existing() { # NAMES..., of this kind; leaves in names those that there are
	local found
	# Where a condition asks, a failure would count as "none".
	found=$(openstack "${kind[@]}" list "${more[@]}" -f value -c Name) || exit 1
	names=()
	for name in "$@"; do
		if grep -qxF -- "$name" <<<"$found"; then names+=("$name"); fi
	done
	[ ${#names[@]} -gt 0 ]
}

kind=(server) more=(--limit -1)
if existing spirent-1 spirent-2; then
	openstack server delete "${names[@]}"
	deadline=$((SECONDS + 300))
	# The client's own --wait looks every five seconds, at one server after the other.
	while existing "${names[@]}"; do
		[ "$SECONDS" -lt "$deadline" ] ||
			fail "after 300 s still there: ${names[*]}: see \`openstack server show\` of each, then run this again"
		sleep 1
	done
fi
kind=(port) more=()
if existing spirent-1-east spirent-1-west spirent-2-east spirent-2-west; then
	openstack port delete "${names[@]}"
fi
kind=(network) more=()
if existing tenant0 tenant1; then
	openstack network delete "${names[@]}"
fi
kind=(flavor) more=(--all)
if existing spirent; then
	openstack flavor delete "${names[@]}"
fi

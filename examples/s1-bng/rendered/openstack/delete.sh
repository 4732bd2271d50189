#!/bin/bash
# Plan s1-bng: removes what create.sh makes, as far as it got; properties of images stay.
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
if existing bng ipsec-gw; then
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
if existing bng-cpe bng-inet; then
	openstack port delete "${names[@]}"
fi
kind=(network) more=()
if existing NFV-network; then
	openstack network delete "${names[@]}"
fi
kind=(aggregate) more=()
if existing nfv-aggregate; then
	members=$(openstack aggregate show nfv-aggregate -f json -c hosts)
	if grep -qF '"s1-dppd"' <<<"$members"; then
		openstack aggregate remove host nfv-aggregate s1-dppd >/dev/null
	fi
	openstack aggregate delete nfv-aggregate
fi
kind=(flavor) more=(--all)
if existing bng ipsec-gw; then
	openstack flavor delete "${names[@]}"
fi

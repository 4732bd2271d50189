#!/bin/bash
# Plan lab: removes what create.sh makes, as far as it got; properties of images stay.
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
if existing gateway-1 gateway-2 ids monitor cache-1 cache-2 vpn; then
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
if existing gateway-1-access gateway-1-core gateway-2-access gateway-2-core ids-in monitor-mgmt cache-1-core cache-2-core; then
	openstack port delete "${names[@]}"
fi
kind=(server group) more=()
if existing 'gateways apart'; then
	openstack server group delete "${names[@]}"
fi
kind=(network) more=()
if existing access; then
	openstack network delete "${names[@]}"
fi
kind=(aggregate) more=()
if existing nfv; then
	members=$(openstack aggregate show nfv -f json -c hosts)
	if grep -qF '"compute-1"' <<<"$members"; then
		openstack aggregate remove host nfv compute-1 >/dev/null
	fi
	if grep -qF '"compute-2"' <<<"$members"; then
		openstack aggregate remove host nfv compute-2 >/dev/null
	fi
	openstack aggregate delete nfv
fi
kind=(flavor) more=(--all)
if existing gateway cache ids vpn monitor giant; then
	openstack flavor delete "${names[@]}"
fi

#!/bin/bash
# Plan s1-bng: flavors, networks, aggregates and servers, in the order of the plan.
# Needs an administrator's credentials in the environment. Cut anywhere, it goes on when run again:
# what exists is left as it is, and what exists but differs is refused. delete.sh undoes it.
set -euo pipefail

fail() {
	echo "create.sh: $*" >&2
	exit 1
}

has() { # NAME LINES
	grep -qxF -- "$1" <<<"$2"
}

openstack token issue -f value -c expires >/dev/null ||
	fail "Keystone at ${OS_AUTH_URL:-(OS_AUTH_URL is not set)} did not accept the credentials in the environment (OS_*)"
flavors=$(openstack flavor list --all -f value -c Name)
aggregates=$(openstack aggregate list -f value -c Name)
networks=$(openstack network list -f value -c Name)
subnets=$(openstack subnet list -f value -c Name)
ports=$(openstack port list -f value -c Name)
servers=$(openstack server list --limit -1 -f value -c Name)

flavor() { # NAME VCPUS MIB GIB PROPERTIES...
	local name=$1 found wanted
	wanted=$(printf '%s="%s"\n' disk "$4" ram "$3" vcpus "$2")
	if has "$name" "$flavors"; then
		found=$(openstack flavor show "$name" -f shell -c disk -c ram -c vcpus | sort)
		[ "$found" = "$wanted" ] ||
			fail "flavor $name exists with ${found//$'\n'/ }, the plan has ${wanted//$'\n'/ }: delete or rename it"
		[ $# = 4 ] || openstack flavor set "$name" "${@:5}"
	else
		openstack flavor create "$name" --vcpus "$2" --ram "$3" --disk "$4" "${@:5}" >/dev/null
	fi
}

aggregate() { # NAME
	name=$1
	has "$name" "$aggregates" || openstack aggregate create "$name" >/dev/null
	shown=$(openstack aggregate show "$name" -f json -c hosts -c properties)
}

property() { # KEY VALUE, of the aggregate: in JSON, and as words
	local line
	while read -r line; do
		case $line in
		"$1: $2" | "$1: $2,") return ;;
		"$1: "*) fail "aggregate $name exists with ${line%,}, the plan has $2: other flavors may rely on it, so change it yourself or name another aggregate" ;;
		esac
	done <<<"$shown"
	openstack aggregate set "$name" --property "$3"
}

member() { # HOST
	grep -qF -- "\"$1\"" <<<"$shown" || openstack aggregate add host "$name" "$1" >/dev/null
}

port() { # NAME ARGUMENTS...
	has "$1" "$ports" || openstack port create "$@" >/dev/null
}

shown_server() { # NAME FIELD
	openstack server show "$1" -f value -c "$2"
}

# The scheduler takes seconds. A request whose message was lost, as RabbitMQ restarted for example,
# leaves the server with it for ever.
scheduled_s=${WIRESPEED_SCHEDULED_S:-120}

await_built() { # NAME; sets status, and fails for a server that no host took in time
	local deadline=$((SECONDS + scheduled_s))
	while status=$(shown_server "$1" status) && [ "$status" = BUILD ]; do
		[ "$SECONDS" -lt "$deadline" ] ||
			[ "$(shown_server "$1" OS-EXT-STS:task_state)" != scheduling ] || return 1
		sleep 1
	done
}

create_server() { # NAME HOST ARGUMENTS...
	# Naming the host (microversion 2.74) still asks the scheduler's filters.
	openstack --os-compute-api-version 2.74 server create "$1" --host "$2" "${@:3}" >/dev/null
}

server() { # NAME HOST ARGUMENTS...
	local name=$1 host=$2 status fault
	if has "$name" "$servers"; then
		status=$(shown_server "$name" status)
		# Nothing ever ran in a server that was not launched.
		if [ "$status" = ERROR ] && [ "$(shown_server "$name" OS-SRV-USG:launched_at)" = None ]; then
			openstack server delete --wait "$name"
			servers=$(grep -vxF -- "$name" <<<"$servers" || true)
		fi
	fi
	has "$name" "$servers" || create_server "$@"
	if ! await_built "$name"; then
		openstack server delete --wait "$name"
		create_server "$@"
		await_built "$name" ||
			fail "server $name had no host $scheduled_s s after it was requested, twice: look at the logs of nova-conductor and nova-scheduler, then run this again"
	fi
	[ "$status" = ACTIVE ] && return
	fault=$(openstack server show "$name" -f json -c fault | sed -n 's/.*"message": "\(.*\)",\{0,1\}$/\1/p')
	fail "server $name on $host is $status: $fault" \
		"(nova-compute there: $(openstack compute service list --service nova-compute --host "$host" -f value -c Status -c State)). Mend the cause and run this again"
}

specs=(
	# ties the flavor to its host aggregate (S1)
	--property aggregate_instance_extra_specs:nfv=true
	# vCPUs get host CPUs of their own where the workload pins them (S0, S1)
	--property hw:cpu_policy=dedicated
	# prefer: how vCPUs use SMT siblings (Nova's spelling, not S0's)
	--property hw:cpu_thread_policy=prefer
	# emulator threads stay on cpu_shared_set, off the pinned CPUs (S3, Red Hat)
	--property hw:emulator_threads_policy=share
	# page_size of the workload (S0, S1, S3)
	--property hw:mem_page_size=1048576
)
flavor bng 16 4096 20 "${specs[@]}"
specs=(
	# ties the flavor to its host aggregate (S1)
	--property aggregate_instance_extra_specs:nfv=true
	# emulator threads stay on cpu_shared_set, off the pinned CPUs (S3, Red Hat)
	--property hw:emulator_threads_policy=share
	# page_size of the workload (S0, S1, S3)
	--property hw:mem_page_size=large
	# on which NUMA nodes its devices may be
	--property hw:pci_numa_affinity_policy=required
	# the devices of [pci]alias in nova.conf (S1)
	--property pci_passthrough:alias=QuickAssist:1
	# cpu_features of the workload (S1)
	--property trait:HW_CPU_X86_AESNI=required
)
flavor ipsec-gw 8 2048 20 "${specs[@]}"
openstack image set ipsec-gw \
	--property hw_cpu_policy=dedicated \
	--property hw_cpu_thread_policy=prefer


aggregate nfv-aggregate
property '"nfv"' '"true"' nfv=true
member s1-dppd

has NFV-network "$networks" || openstack network create NFV-network \
	--provider-physical-network physnetNFV --provider-network-type vlan --provider-segment 50 \
	--mtu 1500 --transparent-vlan >/dev/null
has NFV-network-subnet "$subnets" || openstack subnet create NFV-network-subnet \
	--network NFV-network --subnet-range 192.168.50.0/24 >/dev/null

# north-south: a VF scales with the guests and costs the vSwitch nothing (S2 section 5)
port bng-cpe --network NFV-network \
	--vnic-type direct --mac-address fa:16:3e:00:00:00 --disable-port-security --no-security-group
# north-south: a VF scales with the guests and costs the vSwitch nothing (S2 section 5)
port bng-inet --network NFV-network \
	--vnic-type direct --mac-address fa:16:3e:00:00:01 --disable-port-security --no-security-group
server bng s1-dppd --flavor bng --image dppd \
	--port bng-cpe \
	--port bng-inet

server ipsec-gw s1-dppd --flavor ipsec-gw --image ipsec-gw \
	--nic none

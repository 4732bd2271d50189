#!/bin/bash
# Plan lab: flavors, networks, aggregates and servers, in the order of the plan.
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
groups=$(openstack server group list -f value -c Name)
servers=$(openstack server list --limit -1 -f value -c Name)

# These have no cidr in the workload, so they are there already. Nova takes no port without an address.
for network in core service; do
	{ has "$network" "$networks" && [ -n "$(openstack subnet list --network "$network" -f value -c Name)" ]; } ||
		fail "there is no network $network with a subnet: make it, or give it a cidr in the workload, then plan again"
done

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
	# ties the flavor to its host aggregate (S1)
	--property 'aggregate_instance_extra_specs:tier name=gold'"'"'s'
	# CPU features for which there is no trait (S1)
	--property 'capabilities:cpu_info:features=<all-in> rdrand'
	# vCPUs get host CPUs of their own where the workload pins them (S0, S1)
	--property hw:cpu_policy=dedicated
	# require: how vCPUs use SMT siblings (Nova's spelling, not S0's)
	--property hw:cpu_thread_policy=require
	# emulator threads get one more dedicated CPU (S3)
	--property hw:emulator_threads_policy=isolate
	# page_size of the workload (S0, S1, S3)
	--property hw:mem_page_size=1048576
	# how many NUMA nodes the guest sees; hw:numa_cpus needs it
	--property hw:numa_nodes=2
	# one virtio queue for each vCPU (S3, figure 10)
	--property hw:vif_multiqueue_enabled=true
	# cpu_features of the workload (S1)
	--property trait:HW_CPU_X86_AESNI=required
	# cpu_features of the workload (S1)
	--property trait:HW_CPU_X86_AVX512F=required
)
flavor gateway 6 8192 20 "${specs[@]}"
specs=(
	# the vCPUs that are pinned; the others float
	--property hw:cpu_dedicated_mask=1-3
	# vCPUs get host CPUs of their own where the workload pins them (S0, S1)
	--property hw:cpu_policy=mixed
	# emulator threads stay on cpu_shared_set, off the pinned CPUs (S3, Red Hat)
	--property hw:emulator_threads_policy=share
	# page_size of the workload (S0, S1, S3)
	--property hw:mem_page_size=large
)
flavor cache 4 4096 20 "${specs[@]}"
openstack image set guest \
	--property hw_vif_multiqueue_enabled=true \
	--property os_distro=debian

specs=(
	# vCPUs get host CPUs of their own where the workload pins them (S0, S1)
	--property hw:cpu_policy=dedicated
	# emulator threads stay on cpu_shared_set, off the pinned CPUs (S3, Red Hat)
	--property hw:emulator_threads_policy=share
	# page_size of the workload (S0, S1, S3)
	--property hw:mem_page_size=2048
)
flavor ids 4 4096 20 "${specs[@]}"
specs=(
	# vCPUs get host CPUs of their own where the workload pins them (S0, S1)
	--property hw:cpu_policy=dedicated
	# emulator threads stay on cpu_shared_set, off the pinned CPUs (S3, Red Hat)
	--property hw:emulator_threads_policy=share
	# page_size of the workload (S0, S1, S3)
	--property hw:mem_page_size=1048576
	# on which NUMA nodes its devices may be
	--property hw:pci_numa_affinity_policy=required
	# the devices of [pci]alias in nova.conf (S1)
	--property pci_passthrough:alias=qat:1
)
flavor vpn 2 2048 20 "${specs[@]}"
specs=(
)
flavor monitor 2 1024 20 "${specs[@]}"
specs=(
	# vCPUs get host CPUs of their own where the workload pins them (S0, S1)
	--property hw:cpu_policy=dedicated
	# emulator threads stay on cpu_shared_set, off the pinned CPUs (S3, Red Hat)
	--property hw:emulator_threads_policy=share
	# page_size of the workload (S0, S1, S3)
	--property hw:mem_page_size=1048576
)
flavor giant 40 4608 20 "${specs[@]}"

aggregate nfv
property '"nfv"' '"true"' nfv=true
property '"tier name"' '"gold'"'"'s"' 'tier name=gold'"'"'s'
member compute-1
member compute-2

has access "$networks" || openstack network create access \
	--provider-physical-network physnet1 --provider-network-type vlan --provider-segment 100 \
	--mtu 9000 >/dev/null
has access-subnet "$subnets" || openstack subnet create access-subnet \
	--network access --subnet-range 10.1.0.0/24 >/dev/null

has 'gateways apart' "$groups" || openstack server group create 'gateways apart' --policy anti-affinity >/dev/null
group_1=$(openstack server group show 'gateways apart' -f value -c id)

# north-south, but no NIC of its network offers VFs on these hosts
port gateway-1-access --network access \
	--vnic-type normal --mac-address fa:16:3e:00:00:00 --disable-port-security --no-security-group
# kind of the port in the workload
port gateway-1-core --network core \
	--vnic-type direct --mac-address fa:16:3e:00:00:01
group=$group_1
server gateway-1 compute-1 --flavor gateway --image guest --hint "group=$group" \
	--port gateway-1-access \
	--port gateway-1-core

# north-south, but no NIC of its network offers VFs on these hosts
port gateway-2-access --network access \
	--vnic-type normal --mac-address fa:16:3e:00:00:02 --disable-port-security --no-security-group
# kind of the port in the workload
port gateway-2-core --network core \
	--vnic-type direct --mac-address fa:16:3e:00:00:03
group=$group_1
server gateway-2 compute-2 --flavor gateway --image guest --hint "group=$group" \
	--port gateway-2-access \
	--port gateway-2-core

# east-west over 2 hop(s): VFs would put 4.9 Gbit/s on PCIe in each direction; vhost-user only crosses memory (S2 section 4.2)
port ids-in --network service \
	--vnic-type normal --mac-address fa:16:3e:00:00:06
server ids compute-1 --flavor ids --image guest \
	--port ids-in

# kind of the port in the workload
port monitor-mgmt --network service \
	--vnic-type normal --mac-address fa:16:3e:00:00:07
server monitor compute-1 --flavor monitor --image guest \
	--port monitor-mgmt

# kind of the port in the workload
port cache-1-core --network core \
	--vnic-type macvtap --mac-address fa:16:3e:00:00:04
server cache-1 edge-1 --flavor cache --image guest \
	--port cache-1-core

# kind of the port in the workload
port cache-2-core --network core \
	--vnic-type macvtap --mac-address fa:16:3e:00:00:05
server cache-2 edge-1 --flavor cache --image guest \
	--port cache-2-core

server vpn edge-1 --flavor vpn --image guest \
	--nic none

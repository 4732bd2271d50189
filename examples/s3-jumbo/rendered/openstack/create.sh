#!/bin/bash
# Plan s3-jumbo: flavors, networks, aggregates and servers, in the order of the plan.
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
	# vCPUs get host CPUs of their own where the workload pins them (S0, S1)
	--property hw:cpu_policy=dedicated
	# require: how vCPUs use SMT siblings (Nova's spelling, not S0's)
	--property hw:cpu_thread_policy=require
	# emulator threads get one more dedicated CPU (S3)
	--property hw:emulator_threads_policy=isolate
	# page_size of the workload (S0, S1, S3)
	--property hw:mem_page_size=large
	# how many NUMA nodes the guest sees; hw:numa_cpus needs it
	--property hw:numa_nodes=1
	# one virtio queue for each vCPU (S3, figure 10)
	--property hw:vif_multiqueue_enabled=true
)
flavor spirent 4 8192 20 "${specs[@]}"

has tenant0 "$networks" || openstack network create tenant0 \
	--provider-physical-network physnet0 --provider-network-type vlan --provider-segment 100 \
	--mtu 9000 >/dev/null
has tenant0-subnet "$subnets" || openstack subnet create tenant0-subnet \
	--network tenant0 --subnet-range 10.10.0.0/24 >/dev/null

has tenant1 "$networks" || openstack network create tenant1 \
	--provider-physical-network physnet1 --provider-network-type vlan --provider-segment 200 \
	--mtu 9000 >/dev/null
has tenant1-subnet "$subnets" || openstack subnet create tenant1-subnet \
	--network tenant1 --subnet-range 10.20.0.0/24 >/dev/null

# kind of the port in the workload
port spirent-1-east --network tenant0 \
	--vnic-type normal --mac-address fa:16:3e:00:00:00
# kind of the port in the workload
port spirent-1-west --network tenant1 \
	--vnic-type normal --mac-address fa:16:3e:00:00:01
server spirent-1 s3-r740xd --flavor spirent --image spirent-testcenter \
	--port spirent-1-east \
	--port spirent-1-west

# kind of the port in the workload
port spirent-2-east --network tenant0 \
	--vnic-type normal --mac-address fa:16:3e:00:00:02
# kind of the port in the workload
port spirent-2-west --network tenant1 \
	--vnic-type normal --mac-address fa:16:3e:00:00:03
server spirent-2 s3-r740xd --flavor spirent --image spirent-testcenter \
	--port spirent-2-east \
	--port spirent-2-west

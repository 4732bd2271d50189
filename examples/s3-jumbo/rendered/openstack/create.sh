#!/bin/bash
# Plan s3-jumbo: flavors, networks, aggregates and servers, in the order of the plan.
# What exists is left as it is. Needs an administrator's credentials in the environment.
set -euo pipefail

exists() {
	openstack "$@" >/dev/null 2>&1
}

exists flavor show spirent || openstack flavor create spirent \
	--vcpus 4 --ram 8192 --disk 20
# vCPUs get host CPUs of their own where the workload pins them (S0, S1)
openstack flavor set spirent --property hw:cpu_policy=dedicated
# require: how vCPUs use SMT siblings (Nova's spelling, not S0's)
openstack flavor set spirent --property hw:cpu_thread_policy=require
# emulator threads get one more dedicated CPU (S3)
openstack flavor set spirent --property hw:emulator_threads_policy=isolate
# page_size of the workload (S0, S1, S3)
openstack flavor set spirent --property hw:mem_page_size=large
# how many NUMA nodes the guest sees; hw:numa_cpus needs it
openstack flavor set spirent --property hw:numa_nodes=1
# one virtio queue for each vCPU (S3, figure 10)
openstack flavor set spirent --property hw:vif_multiqueue_enabled=true

exists network show tenant0 || openstack network create tenant0 \
	--provider-physical-network physnet0 --provider-network-type vlan --provider-segment 100 \
	--mtu 9000
exists subnet show tenant0-subnet || openstack subnet create tenant0-subnet \
	--network tenant0 --subnet-range 10.10.0.0/24

exists network show tenant1 || openstack network create tenant1 \
	--provider-physical-network physnet1 --provider-network-type vlan --provider-segment 200 \
	--mtu 9000
exists subnet show tenant1-subnet || openstack subnet create tenant1-subnet \
	--network tenant1 --subnet-range 10.20.0.0/24

# kind of the port in the workload
exists port show spirent-1-east || openstack port create spirent-1-east --network tenant0 \
	--vnic-type normal --mac-address fa:16:3e:00:00:00
# kind of the port in the workload
exists port show spirent-1-west || openstack port create spirent-1-west --network tenant1 \
	--vnic-type normal --mac-address fa:16:3e:00:00:01
# Naming the host (microversion 2.74) still asks the scheduler's filters.
exists server show spirent-1 || openstack --os-compute-api-version 2.74 server create spirent-1 \
	--flavor spirent --image spirent-testcenter --host s3-r740xd \
	--port spirent-1-east \
	--port spirent-1-west \
	--wait

# kind of the port in the workload
exists port show spirent-2-east || openstack port create spirent-2-east --network tenant0 \
	--vnic-type normal --mac-address fa:16:3e:00:00:02
# kind of the port in the workload
exists port show spirent-2-west || openstack port create spirent-2-west --network tenant1 \
	--vnic-type normal --mac-address fa:16:3e:00:00:03
# Naming the host (microversion 2.74) still asks the scheduler's filters.
exists server show spirent-2 || openstack --os-compute-api-version 2.74 server create spirent-2 \
	--flavor spirent --image spirent-testcenter --host s3-r740xd \
	--port spirent-2-east \
	--port spirent-2-west \
	--wait


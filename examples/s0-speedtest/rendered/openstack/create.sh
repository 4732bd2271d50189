#!/bin/bash
# Plan s0-speedtest: flavors, networks, aggregates and servers, in the order of the plan.
# What exists is left as it is. Needs an administrator's credentials in the environment.
set -euo pipefail

exists() {
	openstack "$@" >/dev/null 2>&1
}

exists flavor show iperf3 || openstack flavor create iperf3 \
	--vcpus 4 --ram 4096 --disk 20
# vCPUs get host CPUs of their own where the workload pins them (S0, S1)
openstack flavor set iperf3 --property hw:cpu_policy=dedicated
# prefer: how vCPUs use SMT siblings (Nova's spelling, not S0's)
openstack flavor set iperf3 --property hw:cpu_thread_policy=prefer
# emulator threads stay on cpu_shared_set, off the pinned CPUs (S3, Red Hat)
openstack flavor set iperf3 --property hw:emulator_threads_policy=share
# page_size of the workload (S0, S1, S3)
openstack flavor set iperf3 --property hw:mem_page_size=large
# the guest's NUMA layout in the workload (S1)
openstack flavor set iperf3 --property hw:numa_cpus.0=0-3
# the guest's NUMA layout in the workload (S1)
openstack flavor set iperf3 --property hw:numa_mem.0=4096
# how many NUMA nodes the guest sees; hw:numa_cpus needs it
openstack flavor set iperf3 --property hw:numa_nodes=1
# one virtio queue for each vCPU (S3, figure 10)
openstack flavor set iperf3 --property hw:vif_multiqueue_enabled=true

exists network show vlan2 || openstack network create vlan2 \
	--provider-physical-network physnet1 --provider-network-type vlan --provider-segment 2 \
	--mtu 1500
exists subnet show vlan2-subnet || openstack subnet create vlan2-subnet \
	--network vlan2 --subnet-range 10.0.2.0/24

# kind of the port in the workload
exists port show iperf3-1-eth0 || openstack port create iperf3-1-eth0 --network vlan2 \
	--vnic-type normal --mac-address fa:16:3e:00:00:00
# Naming the host (microversion 2.74) still asks the scheduler's filters.
exists server show iperf3-1 || openstack --os-compute-api-version 2.74 server create iperf3-1 \
	--flavor iperf3 --image centos7-4.5.4 --host s0-compute \
	--port iperf3-1-eth0 \
	--wait

# kind of the port in the workload
exists port show iperf3-2-eth0 || openstack port create iperf3-2-eth0 --network vlan2 \
	--vnic-type normal --mac-address fa:16:3e:00:00:01
# Naming the host (microversion 2.74) still asks the scheduler's filters.
exists server show iperf3-2 || openstack --os-compute-api-version 2.74 server create iperf3-2 \
	--flavor iperf3 --image centos7-4.5.4 --host s0-compute \
	--port iperf3-2-eth0 \
	--wait


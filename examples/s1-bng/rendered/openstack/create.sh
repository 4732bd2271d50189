#!/bin/bash
# Plan s1-bng: flavors, networks, aggregates and servers, in the order of the plan.
# What exists is left as it is. Needs an administrator's credentials in the environment.
set -euo pipefail

exists() {
	openstack "$@" >/dev/null 2>&1
}

exists flavor show bng || openstack flavor create bng \
	--vcpus 16 --ram 4096 --disk 20
# ties the flavor to its host aggregate (S1)
openstack flavor set bng --property aggregate_instance_extra_specs:nfv=true
# vCPUs get host CPUs of their own where the workload pins them (S0, S1)
openstack flavor set bng --property hw:cpu_policy=dedicated
# prefer: how vCPUs use SMT siblings (Nova's spelling, not S0's)
openstack flavor set bng --property hw:cpu_thread_policy=prefer
# emulator threads stay on cpu_shared_set, off the pinned CPUs (S3, Red Hat)
openstack flavor set bng --property hw:emulator_threads_policy=share
# page_size of the workload (S0, S1, S3)
openstack flavor set bng --property hw:mem_page_size=1048576

exists flavor show ipsec-gw || openstack flavor create ipsec-gw \
	--vcpus 8 --ram 2048 --disk 20
# ties the flavor to its host aggregate (S1)
openstack flavor set ipsec-gw --property aggregate_instance_extra_specs:nfv=true
# emulator threads stay on cpu_shared_set, off the pinned CPUs (S3, Red Hat)
openstack flavor set ipsec-gw --property hw:emulator_threads_policy=share
# page_size of the workload (S0, S1, S3)
openstack flavor set ipsec-gw --property hw:mem_page_size=large
# on which NUMA nodes its devices may be
openstack flavor set ipsec-gw --property hw:pci_numa_affinity_policy=required
# the devices of [pci]alias in nova.conf (S1)
openstack flavor set ipsec-gw --property pci_passthrough:alias=QuickAssist:1
# cpu_features of the workload (S1)
openstack flavor set ipsec-gw --property trait:HW_CPU_X86_AESNI=required
openstack image set ipsec-gw --property hw_cpu_policy=dedicated
openstack image set ipsec-gw --property hw_cpu_thread_policy=prefer

exists aggregate show nfv-aggregate || openstack aggregate create nfv-aggregate
openstack aggregate set nfv-aggregate --property nfv=true
openstack aggregate show nfv-aggregate -f json -c hosts | grep -q '"s1-dppd"' ||
	openstack aggregate add host nfv-aggregate s1-dppd

exists network show NFV-network || openstack network create NFV-network \
	--provider-physical-network physnetNFV --provider-network-type vlan --provider-segment 50 \
	--mtu 1500 --transparent-vlan
exists subnet show NFV-network-subnet || openstack subnet create NFV-network-subnet \
	--network NFV-network --subnet-range 192.168.50.0/24

# north-south: a VF scales with the guests and costs the vSwitch nothing (S2 section 5)
exists port show bng-cpe || openstack port create bng-cpe --network NFV-network \
	--vnic-type direct --mac-address fa:16:3e:00:00:00 --disable-port-security --no-security-group
# north-south: a VF scales with the guests and costs the vSwitch nothing (S2 section 5)
exists port show bng-inet || openstack port create bng-inet --network NFV-network \
	--vnic-type direct --mac-address fa:16:3e:00:00:01 --disable-port-security --no-security-group
# Naming the host (microversion 2.74) still asks the scheduler's filters.
exists server show bng || openstack --os-compute-api-version 2.74 server create bng \
	--flavor bng --image dppd --host s1-dppd \
	--port bng-cpe \
	--port bng-inet \
	--wait

# Naming the host (microversion 2.74) still asks the scheduler's filters.
exists server show ipsec-gw || openstack --os-compute-api-version 2.74 server create ipsec-gw \
	--flavor ipsec-gw --image ipsec-gw --host s1-dppd \
	--nic none \
	--wait


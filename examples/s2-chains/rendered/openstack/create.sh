#!/bin/bash
# Plan s2-chains: flavors, networks, aggregates and servers, in the order of the plan.
# What exists is left as it is. Needs an administrator's credentials in the environment.
set -euo pipefail

exists() {
	openstack "$@" >/dev/null 2>&1
}

exists flavor show router || openstack flavor create router \
	--vcpus 3 --ram 3072 --disk 20
# vCPUs get host CPUs of their own where the workload pins them (S0, S1)
openstack flavor set router --property hw:cpu_policy=dedicated
# emulator threads stay on cpu_shared_set, off the pinned CPUs (S3, Red Hat)
openstack flavor set router --property hw:emulator_threads_policy=share
# page_size of the workload (S0, S1, S3)
openstack flavor set router --property hw:mem_page_size=1048576

exists flavor show firewall || openstack flavor create firewall \
	--vcpus 3 --ram 3072 --disk 20
# vCPUs get host CPUs of their own where the workload pins them (S0, S1)
openstack flavor set firewall --property hw:cpu_policy=dedicated
# emulator threads stay on cpu_shared_set, off the pinned CPUs (S3, Red Hat)
openstack flavor set firewall --property hw:emulator_threads_policy=share
# page_size of the workload (S0, S1, S3)
openstack flavor set firewall --property hw:mem_page_size=1048576

exists flavor show dpi || openstack flavor create dpi \
	--vcpus 3 --ram 3072 --disk 20
# vCPUs get host CPUs of their own where the workload pins them (S0, S1)
openstack flavor set dpi --property hw:cpu_policy=dedicated
# emulator threads stay on cpu_shared_set, off the pinned CPUs (S3, Red Hat)
openstack flavor set dpi --property hw:emulator_threads_policy=share
# page_size of the workload (S0, S1, S3)
openstack flavor set dpi --property hw:mem_page_size=1048576

exists flavor show balancer || openstack flavor create balancer \
	--vcpus 3 --ram 3072 --disk 20
# vCPUs get host CPUs of their own where the workload pins them (S0, S1)
openstack flavor set balancer --property hw:cpu_policy=dedicated
# emulator threads stay on cpu_shared_set, off the pinned CPUs (S3, Red Hat)
openstack flavor set balancer --property hw:emulator_threads_policy=share
# page_size of the workload (S0, S1, S3)
openstack flavor set balancer --property hw:mem_page_size=1048576

exists flavor show netperf || openstack flavor create netperf \
	--vcpus 3 --ram 3072 --disk 20
# vCPUs get host CPUs of their own where the workload pins them (S0, S1)
openstack flavor set netperf --property hw:cpu_policy=dedicated
# emulator threads stay on cpu_shared_set, off the pinned CPUs (S3, Red Hat)
openstack flavor set netperf --property hw:emulator_threads_policy=share
# page_size of the workload (S0, S1, S3)
openstack flavor set netperf --property hw:mem_page_size=1048576

exists network show north-south || openstack network create north-south \
	--provider-physical-network physnet-ns --provider-network-type flat \
	--mtu 1500
exists subnet show north-south-subnet || openstack subnet create north-south-subnet \
	--network north-south --subnet-range 192.168.1.0/24

exists network show east-west || openstack network create east-west \
	--provider-physical-network physnet-ew --provider-network-type flat \
	--mtu 1500
exists subnet show east-west-subnet || openstack subnet create east-west-subnet \
	--network east-west --subnet-range 192.168.2.0/24

exists server group show service-chain || openstack server group create service-chain --policy affinity
# east-west over 3 hop(s): VFs would put 14.7 Gbit/s on PCIe in each direction; vhost-user only crosses memory (S2 section 4.2)
exists port show firewall-data || openstack port create firewall-data --network east-west \
	--vnic-type normal --mac-address fa:16:3e:00:00:03
group=$(openstack server group show service-chain -f value -c id)
# Naming the host (microversion 2.74) still asks the scheduler's filters.
exists server show firewall || openstack --os-compute-api-version 2.74 server create firewall \
	--flavor firewall --image testpmd --host s2-r730 --hint "group=$group" \
	--port firewall-data \
	--wait

# east-west over 3 hop(s): VFs would put 14.7 Gbit/s on PCIe in each direction; vhost-user only crosses memory (S2 section 4.2)
exists port show dpi-1-data || openstack port create dpi-1-data --network east-west \
	--vnic-type normal --mac-address fa:16:3e:00:00:04
group=$(openstack server group show service-chain -f value -c id)
# Naming the host (microversion 2.74) still asks the scheduler's filters.
exists server show dpi-1 || openstack --os-compute-api-version 2.74 server create dpi-1 \
	--flavor dpi --image testpmd --host s2-r730 --hint "group=$group" \
	--port dpi-1-data \
	--wait

# east-west over 3 hop(s): VFs would put 14.7 Gbit/s on PCIe in each direction; vhost-user only crosses memory (S2 section 4.2)
exists port show dpi-2-data || openstack port create dpi-2-data --network east-west \
	--vnic-type normal --mac-address fa:16:3e:00:00:05
group=$(openstack server group show service-chain -f value -c id)
# Naming the host (microversion 2.74) still asks the scheduler's filters.
exists server show dpi-2 || openstack --os-compute-api-version 2.74 server create dpi-2 \
	--flavor dpi --image testpmd --host s2-r730 --hint "group=$group" \
	--port dpi-2-data \
	--wait

# east-west over 3 hop(s): VFs would put 14.7 Gbit/s on PCIe in each direction; vhost-user only crosses memory (S2 section 4.2)
exists port show balancer-data || openstack port create balancer-data --network east-west \
	--vnic-type normal --mac-address fa:16:3e:00:00:06
group=$(openstack server group show service-chain -f value -c id)
# Naming the host (microversion 2.74) still asks the scheduler's filters.
exists server show balancer || openstack --os-compute-api-version 2.74 server create balancer \
	--flavor balancer --image testpmd --host s2-r730 --hint "group=$group" \
	--port balancer-data \
	--wait

# north-south: a VF scales with the guests and costs the vSwitch nothing (S2 section 5)
exists port show router-1-data || openstack port create router-1-data --network north-south \
	--vnic-type direct --mac-address fa:16:3e:00:00:00
# Naming the host (microversion 2.74) still asks the scheduler's filters.
exists server show router-1 || openstack --os-compute-api-version 2.74 server create router-1 \
	--flavor router --image testpmd --host s2-r730 \
	--port router-1-data \
	--wait

# north-south: a VF scales with the guests and costs the vSwitch nothing (S2 section 5)
exists port show router-2-data || openstack port create router-2-data --network north-south \
	--vnic-type direct --mac-address fa:16:3e:00:00:01
# Naming the host (microversion 2.74) still asks the scheduler's filters.
exists server show router-2 || openstack --os-compute-api-version 2.74 server create router-2 \
	--flavor router --image testpmd --host s2-r730 \
	--port router-2-data \
	--wait

# north-south: a VF scales with the guests and costs the vSwitch nothing (S2 section 5)
exists port show router-3-data || openstack port create router-3-data --network north-south \
	--vnic-type direct --mac-address fa:16:3e:00:00:02
# Naming the host (microversion 2.74) still asks the scheduler's filters.
exists server show router-3 || openstack --os-compute-api-version 2.74 server create router-3 \
	--flavor router --image testpmd --host s2-r730 \
	--port router-3-data \
	--wait

# the guest does not use DPDK: virtio is ahead of vhost-user (S2, 5)
exists port show netperf-data || openstack port create netperf-data --network east-west \
	--vnic-type normal --mac-address fa:16:3e:00:00:07
# Naming the host (microversion 2.74) still asks the scheduler's filters.
exists server show netperf || openstack --os-compute-api-version 2.74 server create netperf \
	--flavor netperf --image ubuntu-16.04 --host s2-r730 \
	--port netperf-data \
	--wait


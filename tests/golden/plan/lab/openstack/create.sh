#!/bin/bash
# Plan lab: flavors, networks, aggregates and servers, in the order of the plan.
# What exists is left as it is. Needs an administrator's credentials in the environment.
set -euo pipefail

exists() {
	openstack "$@" >/dev/null 2>&1
}

exists flavor show gateway || openstack flavor create gateway \
	--vcpus 6 --ram 8192 --disk 20
# ties the flavor to its host aggregate (S1)
openstack flavor set gateway --property aggregate_instance_extra_specs:nfv=true
# ties the flavor to its host aggregate (S1)
openstack flavor set gateway --property 'aggregate_instance_extra_specs:tier name=gold'"'"'s'
# CPU features for which there is no trait (S1)
openstack flavor set gateway --property 'capabilities:cpu_info:features=<all-in> rdrand'
# vCPUs get host CPUs of their own where the workload pins them (S0, S1)
openstack flavor set gateway --property hw:cpu_policy=dedicated
# require: how vCPUs use SMT siblings (Nova's spelling, not S0's)
openstack flavor set gateway --property hw:cpu_thread_policy=require
# emulator threads get one more dedicated CPU (S3)
openstack flavor set gateway --property hw:emulator_threads_policy=isolate
# page_size of the workload (S0, S1, S3)
openstack flavor set gateway --property hw:mem_page_size=1048576
# how many NUMA nodes the guest sees; hw:numa_cpus needs it
openstack flavor set gateway --property hw:numa_nodes=2
# one virtio queue for each vCPU (S3, figure 10)
openstack flavor set gateway --property hw:vif_multiqueue_enabled=true
# cpu_features of the workload (S1)
openstack flavor set gateway --property trait:HW_CPU_X86_AESNI=required
# cpu_features of the workload (S1)
openstack flavor set gateway --property trait:HW_CPU_X86_AVX512F=required

exists flavor show cache || openstack flavor create cache \
	--vcpus 4 --ram 4096 --disk 20
# the vCPUs that are pinned; the others float
openstack flavor set cache --property hw:cpu_dedicated_mask=1-3
# vCPUs get host CPUs of their own where the workload pins them (S0, S1)
openstack flavor set cache --property hw:cpu_policy=mixed
# emulator threads stay on cpu_shared_set, off the pinned CPUs (S3, Red Hat)
openstack flavor set cache --property hw:emulator_threads_policy=share
# page_size of the workload (S0, S1, S3)
openstack flavor set cache --property hw:mem_page_size=large
openstack image set guest --property hw_vif_multiqueue_enabled=true
openstack image set guest --property os_distro=debian

exists flavor show ids || openstack flavor create ids \
	--vcpus 4 --ram 4096 --disk 20
# vCPUs get host CPUs of their own where the workload pins them (S0, S1)
openstack flavor set ids --property hw:cpu_policy=dedicated
# emulator threads stay on cpu_shared_set, off the pinned CPUs (S3, Red Hat)
openstack flavor set ids --property hw:emulator_threads_policy=share
# page_size of the workload (S0, S1, S3)
openstack flavor set ids --property hw:mem_page_size=2048

exists flavor show vpn || openstack flavor create vpn \
	--vcpus 2 --ram 2048 --disk 20
# vCPUs get host CPUs of their own where the workload pins them (S0, S1)
openstack flavor set vpn --property hw:cpu_policy=dedicated
# emulator threads stay on cpu_shared_set, off the pinned CPUs (S3, Red Hat)
openstack flavor set vpn --property hw:emulator_threads_policy=share
# page_size of the workload (S0, S1, S3)
openstack flavor set vpn --property hw:mem_page_size=1048576
# on which NUMA nodes its devices may be
openstack flavor set vpn --property hw:pci_numa_affinity_policy=required
# the devices of [pci]alias in nova.conf (S1)
openstack flavor set vpn --property pci_passthrough:alias=qat:1

exists flavor show monitor || openstack flavor create monitor \
	--vcpus 2 --ram 1024 --disk 20

exists flavor show giant || openstack flavor create giant \
	--vcpus 40 --ram 4608 --disk 20
# vCPUs get host CPUs of their own where the workload pins them (S0, S1)
openstack flavor set giant --property hw:cpu_policy=dedicated
# emulator threads stay on cpu_shared_set, off the pinned CPUs (S3, Red Hat)
openstack flavor set giant --property hw:emulator_threads_policy=share
# page_size of the workload (S0, S1, S3)
openstack flavor set giant --property hw:mem_page_size=1048576

exists aggregate show nfv || openstack aggregate create nfv
openstack aggregate set nfv --property nfv=true
openstack aggregate set nfv --property 'tier name=gold'"'"'s'
openstack aggregate show nfv -f json -c hosts | grep -q '"compute-1"' ||
	openstack aggregate add host nfv compute-1
openstack aggregate show nfv -f json -c hosts | grep -q '"compute-2"' ||
	openstack aggregate add host nfv compute-2

exists network show access || openstack network create access \
	--provider-physical-network physnet1 --provider-network-type vlan --provider-segment 100 \
	--mtu 9000
exists subnet show access-subnet || openstack subnet create access-subnet \
	--network access --subnet-range 10.1.0.0/24

exists network show core || openstack network create core \
	--provider-physical-network physnet2 --provider-network-type flat \
	--mtu 1500 --transparent-vlan

exists network show service || openstack network create service \
	--provider-physical-network physnet1 --provider-network-type vlan --provider-segment 200 \
	--mtu 9000

exists server group show 'gateways apart' || openstack server group create 'gateways apart' --policy anti-affinity
# north-south, but no NIC of its network offers VFs on these hosts
exists port show gateway-1-access || openstack port create gateway-1-access --network access \
	--vnic-type normal --mac-address fa:16:3e:00:00:00 --disable-port-security --no-security-group
# kind of the port in the workload
exists port show gateway-1-core || openstack port create gateway-1-core --network core \
	--vnic-type direct --mac-address fa:16:3e:00:00:01
group=$(openstack server group show 'gateways apart' -f value -c id)
# Naming the host (microversion 2.74) still asks the scheduler's filters.
exists server show gateway-1 || openstack --os-compute-api-version 2.74 server create gateway-1 \
	--flavor gateway --image guest --host compute-1 --hint "group=$group" \
	--port gateway-1-access \
	--port gateway-1-core \
	--wait

# north-south, but no NIC of its network offers VFs on these hosts
exists port show gateway-2-access || openstack port create gateway-2-access --network access \
	--vnic-type normal --mac-address fa:16:3e:00:00:02 --disable-port-security --no-security-group
# kind of the port in the workload
exists port show gateway-2-core || openstack port create gateway-2-core --network core \
	--vnic-type direct --mac-address fa:16:3e:00:00:03
group=$(openstack server group show 'gateways apart' -f value -c id)
# Naming the host (microversion 2.74) still asks the scheduler's filters.
exists server show gateway-2 || openstack --os-compute-api-version 2.74 server create gateway-2 \
	--flavor gateway --image guest --host compute-2 --hint "group=$group" \
	--port gateway-2-access \
	--port gateway-2-core \
	--wait

# east-west over 2 hop(s): VFs would put 4.9 Gbit/s on PCIe in each direction; vhost-user only crosses memory (S2 section 4.2)
exists port show ids-in || openstack port create ids-in --network service \
	--vnic-type normal --mac-address fa:16:3e:00:00:06
# Naming the host (microversion 2.74) still asks the scheduler's filters.
exists server show ids || openstack --os-compute-api-version 2.74 server create ids \
	--flavor ids --image guest --host compute-1 \
	--port ids-in \
	--wait

# kind of the port in the workload
exists port show monitor-mgmt || openstack port create monitor-mgmt --network service \
	--vnic-type normal --mac-address fa:16:3e:00:00:07
# Naming the host (microversion 2.74) still asks the scheduler's filters.
exists server show monitor || openstack --os-compute-api-version 2.74 server create monitor \
	--flavor monitor --image guest --host edge-1 \
	--port monitor-mgmt \
	--wait

# kind of the port in the workload
exists port show cache-1-core || openstack port create cache-1-core --network core \
	--vnic-type macvtap --mac-address fa:16:3e:00:00:04
# Naming the host (microversion 2.74) still asks the scheduler's filters.
exists server show cache-1 || openstack --os-compute-api-version 2.74 server create cache-1 \
	--flavor cache --image guest --host edge-1 \
	--port cache-1-core \
	--wait

# kind of the port in the workload
exists port show cache-2-core || openstack port create cache-2-core --network core \
	--vnic-type macvtap --mac-address fa:16:3e:00:00:05
# Naming the host (microversion 2.74) still asks the scheduler's filters.
exists server show cache-2 || openstack --os-compute-api-version 2.74 server create cache-2 \
	--flavor cache --image guest --host edge-1 \
	--port cache-2-core \
	--wait

# Naming the host (microversion 2.74) still asks the scheduler's filters.
exists server show vpn || openstack --os-compute-api-version 2.74 server create vpn \
	--flavor vpn --image guest --host edge-1 \
	--nic none \
	--wait


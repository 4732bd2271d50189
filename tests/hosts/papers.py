# SPDX-License-Identifier: Apache-2.0
"""Describe the servers of the papers S0, S1, S2, S3 and S4, from their tables and figures.

Necessary properties that a paper does not state are marked "not in the paper": kernel release, PCI
addresses, idle states of the CPU generation.
"""

from __future__ import annotations

from dataclasses import replace

from tests.hosts.domain import Domain
from tests.hosts.server import GIB_IN_KIB, Nic, Server, mask
from tests.hosts.vswitch import Pmd, Port, Vswitch

IVY_BRIDGE_FLAGS = "fpu vme sse sse2 ssse3 sse4_1 sse4_2 aes avx f16c rdrand pdpe1gb vmx"
BROADWELL_FLAGS = IVY_BRIDGE_FLAGS + " avx2 bmi1 bmi2 fma"
SKYLAKE_FLAGS = BROADWELL_FLAGS + " avx512f avx512dq avx512cd avx512bw avx512vl"
# Latencies of intel_idle; not in the papers.
IVY_BRIDGE_IDLE = (("POLL", 0), ("C1", 1), ("C1E", 10), ("C3", 59), ("C6", 80))
BROADWELL_IDLE = (("POLL", 0), ("C1", 2), ("C1E", 10), ("C3", 40), ("C6", 133))

# S0 tables 1 to 4 and figure 8: compute node of the speed test.
S0 = Server(
    name="s0-compute",
    cpu_model="Intel(R) Xeon(R) CPU E5-2680 v2 @ 2.80GHz",
    flags=IVY_BRIDGE_FLAGS,
    cores_per_socket=10,
    numbering="block",
    memory_kib=(32 * GIB_IN_KIB, 32 * GIB_IN_KIB),
    free_kib=(6 * GIB_IN_KIB, 6 * GIB_IN_KIB),
    release="3.17.4-301.fc21.x86_64",  # Fedora 21's first kernel; not in the paper
    cmdline="BOOT_IMAGE=/vmlinuz ro isolcpus=1-19,21-39 default_hugepagesz=1G hugepagesz=1G "
    "hugepages=48",  # the number of pages is not in the paper
    isolated="1-19,21-39",
    pages_1g=(24, 24),
    pages_1g_free=(20, 24),
    idle_states=IVY_BRIDGE_IDLE,
    governor="powersave",  # intel_pstate's default with turbo on
    nics=(
        Nic("0000:04:00.0", 0, "8086", "1521", "igb", "eno1", 1000, lanes=4, gts="5.0"),
        Nic("0000:04:00.1", 0, "8086", "1521", "igb", "eno2", 1000, lanes=4, gts="5.0"),
        Nic("0000:05:00.0", 0, "8086", "10fb", "igb_uio", gts="5.0", sriov_total=63),
        Nic("0000:05:00.1", 0, "8086", "10fb", "igb_uio", gts="5.0", sriov_total=63),
    ),
    default_route="eno1",
    irq_cpus="0,20",
    uio_drivers=("igb_uio",),  # DPDK 16.04's default
    nova_conf="[DEFAULT]\nvcpu_pin_set = 4-9,11-19,24-29,31-39\n"
    "transport_url = rabbit://stack:secret@controller\n[libvirt]\ncpu_mode = host-passthrough\n",
    domains={
        "iperf3-server": Domain(
            "iperf3-server",
            vcpus=2,
            memory_mib=2048,
            pins={0: 4, 1: 24},  # hw:cpu_threads_policy=prefer: siblings
            node=0,
            vhost=(("/var/run/openvswitch/vhu-server", 1),),
        ).xml()
    },
    ovs=Vswitch(
        version="2.5.90",
        dpdk_version="DPDK 16.04.0",
        other_config={
            "dpdk-init": "true",
            "dpdk-lcore-mask": mask("1"),
            "pmd-cpu-mask": mask("2-3"),
            "dpdk-socket-mem": "1024,0",
        },
        bridges={
            "br-vlan": (
                Port("dpdk0", options={"dpdk-devargs": "0000:05:00.0"}, tx_queues=3),
                Port("vhu-server", "dpdkvhostuser"),
            ),
            "br-data": (Port("dpdk1", options={"dpdk-devargs": "0000:05:00.1"}, tx_queues=3),),
        },
        pmds=(
            Pmd(2, 0, (("dpdk0", 0), ("vhu-server", 0))),
            Pmd(3, 0, (("dpdk1", 0),)),
        ),
    ),
)

# S1: the DPPD server, 16 vCPUs of one socket and a VF of the X520.
S1 = Server(
    name="s1-dppd",
    cpu_model="Intel(R) Xeon(R) CPU E5-2690 v2 @ 3.00GHz",
    flags=IVY_BRIDGE_FLAGS,
    cores_per_socket=10,
    numbering="block",
    memory_kib=(32 * GIB_IN_KIB, 32 * GIB_IN_KIB),
    free_kib=(20 * GIB_IN_KIB, 26 * GIB_IN_KIB),
    release="3.11.10-301.fc20.x86_64",  # Fedora 20's first kernel; not in the paper
    # One core per socket for the host, by the paper's isolation strategy.
    cmdline="BOOT_IMAGE=/vmlinuz ro intel_iommu=on default_hugepagesz=2MB hugepagesz=1G "
    "hugepages=8 isolcpus=1-9,11-19,21-29,31-39",
    isolated="1-9,11-19,21-29,31-39",
    pages_1g=(4, 4),
    pages_1g_free=(0, 4),
    idle_states=IVY_BRIDGE_IDLE,
    nics=(
        Nic("0000:02:00.0", 0, "8086", "1521", "igb", "em1", 1000, lanes=4, gts="5.0"),
        Nic(
            "0000:08:00.0",
            0,
            "8086",
            "10fb",
            "ixgbe",
            "eth1",
            gts="5.0",
            sriov_total=63,
            vfs=("0000:08:10.0", "0000:08:10.2"),
            vf_device="10ed",
        ),
        # QuickAssist, the paper's example of a PCI device with an alias.
        Nic("0000:84:00.0", 1, "8086", "0435", "dh895xcc", class_code=0x0B4000),
    ),
    default_route="em1",
    irq_cpus="0,10",
    iommu=("dmar0", "dmar1"),
    nova_conf="""[DEFAULT]
pci_alias = {"name":"niantic", "vendor_id":"8086", "product_id":"10ed"}
pci_passthrough_whitelist = {"address":"0000:08:00.0","physical_network":"physnetNFV"}
scheduler_default_filters = RamFilter,ComputeFilter,PciPassthroughFilter,NUMATopologyFilter
vcpu_pin_set = 1-9,11-19,21-29,31-39
[libvirt]
cpu_mode = host-model
""",
    domains={
        "dppd": Domain(
            "dppd",
            vcpus=16,
            memory_mib=4096,
            # Mapped by hand, one to one, within socket 0.
            pins=dict(enumerate([*range(1, 9), *range(21, 29)])),
            emulator="0",
            node=0,
            vfs=("0000:08:10.0", "0000:08:10.2"),
        ).xml()
    },
)

# S2: Dell R730 with one XL710; "no performance adjustments were made".
S2 = Server(
    name="s2-r730",
    cpu_model="Intel(R) Xeon(R) CPU E5-2699 v4 @ 2.20GHz",
    flags=BROADWELL_FLAGS,
    cores_per_socket=22,
    numbering="interleaved",
    memory_kib=(128 * GIB_IN_KIB, 128 * GIB_IN_KIB),
    free_kib=(90 * GIB_IN_KIB, 100 * GIB_IN_KIB),
    release="4.4.0-31-generic",  # Ubuntu 16.04's kernel; not in the paper
    cmdline="BOOT_IMAGE=/boot/vmlinuz ro intel_iommu=on default_hugepagesz=1G hugepagesz=1G "
    "hugepages=64",  # huge pages are needed by vhost-user; their number is not in the paper
    pages_1g=(32, 32),
    pages_1g_free=(4, 31),
    cache_kib=(32, 256, 56320),
    idle_states=BROADWELL_IDLE,
    governor="powersave",
    nics=(
        Nic("0000:01:00.0", 0, "14e4", "165f", "tg3", "eno1", 1000, lanes=2, gts="5.0"),
        Nic(
            "0000:04:00.0",
            0,
            "8086",
            "1583",
            "i40e",
            "ens1f0",
            40000,
            sriov_total=64,
            vfs=tuple(f"0000:04:02.{n}" for n in range(8)),
            vf_device="154c",
        ),
        Nic("0000:04:00.1", 0, "8086", "1583", "igb_uio", sriov_total=64),
    ),
    default_route="eno1",
    irq_cpus="0-87",
    iommu=("dmar0", "dmar1"),
    uio_drivers=("igb_uio", "vfio-pci"),
    domains={
        f"vnf{n}": Domain(
            f"vnf{n}",
            vcpus=3,
            memory_mib=3072,
            vhost=((f"/var/run/openvswitch/vhost{n}", 1),),
            vfs=(f"0000:04:02.{n - 10}",),
        ).xml()
        for n in range(10, 18)
    },
    ovs=Vswitch(
        version="2.6.90",
        dpdk_version="DPDK 16.11.0",
        other_config={"dpdk-init": "true", "pmd-cpu-mask": mask("2,4,6,8")},
        bridges={
            "br0": (
                Port("dpdk0", options={"dpdk-devargs": "0000:04:00.1"}, tx_queues=5),
                *(Port(f"vhost{n}", "dpdkvhostuser") for n in range(10, 18)),
            )
        },
        pmds=(
            Pmd(2, 0, (("dpdk0", 0), ("vhost10", 0), ("vhost11", 0))),
            Pmd(4, 0, (("vhost12", 0), ("vhost13", 0))),
            Pmd(6, 0, (("vhost14", 0), ("vhost15", 0))),
            Pmd(8, 0, (("vhost16", 0), ("vhost17", 0))),
        ),
    ),
)


def _jumbo(name: str, address: str, bond: str) -> Port:
    return Port(
        name,
        options={"dpdk-devargs": address, "n_rxq": "2", "n_rxq_desc": "4096", "n_txq_desc": "4096"},
        mtu=9000,
        queues=2,
        tx_queues=11,
        descriptors=4096,
        bond=bond,
    )


S3_PMDS = (2, 12, 22, 32, 38, 48, 58, 68, 21, 57)
_S3_RXQS = [(f"dpdk{n}", q) for n in range(4) for q in range(2)] + [
    ("vhu-spirent", q) for q in range(2)
]

# S3 tables 2 and 4, figures 5, 6, 9 and 10, and the ovs-vsctl output of appendix C.
S3 = Server(
    name="s3-r740xd",
    cpu_model="Intel(R) Xeon(R) Gold 6140 CPU @ 2.30GHz",
    flags=SKYLAKE_FLAGS,
    cores_per_socket=18,
    numbering="interleaved",
    memory_kib=(95111 * 1024, 96732 * 1024),
    free_kib=(4833 * 1024, 140 * 1024),
    release="4.18.0-193.14.3.el8_2.x86_64",
    cmdline="BOOT_IMAGE=(hd0,gpt3)/boot/vmlinuz-4.18.0-193.14.3.el8_2.x86_64 ro console=ttyS0 "
    "console=ttyS0,115200n81 no_timer_check crashkernel=auto rhgb quiet iommu=pt intel_iommu=on "
    "intel_pstate=disable nosoftlockup default_hugepagesz=1GB hugepagesz=1G hugepages=164.0 "
    "skew_tick=1 nohz=on nohz_full=2-35,38-71 rcu_nocbs=2-35,38-71 isolcpus=2-35,38-71",
    isolated="2-35,38-71",
    nohz_full="2-35,38-71",
    pages_1g=(82, 82),
    pages_1g_free=(64, 81),
    cache_kib=(32, 1024, 25344),
    # intel_pstate=disable leaves acpi-cpufreq and acpi_idle; not in the paper
    idle_states=(("POLL", 0), ("C1", 1), ("C2", 41)),
    channels_per_socket=6,
    nics=(
        Nic("0000:01:00.0", 0, "8086", "1521", "igb", "eno3", 1000, lanes=4, gts="5.0"),
        Nic("0000:01:00.1", 0, "8086", "1521", "igb", "eno4", 1000, lanes=4, gts="5.0"),
        Nic("0000:18:00.0", 0, "8086", "1572", "i40e", "eno1", sriov_total=64),
        Nic("0000:18:00.1", 0, "8086", "1572", "i40e", "eno2", sriov_total=64),
        Nic("0000:3b:00.0", 0, "8086", "158b", "i40e", "ens1f0", 25000, sriov_total=64),
        Nic("0000:3b:00.1", 0, "8086", "158b", "i40e", "ens1f1", 25000, sriov_total=64),
        Nic("0000:5e:00.0", 0, "8086", "158b", "vfio-pci", sriov_total=64),
        Nic("0000:5e:00.1", 0, "8086", "158b", "vfio-pci", sriov_total=64),
        Nic("0000:60:00.0", 0, "8086", "158b", "vfio-pci", sriov_total=64),
        Nic("0000:60:00.1", 0, "8086", "158b", "vfio-pci", sriov_total=64),
        Nic("0000:af:00.0", 1, "8086", "158b", "i40e", "ens4f0", 25000, sriov_total=64),
        Nic("0000:af:00.1", 1, "8086", "158b", "i40e", "ens4f1", 25000, sriov_total=64),
    ),
    default_route="eno3",
    irq_cpus="0,1,36,37",
    iommu=("dmar0", "dmar1", "dmar2", "dmar3"),
    nova_conf="[DEFAULT]\nreserved_host_memory_mb = 4096\n[compute]\n"
    "cpu_dedicated_set = 3-11,13-20,23-31,33-35,39-47,49-56,59-67,69-71\n"
    "cpu_shared_set = 0,1,36,37\n",
    domains={
        "spirent": Domain(
            "spirent",
            vcpus=4,
            memory_mib=8192,
            pins={0: 4, 1: 40, 2: 6, 3: 42},  # hw:cpu_thread_policy=require
            emulator="8",  # hw:emulator_threads_policy=isolate
            node=0,
            vhost=(("/var/lib/vhost_sockets/vhu-spirent", 2),),
            flavor="mc-flavor",
            specs={
                "hw:cpu_policy": "dedicated",
                "hw:cpu_thread_policy": "require",
                "hw:emulator_threads_policy": "isolate",
                "hw:mem_page_size": "large",
                "hw:numa_mempolicy": "preferred",
                "hw:numa_nodes": "1",
                "hw:vif_multiqueue_enabled": "true",
            },
        ).xml()
    },
    ovs=Vswitch(
        version="2.13.3",
        dpdk_version="DPDK 19.11.1",
        other_config={
            "dpdk-extra": "-n 6",
            "dpdk-init": "true",
            "dpdk-lcore-mask": "3000000003",
            "dpdk-socket-mem": "8977,1024",
            "pmd-cpu-mask": "100601004100601004",
        },
        bridges={
            "br-int": (
                Port("int-br-link0", "patch", {"peer": "phy-br-link0"}),
                Port("int-br-link1", "patch", {"peer": "phy-br-link1"}),
                Port(
                    "vhu-spirent",
                    "dpdkvhostuserclient",
                    {"vhost-server-path": "/var/lib/vhost_sockets/vhu-spirent"},
                    mtu=9000,
                    queues=2,
                    tx_queues=2,
                ),
            ),
            "br-link0": (
                Port("phy-br-link0", "patch", {"peer": "int-br-link0"}),
                _jumbo("dpdk0", "0000:5e:00.0", "dpdkbond0"),
                _jumbo("dpdk1", "0000:60:00.0", "dpdkbond0"),
            ),
            "br-link1": (
                Port("phy-br-link1", "patch", {"peer": "int-br-link1"}),
                _jumbo("dpdk2", "0000:5e:00.1", "dpdkbond1"),
                _jumbo("dpdk3", "0000:60:00.1", "dpdkbond1"),
            ),
        },
        pmds=tuple(
            Pmd(core, 0 if core % 2 == 0 else 1, tuple(_S3_RXQS[n::8]) if core % 2 == 0 else ())
            for n, core in enumerate(S3_PMDS)
        ),
    ),
)

MACHINES = {server.name: server for server in (S0, S1, S2, S3)}

# S4: a DL380 Gen9 with the HP 560SFP+ and an X710-DA4. The paper names no CPU, memory or kernel.
S4 = Server(
    name="s4-dl380",
    cpu_model="Intel(R) Xeon(R) CPU E5-2690 v3 @ 2.60GHz",
    flags=BROADWELL_FLAGS,
    cores_per_socket=12,
    numbering="block",
    memory_kib=(64 * GIB_IN_KIB, 64 * GIB_IN_KIB),
    free_kib=(56 * GIB_IN_KIB, 60 * GIB_IN_KIB),
    release="3.10.0-229.el7.x86_64",
    cmdline="BOOT_IMAGE=/vmlinuz ro intel_iommu=on",
    cache_kib=(32, 256, 30720),
    idle_states=(("POLL", 0), ("C1", 2), ("C1E", 10), ("C3", 33), ("C6", 133)),
    nics=(
        Nic("0000:02:00.0", 0, "14e4", "1657", "tg3", "eno1", 1000, lanes=4, gts="5.0"),
        Nic("0000:04:00.0", 0, "8086", "10fb", "ixgbe", "eno49", gts="5.0", sriov_total=63),
        Nic("0000:04:00.1", 0, "8086", "10fb", "ixgbe", "eno50", gts="5.0", sriov_total=63),
        *(
            Nic(f"0000:07:00.{n}", 0, "8086", "1572", "i40e", f"ens2f{n}", sriov_total=32)
            for n in range(4)
        ),
    ),
    default_route="eno1",
    irq_cpus="0,12",
    iommu=("dmar0", "dmar1"),
)
RECORDED = {**MACHINES, S4.name: S4}

# S0 table 4, S1's flavor-key commands, S3 figure 10.
FLAVORS = {
    "s0-compute": {
        "iperf3": {
            "hw:cpu_policy": "dedicated",
            "hw:mem_page_size": "large",
            "hw:numa_mempolicy": "preferred",
            "hw:numa_mem.0": "4096",
            "hw:numa_nodes": "1",
            "hw:numa_cpus.0": "0,1,2,3",
            "hw:cpu_threads_policy": "prefer",
        }
    },
    "s1-dppd": {
        "dppd": {
            "hw:numa_mempolicy": "strict",
            "hw:numa_cpus.0": "0,1,2,3",
            "hw:numa_cpus.1": "4,5,6,7",
            "hw:numa_mem.0": "1024",
            "hw:numa_mem.1": "1024",
            "hw:cpu_threads_policy": "prefer",
            "hw:mem_page_size": "1048576",
            "capabilities:cpu_info:features": "aes",
            "pci_passthrough:alias": "niantic:1",
        }
    },
}


def renamed(server: Server, name: str) -> Server:
    """Return the same server with another host name."""
    return replace(server, name=name)

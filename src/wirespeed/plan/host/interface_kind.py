# SPDX-License-Identifier: Apache-2.0
"""Choose the type of a port: VF, vhost-user port of Open vSwitch, or kernel virtio port.

The choice follows S2. North-south, a VF scales and costs no host CPU. East-west, every hop of a VF
chain crosses PCIe in and out: on x8 all guests together get about 45 Gbit/s. The rate of vhost-user
grows with each guest. Without DPDK in the guest, virtio is faster than vhost-user.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from wirespeed.model.host.facts import PciDevice
from wirespeed.model.host.switch_cost import PortRates
from wirespeed.model.plan.plan import Decision
from wirespeed.model.plan.policy import DataPlane, InterfaceKind, NicUse, Pattern
from wirespeed.model.plan.workload import Vnf, VnfPort, Workload
from wirespeed.model.units import l2_bps

# S2 section 4.2: 50 Gbit/s are usable in each direction of PCIe 3.0 x8. Its raw rate after
# 128b/130b encoding is 63.0; packet headers take the difference. An XL710 itself moves about 45.
PCIE_EFFICIENCY = 50 / 63.0
NIC_MAX_FPS = 39e6
NIC_MAX_BPS = 45e9


def choose_kind(
    port: VnfPort,
    vnf: Vnf,
    workload: Workload,
    nics: Iterable[PciDevice],
    rates: PortRates | None = None,
) -> Decision[InterfaceKind]:
    """Return the type of a port: as set, by its predicted rates, or by S2's results.

    nics: VF-capable NICs of its network. rates: None without a prediction.
    """
    uses = {nic.use for nic in workload.nics if nic.network == port.network}
    devices = tuple(nics)
    if port.kind is not InterfaceKind.AUTO:
        return Decision(port.kind, "kind of the port in the workload")
    if rates is not None and devices and vnf.data_plane is DataPlane.DPDK:
        return _faster(port, workload, rates)
    if port.pattern is Pattern.EAST_WEST:
        return _east_west(port, vnf, workload, devices)
    if NicUse.SRIOV in uses and devices:
        return Decision(
            InterfaceKind.SRIOV,
            "north-south: a VF scales with the guests and costs the vSwitch nothing (S2 section 5)",
        )
    if vnf.data_plane is DataPlane.KERNEL:
        return _virtio()
    return Decision(
        InterfaceKind.VHOST, "north-south, but no NIC of its network offers VFs on these hosts"
    )


def _east_west(
    port: VnfPort, vnf: Vnf, workload: Workload, nics: Sequence[PciDevice]
) -> Decision[InterfaceKind]:
    if vnf.data_plane is DataPlane.KERNEL:
        return _virtio()
    hops = chain_hops(port, workload)
    text = f"east-west over {hops} hop(s): VFs would put {pcie_load_bps(port, workload) / 1e9:.1f}"
    text += " Gbit/s on PCIe in each direction"
    if nics:
        text += f", the NIC's slot carries {min(pcie_limit_bps(nic) for nic in nics) / 1e9:.1f}"
    return Decision(InterfaceKind.VHOST, f"{text}; vhost-user only crosses memory (S2 section 4.2)")


def _faster(port: VnfPort, workload: Workload, rates: PortRates) -> Decision[InterfaceKind]:
    """Return the type with the higher predicted rate."""
    hops = chain_hops(port, workload)
    where = f"east-west over {hops} hop(s)" if hops > 1 else str(port.pattern)
    vf = rates.sriov_fps > rates.vhost_fps
    return Decision(
        InterfaceKind.SRIOV if vf else InterfaceKind.VHOST,
        f"predicted for {where} with {port.frame_bytes}-octet frames: VFs carry "
        f"{rates.sriov_fps / 1e6:.2f} Mpps ({rates.sriov_limit}), vhost-user "
        f"{rates.vhost_fps / 1e6:.2f} ({rates.vhost_limit}); parameters of {rates.source}",
    )


def _virtio() -> Decision[InterfaceKind]:
    return Decision(
        InterfaceKind.VIRTIO, "the guest does not use DPDK: virtio is ahead of vhost-user (S2, 5)"
    )


def kind_warnings(
    port: VnfPort, kind: InterfaceKind, workload: Workload, nics: Iterable[PciDevice]
) -> list[str]:
    """Return S2's objections to the type that the workload sets."""
    warnings = []
    load = pcie_load_bps(port, workload)
    if kind.takes_vf and port.pattern is Pattern.EAST_WEST:
        for nic in nics:
            limit = min(pcie_limit_bps(nic), NIC_MAX_BPS)
            if load > limit:
                warnings.append(
                    f"port {port.name}: its east-west chain over VFs needs {load / 1e9:.1f} Gbit/s "
                    f"in each direction on PCIe, {nic.address} carries {limit / 1e9:.1f} (S2 "
                    "section 4.2)"
                )
                break
    if kind.takes_vf and port.rate_fps > NIC_MAX_FPS:
        warnings.append(
            f"port {port.name}: {port.rate_fps / 1e6:.1f} Mpps are beyond what a NIC processes, "
            f"about {NIC_MAX_FPS / 1e6:.0f} Mpps on an XL710 (S2 section 4.2)"
        )
    if kind is InterfaceKind.VIRTIO and any(n.use is NicUse.DPDK for n in workload.nics):
        warnings.append(
            f"port {port.name}: virtio needs the kernel's datapath; Open vSwitch with DPDK on the "
            "same host serves it through a tap device, about 0.1 Mpps"
        )
    return warnings


def chain_hops(port: VnfPort, workload: Workload) -> int:
    """Return the number of guests in the port's chain; 1 outside a chain."""
    chain = next((c for c in workload.chains if c.name == port.chain), None)
    return len(chain.order) if chain else 1


def pcie_load_bps(port: VnfPort, workload: Workload) -> float:
    """Return the load in bit/s in each direction of the NIC's slot if the port were a VF.

    It is summed over all hops of the port's chain.
    """
    return l2_bps(port.rate_fps, port.frame_bytes) * chain_hops(port, workload)


def pcie_limit_bps(nic: PciDevice) -> float:
    """Return the usable bit/s in each direction of a slot.

    It is lanes x GT/s x encoding x S2's efficiency. Unknown links count as S2's, PCIe 3.0 x8.
    """
    width = nic.link_width or 8
    gts = nic.link_gts or 8.0
    encoding = 128 / 130 if gts >= 8 else 8 / 10
    return width * gts * 1e9 * encoding * PCIE_EFFICIENCY

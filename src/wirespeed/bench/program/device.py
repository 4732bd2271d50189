# SPDX-License-Identifier: Apache-2.0
"""Build the device strings (devargs) of DPDK's virtual devices.

Pure. Limits: a socket's path, unix(7), and what DPDK probes for a program that adds a device while
it runs, as Open vSwitch does (EAL_DEV_MP_DEV_ARGS_MAX_LEN of lib/eal/common/hotplug_mp.h). wsdp and
testpmd, which add theirs otherwise, have the former only.
"""

from __future__ import annotations

from wirespeed.bench.interface import BenchError
from wirespeed.remote.socket_paths import check_socket_path

# Octets, without the NUL. DPDK 24.11 refuses a longer one, earlier ones cut it in part.
PROBED_MAX = 127


def virtio_user(index: int, socket: str, **options: object) -> str:
    """The virtio side of a vhost-user socket."""
    return _on_socket(f"net_virtio_user{index}", "path", socket, options)


def vhost(index: int, socket: str, **options: object) -> str:
    """The vhost side of a vhost-user socket."""
    return _on_socket(f"net_vhost{index}", "iface", socket, options)


def af_packet(index: int, interface: str, **options: object) -> str:
    """Packet sockets on an interface of the kernel."""
    return _joined(f"net_af_packet{index}", {"iface": interface, **options})


def af_xdp(index: int, interface: str, **options: object) -> str:
    """XDP sockets on an interface of the kernel."""
    return _joined(f"net_af_xdp{index}", {"iface": interface, **options})


def probed(owner: str, device: str) -> str:
    """The same device string. Raises BenchError that names the owner where DPDK would cut it."""
    octets = len(device.encode())
    if octets > PROBED_MAX:
        raise BenchError(
            f"{owner}: its device string has {octets} octets, DPDK takes {PROBED_MAX}: {device}",
            "Set XDG_RUNTIME_DIR to a shorter directory.",
        )
    return device


def _on_socket(name: str, key: str, socket: str, options: dict[str, object]) -> str:
    check_socket_path(name, socket)
    return _joined(name, {key: socket, **options})


def _joined(name: str, options: dict[str, object]) -> str:
    return ",".join((name, *(f"{key}={value}" for key, value in options.items())))

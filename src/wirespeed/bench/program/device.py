# SPDX-License-Identifier: Apache-2.0
"""Build the device strings (devargs) of DPDK's virtual devices.

Pure. Two limits apply: the length of a socket path, unix(7), and of a device string that a running
program adds (EAL_DEV_MP_DEV_ARGS_MAX_LEN of lib/eal/common/hotplug_mp.h). Open vSwitch adds devices
so. wsdp and testpmd have only the first limit.
"""

from __future__ import annotations

from wirespeed.bench.interface import BenchError
from wirespeed.remote.socket_paths import check_socket_path

# Octets, without the NUL. DPDK 24.11 rejects a longer string; earlier releases cut it in part.
PROBED_MAX = 127


def virtio_user(index: int, socket: str, **options: object) -> str:
    """Return the device of the virtio side of a vhost-user socket."""
    return _on_socket(f"net_virtio_user{index}", "path", socket, options)


def vhost(index: int, socket: str, **options: object) -> str:
    """Return the device of the vhost side of a vhost-user socket."""
    return _on_socket(f"net_vhost{index}", "iface", socket, options)


def af_packet(index: int, interface: str, **options: object) -> str:
    """Return the device of packet sockets on a kernel interface."""
    return _joined(f"net_af_packet{index}", {"iface": interface, **options})


def af_xdp(index: int, interface: str, **options: object) -> str:
    """Return the device of XDP sockets on a kernel interface."""
    return _joined(f"net_af_xdp{index}", {"iface": interface, **options})


def probed(owner: str, device: str) -> str:
    """Return the device string. Raises BenchError that names the owner where DPDK would cut it."""
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

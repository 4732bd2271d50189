# SPDX-License-Identifier: Apache-2.0
"""Describe TCP traffic between hosts: one table of a study, [tcp]."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from annotated_types import Ge, Gt, Le


class TcpTool(StrEnum):
    WIRESPEED = "wirespeed"
    IPERF3 = "iperf3"


class TcpDirection(StrEnum):
    UP = "up"
    DOWN = "down"
    BOTH = "both"


class TcpGuests(StrEnum):
    SERVER = "server"
    ALL = "all"


class TcpPinning(StrEnum):
    APART = "apart"
    ON_PMD = "on-pmd"


@dataclass(frozen=True, slots=True)
class Tcp:
    """TCP between hosts instead of frames.

    Hosts are network namespaces or QEMU guests; [guest] describes the guests. Only a study with
    this table measures TCP. Then topology, traffic and search do not apply, and of sut only
    sut.vswitch does.
    """

    path: str = "veth"
    """Network between the hosts."""
    tool: TcpTool = TcpTool.WIRESPEED
    """wirespeed: wirespeed-speedtest at both endpoints; iperf3: stock iperf3 at both endpoints,
    each process pinned to one CPU, as in S0 table 5. iperf3 gives no verdict and no TCP_INFO."""
    clients: Annotated[int, Ge(1), Le(16)] = 1
    """Number of client hosts that test at the same time."""
    processes: Annotated[int, Ge(1), Le(32)] = 1
    """iperf3 only: processes of each client host, each with its own server process and port. S0 has
    one for each virtual CPU."""
    streams: Annotated[int, Ge(1), Le(128)] = 1
    """TCP connections of each client (with iperf3: of each process) in each direction."""
    direction: TcpDirection = TcpDirection.DOWN
    """down: the server sends; up: the clients send; both: at once."""
    seconds: Annotated[int, Ge(1), Le(3600)] = 5
    """Length of one run, after `omit_s`."""
    omit_s: Annotated[int, Ge(0), Le(60)] = 1
    """Seconds at the start that do not count."""
    repeats: Annotated[int, Ge(1), Le(100)] = 3
    """Runs of each point; up to twice as many until there is enough clean time. Rates over all time
    are medians of the runs."""
    max_taken: Annotated[float, Gt(0), Le(1)] = 0.1
    """Largest share of a 0.1 s interval that steal and competing processes may take from server,
    clients or vSwitch. The clean rate excludes intervals that lost more."""
    message_bytes: Annotated[int, Ge(1), Le(1_048_576)] = 131_072
    """Octets of each write, as in netperf's TCP_STREAM."""
    congestion: str = "cubic"
    """Congestion control of both sides."""
    window_bytes: Annotated[int, Ge(1024), Le(1 << 30)] | None = None
    """Socket buffers of both sides. Default: the kernel tunes them."""
    mss: Annotated[int, Ge(88), Le(32_767)] | None = None
    """Maximum segment size. Default: the largest that the MTU allows."""
    mtu: Annotated[int, Ge(576), Le(9198)] = 1500
    """MTU of the hosts in octets of the IP packet."""
    offloads: bool = True
    """TSO, GSO and GRO on all ports, and userspace TSO of Open vSwitch. Off: hosts behind a switch
    also compute checksums themselves. Not with ovs-pmd."""
    queues: Annotated[int, Ge(1), Le(16)] = 1
    """Queues of each host's port; with ovs-pmd and vhost-user also of the vSwitch's, spread over
    its PMD threads (sut.vswitch.pmd_cpus). A guest has no more than guest.vcpus."""
    guests: TcpGuests = TcpGuests.SERVER
    """With a path that has guests. server: the clients are network namespaces outside; all: the
    clients are guests as well."""
    pinning: TcpPinning = TcpPinning.APART
    """With a path that has guests and PMD threads. apart: each vSwitch thread has a CPU that no
    guest uses; on-pmd: the guests' vCPUs are pinned to the CPUs of the PMD threads, to measure the
    cost."""
    wire_bps: Annotated[float, Gt(0)] | None = None
    """Transmit limit of each host in bits/s (tbf). Default: no limit."""

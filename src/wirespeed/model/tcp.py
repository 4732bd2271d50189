# SPDX-License-Identifier: Apache-2.0
"""What is TCP traffic between two hosts, what did one run of it show, and what several together?

The hosts are network namespaces or QEMU guests; each has one port. Rates count the payload that
the receiving program got (goodput), summed over all streams of all clients.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from annotated_types import Ge, Gt, Le

from wirespeed.model.series import Series
from wirespeed.model.tcp_evidence import TcpEvidence
from wirespeed.model.trial import LeftOut


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
    """TCP between hosts, which are network namespaces or QEMU guests, instead of frames. Only a
    study with this table has it; topology, traffic and search then do not apply, of sut only
    sut.vswitch. The guests are as [guest] says."""

    path: str = "veth"
    """What joins the hosts."""
    tool: TcpTool = TcpTool.WIRESPEED
    """wirespeed: wirespeed-speedtest at both ends; iperf3: stock iperf3 at both ends, each process
    pinned to one CPU, as in S0 table 5. It gives no verdict and no TCP_INFO."""
    clients: Annotated[int, Ge(1), Le(16)] = 1
    """How many client hosts test at the same time."""
    processes: Annotated[int, Ge(1), Le(32)] = 1
    """iperf3 only: processes of each client host, each with a server process and port of its own;
    S0 has one for each virtual CPU."""
    streams: Annotated[int, Ge(1), Le(128)] = 1
    """TCP connections of each client (with iperf3: of each process) in each direction."""
    direction: TcpDirection = TcpDirection.DOWN
    """down: the server sends; up: the clients send; both: at once."""
    seconds: Annotated[int, Ge(1), Le(3600)] = 5
    """Length of one run, after `omit_s`."""
    omit_s: Annotated[int, Ge(0), Le(60)] = 1
    """Seconds at the start that do not count."""
    repeats: Annotated[int, Ge(1), Le(100)] = 3
    """Runs of each point; at most twice as many are made, until there is enough undisturbed time.
    Figures of the host as it is are medians of the runs."""
    max_taken: Annotated[float, Gt(0), Le(1)] = 0.1
    """The share of an interval of 0.1 s that steal and competing processes may take from server,
    clients or vSwitch; one that lost more is left out of the undisturbed rate."""
    message_bytes: Annotated[int, Ge(1), Le(1_048_576)] = 131_072
    """Octets of each write, as in netperf's TCP_STREAM."""
    congestion: str = "cubic"
    """The congestion control of both sides."""
    window_bytes: Annotated[int, Ge(1024), Le(1 << 30)] | None = None
    """Socket buffers of both sides. Left out: the kernel tunes them."""
    mss: Annotated[int, Ge(88), Le(32_767)] | None = None
    """Maximum segment size. Left out: what the MTU allows."""
    mtu: Annotated[int, Ge(576), Le(9198)] = 1500
    """The hosts' MTU in octets of the IP packet."""
    offloads: bool = True
    """TSO, GSO and GRO on all ports; with Open vSwitch also its userspace TSO. Without them, hosts
    behind a switch sum up their segments themselves, too. Not with ovs-pmd."""
    queues: Annotated[int, Ge(1), Le(16)] = 1
    """Queues of each host's port; with ovs-pmd and vhost-user also of the vSwitch's, spread over
    its PMD threads (sut.vswitch.pmd_cpus). A guest has no more than guest.vcpus."""
    guests: TcpGuests = TcpGuests.SERVER
    """With a path that has guests: server: the clients are network namespaces, outside; all: the
    clients are guests, too."""
    pinning: TcpPinning = TcpPinning.APART
    """With a path that has guests and PMD threads: apart: each thread of the vSwitch has a CPU that
    no guest uses; on-pmd: the guests' vCPUs are pinned to the CPUs of the PMD threads, to see what
    that costs."""
    wire_bps: Annotated[float, Gt(0)] | None = None
    """Each host sends at most so many bits/s (tbf). Left out: as fast as it can."""


@dataclass(frozen=True, slots=True)
class TcpSample:
    """TCP_INFO of one stream at one moment, as the server's kernel tells it."""

    at_us: int
    bytes: int
    rtt_us: int
    cwnd_bytes: int
    snd_wnd_bytes: int
    rcv_wnd_bytes: int
    delivery_rate_bps: int
    retransmits: int


@dataclass(frozen=True, slots=True)
class TcpDirectionResult:
    """One direction of one client's test, in that test's own seconds.

    limited_by, because: the server's verdict.

    The RFC 6349 figures are means over the streams, and None where the server received.
    """

    direction: TcpDirection
    bytes: int
    bits_per_second: float
    retransmits: int
    limited_by: str
    because: tuple[str, ...]
    transfer_time_ratio: float | None = None
    tcp_efficiency_percent: float | None = None
    buffer_delay_percent: float | None = None
    series: tuple[tuple[TcpSample, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class TcpProgram:
    """What was taken from the server, the clients or the vSwitch? All processes of it together.

    cpus: how many it may use. steal_s: time that the hypervisor took from these. waited_s: time
    that its threads could have run and did not (run-queue wait), whoever ran instead.
    """

    name: str
    cpus: int
    steal_s: float
    waited_s: float


@dataclass(frozen=True, slots=True)
class TcpRun:
    """All clients once. directions: in the order of the clients and their processes.

    elapsed_s: from before the first connection to after the last result. The CPU times are those
    of the programs (user and system) without the share of the seconds that do not count;
    vswitch_cpu_s is None where there is no vSwitch.

    programs: what was taken from each in elapsed_s. others_cpu_s: what competing processes, which
    are not the bench's, used in that time and could have used on its CPUs; others: the names of
    those that used most.

    evidence: the same by intervals; None where no traffic was seen, and in records of versions that
    did not look. payload: octets that arrived in each interval, a series for each direction;
    counted at the hosts' ports without headers, so segments that were sent again count again.
    """

    directions: tuple[TcpDirectionResult, ...]
    elapsed_s: float
    server_cpu_s: float
    clients_cpu_s: float
    vswitch_cpu_s: float | None = None
    programs: tuple[TcpProgram, ...] = ()
    others_cpu_s: float = 0.0
    others: tuple[str, ...] = ()
    evidence: TcpEvidence | None = None
    payload: tuple[Series, ...] = ()

    def rate_bps(self, direction: TcpDirection) -> float:
        """Of all clients together, in the time that counts, disturbed or not.

        Counted at the ports, as tests of several clients may begin seconds apart on a busy host:
        then the sum of what each had in its own time is more than was ever carried at once. That
        sum is all there is in records of versions that did not look at the ports.
        """
        counted, evidence = self._payload(direction), self.evidence
        if counted is None or evidence is None:
            return sum(d.bits_per_second for d in self.directions if d.direction is direction)
        within = [i for i in range(len(counted)) if evidence.counts(i)]
        seconds = sum(evidence.lengths_ns[i] for i in within) / 1e9
        return sum(counted[i] for i in within) * 8 / seconds if seconds else 0.0

    def _payload(self, direction: TcpDirection) -> tuple[float, ...] | None:
        return next((s.values for s in self.payload if s.name == direction), None)

    def taken_ratio(self, program: TcpProgram) -> float:
        """The share of its CPUs' time that hypervisor and competing processes took at most.

        Its threads also wait for each other, and for the bench's other programs where these share
        their CPUs. That is part of what is measured, so no more counts as waiting than competing
        processes ran. These may have run on further CPUs, and several threads have waited at once:
        more than all of the time cannot be taken.
        """
        taken_s = program.steal_s + min(program.waited_s, self.others_cpu_s)
        return min(1.0, taken_s / (self.elapsed_s * program.cpus))


@dataclass(frozen=True, slots=True)
class TcpFigure:
    """One direction over all runs: as this host is, and undisturbed.

    median_bps, lowest_bps, highest_bps: of whole runs, whatever disturbed them. undisturbed_bps:
    the mean rate over time in which nothing was taken from the programs; None where there is not
    enough of that. With 95% confidence it lies within +- undisturbed_error_bps.
    limited_by: what most tests (runs x clients) were told; `agreeing` of `tests` were. because: of
    the first that was.
    """

    direction: TcpDirection
    median_bps: float
    lowest_bps: float
    highest_bps: float
    retransmits: int
    limited_by: str
    because: tuple[str, ...]
    agreeing: int
    tests: int
    transfer_time_ratio: float | None
    tcp_efficiency_percent: float | None
    buffer_delay_percent: float | None
    undisturbed_bps: float | None = None
    undisturbed_error_bps: float | None = None


@dataclass(frozen=True, slots=True)
class TcpResult:
    """What a point of TCP traffic showed.

    cpu_s_per_gbit: CPU time for each Gbit moved, both directions together.

    discarded: how further runs failed. watched_s: time of all runs that was looked at by intervals;
    clean_s: how much of it was undisturbed, in `pieces` of at most 0.3 s. left_out: the rest of it.
    beaten_share: the share of rotations of the undisturbed intervals against the rates that the
    true ones are faster than; None where little was left out, or too little was undisturbed.
    """

    figures: tuple[TcpFigure, ...]
    runs: tuple[TcpRun, ...]
    server_cpu_s_per_gbit: float
    clients_cpu_s_per_gbit: float
    vswitch_cpu_s_per_gbit: float | None
    discarded: tuple[str, ...] = ()
    watched_s: float = 0.0
    clean_s: float = 0.0
    pieces: int = 0
    left_out: tuple[LeftOut, ...] = ()
    beaten_share: float | None = None

    @property
    def clean_share(self) -> float:
        """Of the time that was watched."""
        return self.clean_s / self.watched_s if self.watched_s else 0.0

    @property
    def undisturbed_bps(self) -> float | None:
        """Both directions together; None where it is not known."""
        known = [f.undisturbed_bps for f in self.figures if f.undisturbed_bps is not None]
        return sum(known) if known and len(known) == len(self.figures) else None

    @property
    def total_bps(self) -> float:
        """As this host is: the medians over the runs, both directions together."""
        return sum(figure.median_bps for figure in self.figures)

    @property
    def cpu_s_per_gbit(self) -> float:
        """Of all programs together."""
        parts = (self.server_cpu_s_per_gbit, self.clients_cpu_s_per_gbit,
                 self.vswitch_cpu_s_per_gbit or 0.0)  # fmt: skip
        return sum(parts)

# SPDX-License-Identifier: Apache-2.0
"""Define a point's result as the result document has it; its JSON Schema is made from these."""

from __future__ import annotations

from typing import Annotated, Literal

from annotated_types import Ge
from typing_extensions import TypedDict

from wirespeed.model.cpus import PlacementKind
from wirespeed.model.result.result import BackToBack, Grade
from wirespeed.model.result.tcp import TcpFigure, TcpLeftOut, TcpRun
from wirespeed.model.study.spec import SearchKind
from wirespeed.report.json.trial_types import Count, Latency, LeftOut, NotNegative, Share

_GRADE = Grade | None


class Fps(TypedDict):
    """Frames/s."""

    value: NotNegative
    unit: Literal["fps"]


class BpsL1(TypedDict):
    """Bits/s on the wire: each frame with 20 octets of preamble and inter-frame gap."""

    value: NotNegative
    unit: Literal["bps"]


class BpsL2(TypedDict):
    """Bits/s of whole frames, FCS included."""

    value: NotNegative
    unit: Literal["bps"]


class Rate(TypedDict):
    """A frame rate and its bandwidth."""

    rate: Fps
    bandwidth: BpsL1
    bandwidth_l2: BpsL2
    line_share: NotNegative
    """Share of theoretical_max. Above 1 where virtual ports are faster than the nominal link,
    unless traffic.link_bound held the load to it."""


class Bound(Rate):
    """A load with its loss."""

    forwarding_rate: Fps
    """Rate forwarded at that load."""
    loss_ratio: float
    """Share of the frames lost."""


class Interval(TypedDict):
    """The two loads between which a limit lies."""

    lower: Bound | None
    """Highest load that met the goal; null if the minimum load failed."""
    upper: Bound | None
    """Lowest load that did not; null if the maximum load passed."""


class Undisturbed(TypedDict):
    """The trials at the load that decides, without noisy time."""

    load: Fps
    """The NDR, or the load held; of an MRR, the rate received."""
    clean_share: Share
    """steady_s / measured_s, the share of the time that grades."""
    measured_s: NotNegative
    """Time of traffic, in s."""
    clean_s: NotNegative
    """Time of it that counts, in s."""
    windows: Count
    """Number of windows that count."""
    runs: Count
    """Number of pieces that they form."""
    offered: Count
    """Frames in these windows."""
    lost: Count
    """Frames of these that were lost."""
    loss_bound: NotNegative
    """Upper bound of the share lost, at 95% confidence."""
    lossy_runs_bound: Share | None
    """Upper bound of the share of pieces with loss, at 95% confidence: losses cluster, so
    loss_bound alone promises too much. Null if a frame was lost."""
    growth: float
    """Growth of the queues per frame offered."""
    growth_error: float
    """Half of the 95% interval of growth."""
    width: float
    """Limit of growth, and width of the search."""
    steady_s: NotNegative | None
    """Time without disturbance, whether queues had drained or not, in s; null in records of an
    older version."""
    left_out: list[LeftOut]
    """Excluded shares of the time."""


class AsIs(TypedDict):
    """Whole trials, noise included. One trial hardly predicts the next."""

    mrr: Rate | None
    """Median rate received under overload."""
    load: Fps | None
    """Load of the next two: the NDR, or the load held."""
    loss_ratio_low: float | None
    """Smallest share of the frames that a trial at that load lost."""
    loss_ratio_high: float | None
    """Largest share."""
    lossless: Rate | None
    """Highest load at which a whole trial lost nothing."""
    lossless_s: float | None
    """Length of that trial, in s."""


class Bracket(TypedDict):
    """Range of the limit if no load could be judged finely."""

    carried: Rate | None
    """Load at which a whole trial lost nothing."""
    overloads: Rate | None
    """Load that is provably too much."""


class LatencyAtLoad(Latency):
    """Latency of all frames at a load, and of those sent in clean time."""

    load: Fps
    undisturbed: Latency | None
    """Null if no time was clean."""


class Result(TypedDict):
    """Result of a search over frames.

    ndr, pdr, mrr and constant are of clean time, as_is is of all time. A rate that was not searched
    for, or not found, is null.
    """

    type: Literal["ndrpdr", "mrr", "constant", "back_to_back"]
    """Meaning of the rates."""
    search: SearchKind
    """search.kind of the study."""
    rfc2544_conformant: bool
    """The trial rules of RFC 2544 were kept; never with a grade below A."""
    grade: _GRADE
    """Certainty of the rates. A: quiet, whole trials count; B and C: without noisy time, most
    or little of it clean; D: a bracket. Null without a rate, and in records of an older version."""
    because: list[str]
    """Reasons against a better grade."""
    limited_by: str | None
    """Reason why the SUT's own limit was not reached, e.g. shared_lcore, shared_partner, generator,
    link (its line rate) or max_load; null if it was."""
    emulated: str | None
    """Part of the SUT that ran on emulated CPUs, and why: the rates and latency then say nothing
    about speed; null if none did."""
    not_measurable: str | None
    """Reason why there is no rate, not even of one trial."""
    notes: list[str]
    """Sentences for the reader of the rates."""
    max_load: Rate | None
    """Highest load that the search used."""
    mrr: Rate | None
    """Maximum receive rate: rate received at the highest offered load, of clean windows."""
    mrr_relative_error: NotNegative | None
    """Half of the 95% interval of mrr over its trials, relative to it; null if unknown."""
    ndr: Interval | None
    """Non-drop rate: highest load without loss and without growing queues, lowest that failed."""
    pdr: Interval | None
    """Partial drop rate: the same with search.pdr_loss tolerated."""
    constant: Bound | None
    """Load that a fixed or soak search held."""
    undisturbed: Undisturbed | None
    """Evidence of the rates above; null if no time was clean."""
    as_is: AsIs | None
    """Rates over all time, as users of this host get them."""
    bracket: Bracket | None
    """Range of the limit with grade D, instead of an ndr."""
    back_to_back: BackToBack | None
    """Longest burst without loss (RFC 9004)."""
    latency_forward: dict[str, LatencyAtLoad]
    """One-way latency at shares of the PDR; pdr_50 is at half the PDR."""
    placement: PlacementKind | None
    """Placement of the polling CPUs in the trials that decide; null if unknown."""
    by_placement: list[Result]
    """Results of the other placements that the point met. They are never pooled."""


class Tcp(TypedDict):
    """TCP between hosts: medians over the runs, and every run."""

    total_bps: float
    """Payload in bits/s over all time, both directions together."""
    figures: list[TcpFigure]
    """One for each direction."""
    runs: list[TcpRun]
    """Every run, in order."""
    server_cpu_s_per_gbit: float
    """CPU time of the server, user and system, in s for each Gbit moved."""
    clients_cpu_s_per_gbit: float
    """CPU time of all clients, likewise."""
    vswitch_cpu_s_per_gbit: float | None
    """CPU time of Open vSwitch, likewise; null without one."""
    discarded: list[str]
    """Reasons why further runs failed."""
    watched_s: float
    """Time of all runs that was observed by intervals, in s."""
    clean_s: float
    """Clean time, in s."""
    pieces: Annotated[int, Ge(0)]
    """Number of pieces of at most 0.3 s that clean_s consists of."""
    left_out: list[TcpLeftOut]
    """Excluded shares of watched_s."""
    beaten_share: float | None
    """Placebo: share of rotations of the clean intervals that the true ones are faster than; null
    if little was excluded, or too little was clean."""


class TcpResult(TypedDict):
    """Result of a point with TCP traffic."""

    type: Literal["tcp"]
    search: Literal["tcp"]
    rfc2544_conformant: Literal[False]
    not_measurable: str | None
    """Reason why there is no rate although the runs ended."""
    grade: _GRADE
    """Certainty of the rates, as of a search over frames."""
    because: list[str]
    """Reasons against a better grade."""
    notes: list[str]
    """Sentences for the reader of the rates."""
    tcp: Tcp | None
    """Null if no run counts."""

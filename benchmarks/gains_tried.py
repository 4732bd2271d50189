# SPDX-License-Identifier: Apache-2.0
"""Try the changes that explanations propose, and test whether the printed gains hold.

Points with settings that cost rate (few descriptors, one queue, more flows than the EMC holds) run
through a real Open vSwitch with DPDK and are explained. Each change that a study can make here is
measured twice, as `wirespeed explain --try` does it: PAIRS pairs, matched within a CPU placement,
one overloaded trial each. The first gain is the printed one (kind "measured"), the second tries it:
it holds where the intervals overlap. A gain of another kind holds where the tried interval overlaps
it, or, for a bound, begins below it. GAINS printed gains are tried (default 4); at least 17 of 20
must hold. Fails below that share.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterator
from itertools import islice

from benchmarks.fault_pairs import pairs
from benchmarks.shared.figures import show
from benchmarks.shared.point import point_of, searched

from wirespeed.bench.assembly.kinds import sut_of
from wirespeed.explain.explain import explain
from wirespeed.explain.interface import Measured
from wirespeed.explain.tried import MeasuredGain, measured_gain
from wirespeed.model.result.explanation import ExpectedGain, Explanation, GainKind, Proposal
from wirespeed.model.result.result import SearchResult
from wirespeed.model.study.spec import Frames
from wirespeed.session.rig import local_rig
from wirespeed.store.codec import decode, encode

GAINS = int(os.environ.get("GAINS", "4"))
PAIRS = int(os.environ.get("PAIRS", "6"))
ASKED = 17 / 20
SETTINGS = (
    ("sut.vswitch.descriptors=64",),
    ("traffic.flow_field=src_ip", "traffic.flows=65536"),
    ("sut.vswitch.descriptors=128", "traffic.flows=16384"),
    ("sut.vswitch.mtu=9000",),
    ("search.max_load_fps=200000",),
)
POINTS = tuple(
    (f"topology.kind={kind}", f"traffic.frame={size}", *settings)
    for settings in SETTINGS
    for kind in ("p2p", "pvp")
    for size in (64, 512)
)


def explained(overrides: tuple[str, ...]) -> tuple[float, tuple[Explanation, ...]]:
    """Return the MRR in frames/s (0 if unknown) and the explanations of a point."""
    frames = point_of("quickstart", *overrides)
    result = decode(SearchResult, encode(searched(frames)))
    rig = local_rig()
    point = Measured(sut_of(frames), result, workload=frames, plan=rig.plan(frames), host=rig.facts)
    return result.mrr_fps or 0.0, explain(point)


def proposals() -> Iterator[tuple[tuple[str, ...], float, Proposal, ExpectedGain | None]]:
    """Yield the point, its MRR, and each change that can be tried, with its gain as printed."""
    for overrides in POINTS:
        mrr_fps, found = explained(overrides)
        changes = {e.proposal.change: e for e in found if e.proposal and e.proposal.keys}
        for change in changes.values():
            assert change.proposal is not None
            yield overrides, mrr_fps, change.proposal, change.gain


def tried(before: Frames, after: Frames) -> MeasuredGain | None:
    """Return the gain over PAIRS pairs; None where no pair was matched."""
    rates: list[tuple[float, float]] = []
    for proof in pairs(before, after):
        rates = [(pair.before, pair.after) for pair in proof.matching.pairs]
        if len(rates) >= PAIRS:
            break
    return measured_gain(rates) if rates else None


def within(printed: ExpectedGain, mrr_fps: float, found: MeasuredGain) -> bool:
    """Return whether a gain in frames/s that an explanation printed is one that was found."""
    ratio = printed.value / mrr_fps if mrr_fps else math.inf
    return found.low <= ratio and (printed.kind is GainKind.BOUND or ratio <= found.high)


def main() -> int:
    holds: list[bool] = []
    for overrides, mrr_fps, proposal, printed in islice(proposals(), GAINS):
        keys = tuple(f"{change.key}={change.value}" for change in proposal.keys)
        before = point_of("quickstart", *overrides)
        after = point_of("quickstart", *overrides, *keys)
        first, second = tried(before, after), tried(before, after)
        print(f"# {' '.join(overrides)}: {' '.join(keys)}", flush=True)
        if first is None or second is None:
            print("#   no pair within a placement")
            continue
        for gain in (first, second):
            show("gain", 100 * gain.gain, f"% {100 * gain.low:.1f} to {100 * gain.high:.1f}")
        holds.append(first.low <= second.high and second.low <= first.high)
        if printed is not None and printed.unit == "frames/s":
            holds.append(within(printed, mrr_fps, first))
            show("printed", printed.value, f"{printed.unit} {printed.kind} {holds[-1]}")
    if not holds:
        print("no change could be tried on this host")
        return 1
    show("gains_that_hold", sum(holds), f"of-{len(holds)} asked {ASKED:g} of them")
    return 0 if sum(holds) >= ASKED * len(holds) else 1


if __name__ == "__main__":
    sys.exit(main())

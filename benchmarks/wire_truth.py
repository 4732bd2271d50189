# SPDX-License-Identifier: Apache-2.0
"""Check measured rates of a SUT whose behaviour is known exactly.

`wire`: real generator, real analyser, and between them the reference SUT (`impair`) of hidden rate,
loss, delay and stalls. The host has no noise, many stops of the CPU, or another program on it. Each
result is printed next to the true one. Fails when a search had no rate.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from statistics import median

from benchmarks.shared.disturbances import taking_cpu
from benchmarks.shared.figures import show
from benchmarks.shared.point import point_of, searched, trials_at

from wirespeed.measure.conservation import unaccounted_frames
from wirespeed.measure.run import WIDTH, WIDTH_WHEN_DISTURBED
from wirespeed.model.result.result import Grade, SearchResult
from wirespeed.model.study.spec import Frames
from wirespeed.session.rig import local_rig

RATES_FPS = (100e3, 200e3, 500e3, 1e6, 2e6)
LOSS_EVERY = (0, 1000, 200, 100)
LOSS_LOAD_FPS = 500e3
STALLED_RATE_FPS, STALL_EVERY_NS, STALL_NS = 1e6, 50_000_000, 5_000_000
DELAY_NS = 50_000
LATENCY_LOAD_FPS = 100e3
LATENCY_TRIALS = 5


def poller_cpu(spec: Frames) -> int:
    """Return the CPU that generator, reference SUT and analyser share."""
    [host] = local_rig().plan(spec).hosts
    assert host.generator is not None
    return host.generator.cpus.value[0]


@contextmanager
def both(cpu: int) -> Iterator[None]:
    """Make stops of several lengths, and run a program on the CPU for half a second at a time."""
    with taking_cpu(cpu, every_s=0.05, length_s=0.002), taking_cpu(cpu, 0.5, 0.5, priority=0):
        yield


def noises(cpu: int) -> dict[str, AbstractContextManager[None]]:
    return {
        "left_alone": nullcontext(),
        "stopped_for_1ms": taking_cpu(cpu, every_s=0.04, length_s=0.001),
        "stopped_and_shared": both(cpu),
    }


def tolerance(result: SearchResult) -> float:
    """Return what the search leaves open: how much queues may grow, and its own width."""
    quiet = result.grade in (Grade.A, Grade.B)
    return 2 * (WIDTH if quiet else WIDTH_WHEN_DISTURBED)


def rates() -> bool:
    """Print NDR and PDR next to the hidden rate, under each noise."""
    found_all, false_passes = True, 0
    for rate_fps in RATES_FPS:
        spec = point_of("wire", f"sut.impair.rate_fps={rate_fps}")
        for noise, disturbing in noises(poller_cpu(spec)).items():
            with disturbing:
                result = searched(spec)
            name = f"wire_{rate_fps / 1e6:g}Mpps_{noise}"
            print(f"{name} grade {result.grade}; {'; '.join(result.because)}")
            for goal, interval in (("ndr", result.ndr), ("pdr", result.pdr)):
                if interval is None or interval.lower is None:
                    print(f"{name}_{goal} has no lower bound: {result.bracket} {result.notes}")
                    found_all = False
                    continue
                ratio = interval.lower.load_fps / rate_fps
                false_passes += ratio > 1 + tolerance(result)
                show(f"{name}_{goal}", interval.lower.load_fps, "fps", ratio, "hidden-rate")
            show(
                f"{name}_unexplained",
                sum(unaccounted_frames(t.observation) for t in result.trials),
                "frames",
            )
            overhead_s = [trial.observation.overhead_s for trial in result.trials]
            show(f"{name}_overhead_a_trial_median", median(overhead_s), "s")
    show("wire_rates_above_hidden_rate_plus_widths", false_passes, "figures")
    return found_all


def losses() -> None:
    """Print clean loss next to every Nth of the offered frames, under each noise."""
    false_zeros = covered = judged = 0
    for every in LOSS_EVERY:
        spec = point_of(
            "wire", "sut.impair.rate_fps=0", f"sut.impair.loss_every={every}",
            "search.kind=fixed", f"search.load_fps={LOSS_LOAD_FPS}", "search.trial_s=2",
            "search.latency=false",
        )  # fmt: skip
        truth = 1 / every if every else 0.0
        for noise, disturbing in noises(poller_cpu(spec)).items():
            with disturbing:
                result = searched(spec)
            name = f"wire_loss_{truth:.1%}_{noise}"
            found = result.undisturbed
            if found is None:
                print(f"{name}: no clean time; {result.because}")
                continue
            ratio = found.lost / found.offered
            false_zeros += bool(truth) and found.lost == 0
            judged += 1
            covered += ratio <= found.loss_bound and truth <= found.loss_bound
            show(
                name,
                ratio,
                f"of-frames-grade-{result.grade}",
                ratio / truth if truth else 1.0,
                "truth",
            )
    show("wire_loss_false_zero", false_zeros, "figures")
    show("wire_loss_truth_within_bound", covered, f"of-{judged}-figures")


def stalls() -> None:
    """Check that a SUT that stalls by itself is not excused: what its stalls lose stays lost."""
    spec = point_of(
        "wire", f"sut.impair.rate_fps={STALLED_RATE_FPS}",
        f"sut.impair.stall_every_ns={STALL_EVERY_NS}", f"sut.impair.stall_ns={STALL_NS}",
        "search.kind=fixed", f"search.load_fps={0.8 * STALLED_RATE_FPS}", "search.trial_s=2",
        "search.latency=false",
    )  # fmt: skip
    result = searched(spec)
    found = result.undisturbed
    if found is None:
        print("wire_own_stalls: no clean time")
        return
    # Frames that do not fit into the queue while nothing is served.
    lost_each = 0.8 * STALLED_RATE_FPS * STALL_NS / 1e9 - spec.sut.impair.queue_frames
    truth = lost_each / (0.8 * STALLED_RATE_FPS * STALL_EVERY_NS / 1e9)
    ratio = found.lost / found.offered
    show("wire_own_stalls_undisturbed_loss", ratio, "of-frames", ratio / truth, "what-stalls-lose")


def delay() -> None:
    """Print median latency next to the configured delay, net of the run without delay."""
    medians_ns = {}
    for delay_ns in (0, DELAY_NS):
        spec = point_of("wire", "sut.impair.rate_fps=0", f"sut.impair.delay_ns={delay_ns}")
        trials = trials_at(spec, [LATENCY_LOAD_FPS] * LATENCY_TRIALS, 1.0)
        latencies = [
            t.observation.latency.p50_ns for t in trials if t.observation.latency is not None
        ]
        medians_ns[delay_ns] = median(latencies)
        show(f"wire_p50_at_delay_{delay_ns / 1e3:g}us", medians_ns[delay_ns] / 1e3, "us")
    net_ns = medians_ns[DELAY_NS] - medians_ns[0]
    show("wire_p50_net_of_zero_delay", net_ns / 1e3, "us", net_ns / DELAY_NS, "configured-delay")
    show("wire_p50_error", (net_ns - DELAY_NS) / 1e3, "us")


def main() -> int:
    found_all = rates()
    losses()
    stalls()
    delay()
    return 0 if found_all else 1


if __name__ == "__main__":
    sys.exit(main())

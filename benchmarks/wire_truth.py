# SPDX-License-Identifier: Apache-2.0
"""Does the measurement tell the truth about a SUT whose behaviour is known exactly?

`wire`: real generator, real analyser, and between them the reference SUT (`impair`) of configured
rate, loss and delay. Fails when a search had no valid result.
"""

from __future__ import annotations

import sys
from statistics import median

from benchmarks.figures import show
from benchmarks.point import point_of, searched, trials_at

from wirespeed.measure.account import unexplained

RATES_FPS = (200e3, 1e6, 2e6)
LOSS_EVERY = 1000
DELAY_NS = 50_000
LOSS_LOAD_FPS = 500e3
LATENCY_LOAD_FPS = 100e3
LATENCY_TRIALS = 5


def rates() -> bool:
    """NDR and PDR beside the configured rate."""
    found_all = True
    for rate_fps in RATES_FPS:
        result = searched(point_of("wire", f"sut.impair.rate_fps={rate_fps}"))
        name = f"wire_{rate_fps / 1e6:g}Mpps"
        for goal, interval in (("ndr", result.ndr), ("pdr", result.pdr)):
            if interval is None or interval.lower is None:
                print(f"{name}_{goal} not measurable: {result.not_measurable}")
                found_all = False
                continue
            lower_fps = interval.lower.forwarding_fps
            show(f"{name}_{goal}", lower_fps, "fps", lower_fps / rate_fps, "configured-rate")
        overhead_s = [trial.seen.overhead_s for trial in result.trials]
        show(f"{name}_overhead_a_trial_median", median(overhead_s), "s")
        show(f"{name}_overhead_a_trial_longest", max(overhead_s), "s")
        show(f"{name}_unexplained", sum(unexplained(t.seen) for t in result.trials), "frames")
    return found_all


def loss() -> None:
    """Lost frames beside every Nth of the offered ones."""
    spec = point_of("wire", "sut.impair.rate_fps=0", f"sut.impair.loss_every={LOSS_EVERY}")
    for number, trial in enumerate(trials_at(spec, [LOSS_LOAD_FPS] * 3, 1.0), 1):
        expected = trial.offered // LOSS_EVERY
        ratio = trial.lost / expected
        show(f"wire_lost_frames_{number}", trial.lost, "frames", ratio, f"{expected}-expected")
        show(f"wire_lost_frames_{number}_unexplained", unexplained(trial.seen), "frames")


def delay() -> None:
    """Median latency beside the configured delay, net of the run without delay."""
    medians_ns = {}
    for delay_ns in (0, DELAY_NS):
        spec = point_of("wire", "sut.impair.rate_fps=0", f"sut.impair.delay_ns={delay_ns}")
        trials = trials_at(spec, [LATENCY_LOAD_FPS] * LATENCY_TRIALS, 1.0)
        latencies = [t.seen.latency.p50_ns for t in trials if t.seen.latency is not None]
        medians_ns[delay_ns] = median(latencies)
        show(f"wire_p50_at_delay_{delay_ns / 1e3:g}us", medians_ns[delay_ns] / 1e3, "us")
    net_ns = medians_ns[DELAY_NS] - medians_ns[0]
    show("wire_p50_net_of_zero_delay", net_ns / 1e3, "us", net_ns / DELAY_NS, "configured-delay")
    show("wire_p50_error", (net_ns - DELAY_NS) / 1e3, "us")


def main() -> int:
    found_all = rates()
    loss()
    delay()
    return 0 if found_all else 1


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""Measure the model's error on S2's published rates, fitted and excluded from the fit.

All errors are of the predicted rate. The model's structure, its sharpness and its refusal share
were chosen with all of S2 seen. So the errors of held-out curves are those of parameters, not of a
structure that had never seen them. Next to each error stand the required one and the baseline:
interpolation of the rate over the logarithm of the frame size, on log scales, within the same
interface, pattern and number of functions. Beyond the ends, the line continues.

S4's host table and S3's jumbo frames are fitted with parameters of their own machines.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence

import numpy as np
from benchmarks.shared.figures import show

from wirespeed.model.plan.prediction import Arrangement, Attachment
from wirespeed.predict.check import errors, held_out, leave_curves_out
from wirespeed.predict.fit import fit
from wirespeed.predict.observation import Observation
from wirespeed.predict.parameters import QUANTITIES, Parameters
from wirespeed.predict.pcie import Floats
from wirespeed.predict.predict import describe, predict
from wirespeed.predict.published import ASSUMED, published, shipped_parameters
from wirespeed.predict.regression import columns, solve
from wirespeed.predict.solve import needed

SIZES_HELD_OUT = (256, 1024)
SMALL_CHAINS = 4
WORST = 5
POINTS_FOR_SPEED = 20_000
# Why the worst points are worst, as far as the table itself shows.
REASONS = {
    "sriov east-west 512 B": "7% slower than sizes on both sides of it suggest, in every chain",
    "sriov east-west 64 B": "published rates scatter by 15% from chain to chain without an order",
    "sriov east-west 128 B": "the chain of 8 is 7% below all others",
    "vhost north-south 256 B": "published rates zigzag with the number of functions",
    "vhost north-south 512 B": "published rates zigzag with the number of functions",
    "sriov north-south 128 B": "one function is as fast as at 64 B; the model's queue slows down",
    "vhost east-west 1518 B": "the cost of an octet grows above 1,024 octets; the model's does not",
}


def main() -> int:
    observations = published("s2")
    cases, rates = columns(observations)
    known = dict(ASSUMED)
    names = [name for name in needed(cases) if name not in known]
    given = [q.name for q in QUANTITIES if q.given]
    show("s2_points", len(observations), "points")
    split = f"({len(names)} fitted, {len(given)} set) asked 15"
    show("s2_parameters", len(names) + len(given), split)
    values = known | solve(cases, rates, names, known).values
    missed = errors(observations, values)
    show_errors("in_sample", missed, median=1.2, mean=2.2, p90=5.5)
    check_shipped(values, shipped_parameters())
    left_out = leave_curves_out(observations, names, known)
    for curve, found in left_out.items():
        show(f"left_out {curve}", 100 * float(np.median(np.abs(found))), "% median")
    show_errors("curve_left_out", np.concatenate(list(left_out.values())), median=2.0, p90=10.0)
    show_errors("baseline_curve_left_out", interpolated(observations))
    extrapolated(observations, names, known)
    sizes = [o.case.frame_bytes in SIZES_HELD_OUT for o in observations]
    show_errors("without_256_and_1024", held_out(observations, sizes, names, known), median=3.0)
    worst(observations, missed)
    speed(observations, shipped_parameters())
    of_machine("s4", ("port_ns", "function_ns", "queue_ns", "transmit_share"))
    of_machine("s3", ("vhost_rx_ns", "vhost_tx_byte_ns", "function_ns", "transmit_share"))
    return 0


def show_errors(name: str, missed: Floats, **asked: float) -> None:
    """Print median, mean and 90th percentile of the error next to the required ones."""
    found = np.abs(missed) * 100
    figures = {
        "median": float(np.median(found)),
        "mean": float(found.mean()),
        "p90": float(np.percentile(found, 90)),
    }
    for figure, value in figures.items():
        wanted = f"% asked {asked[figure]:g}" if figure in asked else "%"
        show(f"{name}_{figure}", value, wanted)


def check_shipped(values: Mapping[str, float], shipped: Parameters) -> None:
    """Exit where the shipped parameters differ from what their data give."""
    for name, estimate in shipped.values.items():
        if abs(values[name] / estimate.value - 1) > 0.01:
            sys.exit(f"{name}: {values[name]:.4g} fitted, {estimate.value:.4g} shipped")


def extrapolated(
    observations: Sequence[Observation], names: Sequence[str], known: Mapping[str, float]
) -> None:
    """Fit to 1 to 4 functions, and predict 5 to 8."""
    out = [o.case.functions > SMALL_CHAINS for o in observations]
    missed = held_out(observations, out, names, known)
    show_errors("functions_5_to_8", missed, median=2.0)
    tested = [o for o, left in zip(observations, out, strict=True) if left]
    vhost = np.array([
        o.case.attachment is Attachment.VHOST and o.case.arrangement is Arrangement.PARALLEL
        for o in tested
    ])  # fmt: skip
    show_errors("functions_5_to_8_vhost_north_south", missed[vhost], median=6.0)


def interpolated(observations: Sequence[Observation]) -> Floats:
    """Return the baseline's errors: each size from the other sizes of its row."""
    rows: dict[tuple[object, ...], list[Observation]] = {}
    for o in observations:
        rows.setdefault((o.case.attachment, o.case.arrangement, o.case.functions), []).append(o)
    found = []
    for row in rows.values():
        sizes = np.log([o.case.frame_bytes for o in row])
        logs = np.log([o.rate_fps for o in row])
        for number in range(len(row)):
            others = np.arange(len(row)) != number
            below = max(0, min(number - 1, len(row) - 3))
            x, y = sizes[others][below : below + 2], logs[others][below : below + 2]
            guess = y[0] + (y[1] - y[0]) * (sizes[number] - x[0]) / (x[1] - x[0])
            found.append(np.expm1(guess - logs[number]))
    return np.array(found)


def worst(observations: Sequence[Observation], missed: Floats) -> None:
    print(f"# the worst {WORST} points in sample")
    for number in np.argsort(-np.abs(missed))[:WORST]:
        found = observations[number]
        why = REASONS.get(found.curve, "unexplained")
        print(
            f"worst {describe(found.case)}: measured {found.rate_fps / 1e6:.2f} Mpps, "
            f"predicted {missed[number]:+.1%}: {why}"
        )


def speed(observations: Sequence[Observation], parameters: Parameters) -> None:
    cases = [o.case for o in observations]
    cases = (cases * (POINTS_FOR_SPEED // len(cases) + 1))[:POINTS_FOR_SPEED]
    begun = time.perf_counter()
    predict(cases, parameters)
    show("predicted", len(cases) / (time.perf_counter() - begun), "points/s asked 10,000")


def of_machine(name: str, free: Sequence[str]) -> None:
    """Fit another paper's rates with its own parameters; those not in `free` are S2's."""
    observations = published(name)
    known = {n: e.value for n, e in shipped_parameters().values.items() if n not in free}
    fitted = fit(observations, name.upper(), known=known)
    missed = errors(observations, {n: e.value for n, e in fitted.values.items()})
    show_errors(f"{name}_in_sample", missed)
    show(f"{name}_largest", 100 * float(np.max(np.abs(missed))), "%")
    for parameter in free:
        if parameter in fitted.values:
            estimate = fitted.values[parameter]
            sure = "" if estimate.determined else " (not determined by these data)"
            print(f"{name} {parameter} {estimate.value:.4g}{sure}")
    for number in np.argsort(-np.abs(missed))[:3]:
        found = observations[number]
        size = f"{found.case.frame_bytes:g} B"
        print(f"{name} {found.label}, {size}: predicted {missed[number]:+.1%}")


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""Measure what following an audit rule about a kernel setting brings.

Needs root. Each setting of SETTINGS that this kernel lets change is set to the value that the rule
rejects (A) and to the one that it wants (B), in turns matched by CPU placement, as `wirespeed
compare --interleaved` does it. A measurement is the rate of p2p, 64 B through a real Open vSwitch
with DPDK, started anew under the setting: one overloaded trial of TRIAL_S, all time counted. PAIRS
is the most pairs of a setting (default 12); turns end earlier where a difference is proven, or one
of WORTH is excluded. Prints each effect with its 95% interval, and then the rows of
src/wirespeed/audit/data/measured.csv. The bench's journal restores every setting: after a kill,
`wirespeed clean` does. The power saving of PCIe links is not here: p2p crosses none.
"""

from __future__ import annotations

import csv
import io
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import astuple, dataclass
from datetime import UTC, datetime

from benchmarks.shared.figures import show
from benchmarks.shared.point import point_of, trials_at

from wirespeed.audit.evidence import MeasuredEffect
from wirespeed.bench.host.host import terminated_like_interrupted
from wirespeed.bench.interface import BenchError
from wirespeed.experiment.turns import NOTHING, Compared, Rates, Stop, compare_in_turns
from wirespeed.measure.interface import UNLIMITED
from wirespeed.model.cpuset import format_mask
from wirespeed.model.host.facts import HostFacts
from wirespeed.model.study.spec import Frames
from wirespeed.remote.local import LocalRunner
from wirespeed.session.rig import local_rig
from wirespeed.tune.host_factors import host_set

PAIRS = int(os.environ.get("PAIRS", "12"))
WORTH, TRIAL_S = 0.01, 2.0
POINT = "p2p, 64 B"


@dataclass(frozen=True, slots=True)
class Setting:
    """A file of the kernel, with the value that a rule rejects and the one that it wants."""

    rule: str
    name: str
    path: str
    rejected: str
    wanted: str

    @property
    def change(self) -> str:
        return f"{self.name} from {self.rejected} to {self.wanted}"


FIXED = (
    Setting("WS58", "kernel.nmi_watchdog", "/proc/sys/kernel/nmi_watchdog", "1", "0"),
    Setting("WS59", "transparent huge pages", "/sys/kernel/mm/transparent_hugepage/enabled",
            "always", "madvise"),
    Setting("WS60", "KSM", "/sys/kernel/mm/ksm/run", "1", "0"),
    Setting("WS61", "vm.stat_interval", "/proc/sys/vm/stat_interval", "1", "10"),
    Setting("WS62", "kernel.sched_rt_runtime_us", "/proc/sys/kernel/sched_rt_runtime_us",
            "950000", "-1"),
)  # fmt: skip


def settings(online: set[int], polling: set[int]) -> Iterator[Setting]:
    """Yield the settings; workqueues leave the CPUs of the vSwitch, where others are left."""
    yield from FIXED
    if online - polling:
        masks = (format_mask(cpus).removeprefix("0x") for cpus in (online, online - polling))
        path = "/sys/devices/virtual/workqueue/cpumask"
        yield Setting("WS63", "CPU mask of workqueues", path, *masks)


def rates_of(point: Frames, files: Mapping[str, str]) -> Rates:
    """Measure the point once with these files set; empty where the CPUs moved meanwhile."""
    with host_set(LocalRunner(), files):
        trial = trials_at(point, [UNLIMITED], TRIAL_S)[0]
    return {} if trial.moved else {trial.placement: trial.forwarding_fps}


def compared(setting: Setting, point: Frames) -> Compared:
    """Compare the wanted value (B) with the rejected one (A). Raises BenchError."""
    levels = {False: setting.rejected, True: setting.wanted}
    return compare_in_turns(
        lambda side: rates_of(point, {setting.path: levels[side]}), Stop(WORTH, PAIRS)
    )


def effect(setting: Setting, found: Compared, facts: HostFacts) -> MeasuredEffect:
    """Return the row of a setting with its effect."""
    ratio = found.ratio
    machine = f"{len(facts.online_cpus)} CPUs of {facts.cpu_model}, Linux {facts.kernel.release}"
    return MeasuredEffect(
        setting.rule, setting.change, POINT, round(100 * ratio.gain, 2), round(100 * ratio.low, 2),
        round(100 * ratio.high, 2), ratio.pairs, datetime.now(UTC).date().isoformat(), machine,
    )  # fmt: skip


def csv_rows(rows: Iterable[MeasuredEffect]) -> str:
    """Return the rows as lines of the data file."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(map(astuple, rows))
    return text.getvalue()


def main() -> int:
    point = point_of("quickstart", "topology.kind=p2p", "traffic.frame=64")
    rig = local_rig()
    switch = rig.plan(point).sut_host.vswitch
    polling = set(switch.pmd_cpus.value) if switch else set()
    rows = []
    for setting in settings(set(rig.facts.online_cpus), polling):
        name = f"{setting.rule}_{setting.name.replace(' ', '_')}"
        try:
            found = compared(setting, point)
        except BenchError as error:
            print(f"{name}: not measured: {error.what}", flush=True)
            continue
        print(f"{name}: {found.answer}; {found.matching.words}", flush=True)
        if found.ratio == NOTHING:
            print(f"{name}: no interval, too few pairs within a placement", flush=True)
            continue
        row = effect(setting, found, rig.facts)
        show(name, row.effect_percent, f"% {row.low_percent:.2f} to {row.high_percent:.2f}")
        rows.append(row)
    print("\n# rows of src/wirespeed/audit/data/measured.csv")
    print(csv_rows(rows), end="")
    return 0 if rows else 1


if __name__ == "__main__":
    with terminated_like_interrupted():
        sys.exit(main())

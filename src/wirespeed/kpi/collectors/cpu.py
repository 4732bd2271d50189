# SPDX-License-Identifier: Apache-2.0
"""Collect the time of each CPU by use, its frequency, and whether the kernel isolates it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from wirespeed.kpi.collectors.files import Texts, file_source
from wirespeed.kpi.interface import HERTZ, NS, NUMBER, Missing, Name, Source, counter, gauge
from wirespeed.model.cpuset import parse_list
from wirespeed.remote.interface import Runner
from wirespeed.sources.scheduler import times_by_cpu

_STAT = "/proc/stat"
_ISOLATED = "/sys/devices/system/cpu/isolated"
_FREQUENCY = "/sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_cur_freq"
# Column of proc_stat(5). Idle and iowait may go back, so they are omitted.
_USES = {"user": 0, "nice": 1, "system": 2, "irq": 5, "softirq": 6, "steal": 7}


class CpuCollector:
    name = "cpu"
    cheap = True
    metrics = (
        *(
            counter(f"cpu_{use}_seconds", NS, "cpu", f"Time of a CPU in {use}", _STAT,
                    term="Processor utilisation, counted")
            for use in _USES
        ),
        gauge("cpu_frequency_hertz", HERTZ, "cpu", "Frequency of a CPU", "scaling_cur_freq"),
        gauge("cpu_isolated", NUMBER, "cpu", "1 where the scheduler leaves a CPU out", _ISOLATED),
    )  # fmt: skip

    def probe(self, runner: Runner) -> Sequence[Source] | Missing:
        return file_source(self.name, runner, (_STAT, _ISOLATED, *runner.glob(_FREQUENCY)), parse)


def parse(texts: Texts) -> Mapping[Name, int]:
    """Return the series of all CPUs that are online."""
    found: dict[Name, int] = {}
    times = times_by_cpu(texts.get(_STAT, ""))
    isolated = set(parse_list(texts.get(_ISOLATED, "").strip()))
    for cpu, columns in times.items():
        label = (str(cpu),)
        for use, column in _USES.items():
            found[f"cpu_{use}_seconds", label] = columns[column]
        found["cpu_isolated", label] = int(cpu in isolated)
    for path, text in texts.items():
        if path.endswith("scaling_cur_freq"):
            cpu_name = path.split("/")[5].removeprefix("cpu")
            found["cpu_frequency_hertz", (cpu_name,)] = int(text) * 1000  # the file has kHz
    return found

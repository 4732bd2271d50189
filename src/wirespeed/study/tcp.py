# SPDX-License-Identifier: Apache-2.0
"""Measure TCP at one point: repeat runs until enough of their time was clean.

There is no load to search for: TCP finds its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wirespeed.bench.interface import TcpBench
from wirespeed.measure.tcp import MIN_CLEAN_S, fault, grade, is_enough, placebo, summarise
from wirespeed.model.result.result import TCP, SearchResult
from wirespeed.model.result.tcp import TcpRun
from wirespeed.model.study.tcp import Tcp
from wirespeed.model.words import gbps
from wirespeed.study.interface import RunListener
from wirespeed.study.repeat import Judge, fewer, none_counts, repeat


def measure_tcp(bench: TcpBench, tcp: Tcp, listener: RunListener) -> SearchResult:
    """Return the result of the point's runs: tcp.repeats, and more only if they can help.

    Raises BenchError if runs fail repeatedly.
    """
    runs, discarded = repeat(bench, tcp.repeats, _TcpJudge(tcp), listener)
    if not runs:
        why, notes = none_counts(discarded)
        return SearchResult(TCP, conformant=False, trials=(), not_measurable=why, notes=notes)
    result = summarise(runs, tcp, discarded)
    found, because = grade(result)
    notes = (*fewer(len(runs), tcp.repeats), *placebo(result))
    return SearchResult(
        TCP, conformant=False, trials=(), tcp=result, notes=notes, grade=found, because=because
    )


@dataclass(frozen=True, slots=True)
class _TcpJudge(Judge[TcpRun]):
    tcp: Tcp

    def fault(self, run: TcpRun) -> str | None:
        return fault(run, self.tcp)

    def more(self, runs: Sequence[TcpRun], left: int) -> bool:
        result = summarise(runs, self.tcp)
        expected_s = result.clean_s * (1 + left / len(runs))
        return not is_enough(result) and expected_s >= MIN_CLEAN_S

    def words(self, run: TcpRun) -> str:
        directions = dict.fromkeys(result.direction for result in run.directions)
        return ", ".join(f"{d} {gbps(run.rate_bps(d))} Gbps" for d in directions)

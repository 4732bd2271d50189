# SPDX-License-Identifier: Apache-2.0
"""Choose the charts of a run over all its points."""

from __future__ import annotations

from wirespeed.report.charts.gateway import gateway_charts
from wirespeed.report.charts.netperf import message_chart
from wirespeed.report.charts.shapes import Chart
from wirespeed.report.charts.tcp import tcp_charts
from wirespeed.report.charts.throughput import throughput_chart
from wirespeed.store.records import RunRecord


def run_charts(run: RunRecord) -> tuple[Chart, ...]:
    """Return charts by frame size, of a gateway, and by TCP's streams and writes.

    Empty where nothing is varied.
    """
    rates = throughput_chart(run)
    found = () if rates is None else (rates,)
    return found + gateway_charts(run) + tcp_charts(run) + message_chart(run)

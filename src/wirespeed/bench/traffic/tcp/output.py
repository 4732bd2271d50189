# SPDX-License-Identifier: Apache-2.0
"""Parse the output of `wirespeed-speedtest client --json`."""

from __future__ import annotations

from statistics import fmean

from pydantic import BaseModel, ValidationError

from wirespeed.bench.interface import BenchError
from wirespeed.model.result.tcp import TcpDirectionResult, TcpSample
from wirespeed.model.study.tcp import TcpDirection


class _Counted(BaseModel):
    server: str
    bytes: int
    bits_per_second: float
    retransmits: int | None


class _Verdict(BaseModel):
    limited_by: str
    because: tuple[str, ...]


class _Metrics(BaseModel):
    """Metrics of RFC 6349."""

    transfer_time_ratio: float | None
    tcp_efficiency_percent: float
    buffer_delay_percent: float | None


class _Judged(BaseModel):
    server: str
    verdict: _Verdict
    rfc6349: tuple[_Metrics, ...]


class _Series(BaseModel):
    server: str
    tcp_info: tuple[TcpSample, ...]


class _Server(BaseModel):
    client_cpu_percent: float
    directions: tuple[_Judged, ...]
    series: tuple[_Series, ...]


class _Test(BaseModel):
    error: str | None
    directions: tuple[_Counted, ...] = ()
    server: _Server | None = None


class _Output(BaseModel):
    results: tuple[_Test, ...]


def read_output(text: str) -> tuple[tuple[TcpDirectionResult, ...], float]:
    """Return the directions of the test, and the client's CPU use as a share of a core.

    Raises BenchError when the test failed, or the text is not what the client prints.
    """
    try:
        [test] = _Output.model_validate_json(text).results
    except (ValidationError, ValueError):
        said = " ".join(text.split())[-300:] or "it said nothing"
        raise BenchError(f"the speed-test client did not print a result: {said}") from None
    if test.error is not None or test.server is None:
        raise BenchError(f"the speed test failed: {test.error or 'the server sent no verdict'}")
    server = test.server
    directions = tuple(_result(counted, server) for counted in test.directions)
    return directions, server.client_cpu_percent / 100


def _result(counted: _Counted, server: _Server) -> TcpDirectionResult:
    judged = next(one for one in server.directions if one.server == counted.server)
    metrics = judged.rfc6349
    return TcpDirectionResult(
        TcpDirection.DOWN if counted.server == "sends" else TcpDirection.UP,
        counted.bytes,
        counted.bits_per_second,
        counted.retransmits or 0,
        judged.verdict.limited_by,
        judged.verdict.because,
        _mean([m.transfer_time_ratio for m in metrics]),
        _mean([m.tcp_efficiency_percent for m in metrics]),
        _mean([m.buffer_delay_percent for m in metrics]),
        tuple(one.tcp_info for one in server.series if one.server == counted.server),
    )


def _mean(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None

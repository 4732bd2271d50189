# SPDX-License-Identifier: Apache-2.0
"""Count real TCP connections between network namespaces."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from pathlib import Path

import pytest

from wirespeed.bench.host.programs import find_program
from wirespeed.bench.interface import BenchError
from wirespeed.bench.site import Site
from wirespeed.bench.tcp_session.sessions import open_sessions_bench
from wirespeed.bench.traffic.tcp.programs import SPEEDTEST
from wirespeed.host.collect import collect
from wirespeed.model.plan.plan import Plan
from wirespeed.model.result.sessions import ACCEPTED
from wirespeed.model.study.sessions import Sessions, SessionsMode
from wirespeed.model.study.spec import TcpSessions, TcpStreams
from wirespeed.model.study.tcp import Tcp
from wirespeed.remote.local import LocalRunner
from wirespeed.session.rig import plan_of

RUNNER = LocalRunner()

pytestmark = pytest.mark.usefixtures("needs_root")


@pytest.fixture(autouse=True)
def no_namespace_left(needs_root: None) -> Iterator[None]:  # noqa: ARG001
    try:
        find_program(RUNNER, SPEEDTEST)
    except BenchError as missing:
        pytest.skip(missing.what)
    before = set(Path("/run/netns").glob("ws*"))
    yield
    assert set(Path("/run/netns").glob("ws*")) == before


def planned(spec: TcpSessions) -> Plan:
    return plan_of(collect(RUNNER), spec)


def point(sessions: Sessions, **tcp: int) -> TcpSessions:
    return TcpSessions(sessions, TcpStreams(Tcp(clients=2, seconds=1, omit_s=0, **tcp)))


def test_sessions_rate_agrees_with_what_the_server_accepted(tmp_path: Path) -> None:
    spec = point(Sessions(opening=8))
    with open_sessions_bench(spec, planned(spec), Site(RUNNER, tmp_path)) as bench:
        run = bench.run()
    assert run.answered > 0
    assert run.connections == run.answered
    assert run.connect is not None
    assert run.connect.p50_us <= run.connect.p99_us <= run.connect.max_us
    assert run.server_cpu_share > 0
    [accepted] = run.payload
    assert accepted.name == ACCEPTED
    # Connections that ended after the counted second were accepted, too, at most once a place.
    assert run.answered <= sum(accepted.values) <= run.answered + run.failed + 2 * 8 * 2


def test_sessions_concurrent_are_all_held_and_answered_again(tmp_path: Path) -> None:
    spec = point(Sessions(SessionsMode.CONCURRENT, connections=501))
    with open_sessions_bench(spec, planned(spec), Site(RUNNER, tmp_path)) as bench:
        run = bench.run()
    assert (run.connections, run.answered, run.answered_again) == (501, 501, 501)
    assert run.failures == ()
    assert run.opening_s is not None
    assert run.server_bytes_each is not None
    assert run.server_bytes_each > 0


def test_sessions_beyond_the_open_files_of_the_host_are_refused(tmp_path: Path) -> None:
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if most == resource.RLIM_INFINITY:
        pytest.skip("this host has no limit of open files")
    spec = point(Sessions(SessionsMode.CONCURRENT, connections=most))
    with (
        pytest.raises(BenchError, match=f"whose hard limit is {most}"),
        open_sessions_bench(spec, planned(spec), Site(RUNNER, tmp_path)),
    ):
        pass

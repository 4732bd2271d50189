# SPDX-License-Identifier: Apache-2.0
"""Check that the sockets of killed programs change no name of a living one."""

from __future__ import annotations

import pytest

from wirespeed.kpi.collectors import dpdk_programs
from wirespeed.kpi.collectors.dpdk_programs import Programs
from wirespeed.kpi.interface import Missing
from wirespeed.remote.local import LocalRunner


class Answers:
    """Telemetry of a program, or of none where the socket is one of a killed program."""

    pid = 1

    def __init__(self, _runner: object, path: str, timeout_s: float) -> None:
        del timeout_s
        self.dead = "dead" in path

    def ask(self, _command: str) -> list[str]:
        if self.dead:
            raise ConnectionRefusedError("nobody listens")
        return ["/first"]

    def close(self) -> None: ...


def test_dpdk_programs_that_answer_are_numbered_and_killed_ones_are_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    there = {"/run/dead": "tg", "/run/a": "tg", "/run/b": "tg"}
    monkeypatch.setattr(dpdk_programs, "telemetry_sockets", lambda _: there)
    monkeypatch.setattr(dpdk_programs, "Telemetry", Answers)
    programs = Programs("wsdp", lambda _: True, "/first", lambda _program, _telemetry: {})
    found = programs.probe(LocalRunner())
    assert not isinstance(found, Missing)
    assert [source.name for source in found] == ["wsdp tg", "wsdp tg#2"]

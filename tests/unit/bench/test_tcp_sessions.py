# SPDX-License-Identifier: Apache-2.0
"""Check the limit of open files that a server of counted connections needs."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from wirespeed.bench.interface import BenchError
from wirespeed.bench.traffic.tcp.ends.interface import Place
from wirespeed.bench.traffic.tcp.session_programs import check_files
from wirespeed.model.study.sessions import Sessions, SessionsMode
from wirespeed.remote.interface import Completed


def place(limit: str, cpus: int) -> Place:
    def run(_: object) -> Completed:
        return Completed((), 0, f"{limit}\n", "")

    host = SimpleNamespace(runner=SimpleNamespace(run=run, name="lab1"))
    return cast(Place, SimpleNamespace(host=host, cpus=tuple(range(cpus))))


@pytest.mark.parametrize(
    ("limit", "cpus"), [("588", 8), ("567", 1), ("unlimited", 8)]
)  # 500, 64 of the server and 3 a CPU
def test_files_of_connections_server_and_loops_are_enough(limit: str, cpus: int) -> None:
    check_files(place(limit, cpus), Sessions(SessionsMode.CONCURRENT, connections=500), 2)


@pytest.mark.parametrize(("limit", "cpus"), [("587", 8), ("566", 1)])
def test_one_file_too_few_is_refused(limit: str, cpus: int) -> None:
    needed = int(limit) + 1
    with pytest.raises(BenchError, match=rf"needs {needed} open files on lab1, .* is {limit}"):
        check_files(place(limit, cpus), Sessions(SessionsMode.CONCURRENT, connections=500), 2)

# SPDX-License-Identifier: Apache-2.0
"""testpmd as a network function: when its telemetry is asked."""

import json
import socket
import threading
from contextlib import closing
from pathlib import Path, PurePosixPath
from types import SimpleNamespace
from typing import Any

from wirespeed.bench.function import testpmd
from wirespeed.bench.host.directories import Directories
from wirespeed.bench.program import dpdk
from wirespeed.remote.local import LocalRunner


def test_telemetry_is_awaited_until_it_listens(tmp_path: Path) -> None:
    function = _function(tmp_path)
    path = Path(dpdk.telemetry_socket(PurePosixPath(tmp_path), "vnf0"))
    assert _awaits_dpdk(function)
    path.parent.mkdir(parents=True)
    with closing(socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)) as telemetry:
        telemetry.bind(str(path))
        assert _awaits_dpdk(function)
        telemetry.listen()
        serving = threading.Thread(target=_serve_without_ports, args=(telemetry,))
        serving.start()
        assert function.waits_for() is None
        serving.join()


def _function(folder: Path) -> testpmd.TestpmdFunction:
    process = SimpleNamespace(file_prefix="vnf0", ports=())
    config: Any = SimpleNamespace(name="vnf0", process=process, sides=())
    host: Any = SimpleNamespace(runner=LocalRunner())
    dirs = Directories(PurePosixPath(folder), PurePosixPath(folder), "0" * 8)
    return testpmd.TestpmdFunction(host, dirs, config)


def _awaits_dpdk(function: testpmd.TestpmdFunction) -> bool:
    return (function.waits_for() or "").startswith("DPDK (")


def _serve_without_ports(telemetry: socket.socket) -> None:
    connection, _ = telemetry.accept()
    with connection:
        connection.send(json.dumps({"pid": 1}).encode())
        command = connection.recv(1024).decode()
        connection.send(json.dumps({command: []}).encode())

# SPDX-License-Identifier: Apache-2.0
"""Check what a wsdp process waits for before it starts, and before it counts as ready."""

from __future__ import annotations

import socket
from contextlib import closing
from pathlib import Path, PurePosixPath
from types import SimpleNamespace
from typing import Any

from wirespeed.bench.host.directories import Directories
from wirespeed.bench.program import dpdk
from wirespeed.bench.program.wsdp import Wsdp
from wirespeed.remote.local import LocalRunner


def test_wsdp_that_died_after_it_was_ready_is_awaited_with_its_last_words(tmp_path: Path) -> None:
    wsdp = _wsdp(tmp_path)
    gone: Any = SimpleNamespace(poll=lambda: -9)
    wsdp._daemon._process = gone
    Path(wsdp._daemon.log).write_text("wsdp ready\nEAL: error: no memory\n")
    assert (wsdp.waits_for() or "").startswith("its telemetry (EAL: error: no memory")
    path = Path(dpdk.telemetry_socket(PurePosixPath(tmp_path), "vnf0"))
    path.parent.mkdir(parents=True)
    with closing(socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)) as telemetry:
        telemetry.bind(str(path))
        assert (wsdp.waits_for() or "").startswith("its telemetry (EAL: error: no memory")
    assert (wsdp.ended() or "").startswith("vnf0 ended (killed by SIGKILL): EAL: error: no memory")


def test_wsdp_starts_once_the_sockets_that_it_connects_to_listen(tmp_path: Path) -> None:
    path = str(tmp_path / "vhost0")
    wsdp = _wsdp(tmp_path, path)
    waits = f"the sockets ['{path}']"
    assert wsdp.waits_for() == waits
    with closing(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)) as server:
        server.bind(path)
        assert wsdp.waits_for() == waits
        server.listen()
        assert (wsdp.waits_for() or "").startswith("its ports (")
    assert wsdp.processes


def _wsdp(folder: Path, *connects_to: str) -> Wsdp:
    ports = [SimpleNamespace(connects_to=path, serves_at=None) for path in connects_to]
    config: Any = SimpleNamespace(
        file_prefix="vnf0", ports=ports, namespace=None, control_cpu=0, cpus=(), floats_over=()
    )
    started = SimpleNamespace(poll=lambda: None)
    host: Any = SimpleNamespace(
        runner=LocalRunner(), wsdp="/bin/true", spawn=lambda *_, **__: started
    )
    dirs = Directories(PurePosixPath(folder), PurePosixPath(folder), "0" * 8)
    return Wsdp("vnf0", host, dirs, config)

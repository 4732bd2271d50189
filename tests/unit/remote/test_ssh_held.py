# SPDX-License-Identifier: Apache-2.0
"""Check that agents on another host end once, whichever thread ends them."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.unit.remote.ssh_stand_in import clients
from wirespeed.remote import agent
from wirespeed.remote.interface import RemoteError
from wirespeed.remote.ssh import SshRunner
from wirespeed.remote.ssh_held import Heartbeat, Held

# Ends with its standard input, as an agent does.
AGENT = (sys.executable, "-I", "-S", "-c", "import sys; sys.stdin.read(); sys.exit('over')")


def test_heartbeat_end_while_another_thread_releases_ends_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    heartbeat = Heartbeat()
    agents = [heartbeat.hold(AGENT) for _ in range(3)]
    let_go = Held.let_go
    others: list[threading.Thread] = []

    def let_go_after_another_thread(self: Held) -> None:
        if not others:
            others.append(threading.Thread(target=heartbeat.release, args=(agents[1],)))
            others[0].start()
            others[0].join()
        let_go(self)

    monkeypatch.setattr(Held, "let_go", let_go_after_another_thread)
    heartbeat.end()
    assert [held.ended(60.0) for held in agents] == [(1, "over")] * 3


def test_held_ended_by_two_threads_has_one_outcome(monkeypatch: pytest.MonkeyPatch) -> None:
    held = Held(AGENT, b"")
    held.let_go()
    exchange, calls, first, both = agent.exchange, [], threading.Event(), threading.Event()

    def exchange_once_both_ask(*words: Any) -> tuple[str, str]:
        calls.append(words)
        first.set()
        assert both.wait(60)
        return exchange(*words)

    monkeypatch.setattr(agent, "exchange", exchange_once_both_ask)
    outcomes: list[tuple[int, str]] = []
    threads = [
        threading.Thread(target=lambda: outcomes.append(held.ended(60.0)), daemon=True)
        for _ in range(2)
    ]
    threads[0].start()
    assert first.wait(60)
    threads[1].start()
    both.set()
    for thread in threads:
        thread.join(60)
    assert len(calls) == 1
    assert outcomes == [(1, "over")] * 2


@pytest.mark.parametrize("failing", ["end", "_master"])
def test_ssh_close_after_a_failure_ends_master_and_folder(
    ssh: SshRunner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    ssh.run(["true"])
    client = ssh._client
    folder = Path(client._folder.name)

    def fail(*_: str) -> subprocess.CompletedProcess[str]:
        raise RemoteError("it failed")

    with monkeypatch.context() as patched:
        patched.setattr(client._heartbeat if failing == "end" else client, failing, fail)
        with pytest.raises(RemoteError, match="it failed"):
            client.close()
    asked = " -O exit " in "".join(clients(tmp_path))
    assert asked is (failing == "end")
    assert not folder.exists()

# SPDX-License-Identifier: Apache-2.0
"""Run a rendered create.sh against a small OpenStack that loses requests for servers."""

from __future__ import annotations

import os
import stat
import subprocess
from pathlib import Path

import pytest

from tests.support.examples import plans
from wirespeed.plan.render.targets import render

SERVERS = ("bng", "ipsec-gw")
# Remembers servers as files. The first LOST requests for ipsec-gw stay with the scheduler.
OPENSTACK = r"""#!/bin/bash
cd "$STATE" || exit
words="$*"
case $words in
*"server create ipsec-gw"*)
	echo "$*" >>requests
	[ "$(wc -l <requests)" -le "$LOST" ] && echo BUILD >ipsec-gw || echo ACTIVE >ipsec-gw
	;;
*"server create "*) name=${words#*server create }; echo ACTIVE >"${name%% *}" ;;
"server list "*) for each in bng ipsec-gw; do [ ! -e "$each" ] || echo "$each"; done ;;
"server delete --wait "*) rm "$4" ;;
"server show "*" -c status") cat "$3" ;;
"server show "*" -c OS-EXT-STS:task_state")
	echo "$TASK" | tee -a tasks
	[ "$(wc -l <tasks)" -lt 3 ] || [ "$TASK" = scheduling ] || echo ACTIVE >"$3"
	;;
"network list "*) printf '%s\n' access NFV-network cpe inet internal ;;
"subnet list "*) echo subnet ;;
"aggregate show "*) echo '{"hosts": [], "properties": {}}' ;;
esac
"""


@pytest.fixture
def state(tmp_path: Path) -> Path:
    program = tmp_path / "bin" / "openstack"
    program.parent.mkdir()
    program.write_text(OPENSTACK)
    program.chmod(program.stat().st_mode | stat.S_IEXEC)
    (tmp_path / "state").mkdir()
    (tmp_path / "create.sh").write_text(render(plans()["s1-bng"])["openstack/create.sh"])
    return tmp_path / "state"


def create(state: Path, lost: int, task: str = "scheduling") -> subprocess.CompletedProcess[str]:
    environ = {
        **os.environ, "PATH": f"{state.parent / 'bin'}:{os.environ['PATH']}", "STATE": str(state),
        "LOST": str(lost), "TASK": task, "WIRESPEED_SCHEDULED_S": "0",
    }  # fmt: skip
    return subprocess.run(
        ["bash", str(state.parent / "create.sh")],
        env=environ, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


def requests(state: Path) -> int:
    return len((state / "requests").read_text().splitlines())


def test_create_server_whose_request_was_lost_is_requested_again(state: Path) -> None:
    done = create(state, lost=1)
    assert (done.returncode, done.stderr) == (0, "")
    assert [(state / name).read_text() for name in SERVERS] == ["ACTIVE\n"] * 2
    assert requests(state) == 2


def test_create_server_that_no_request_brings_to_a_host_is_an_error(state: Path) -> None:
    done = create(state, lost=2)
    assert done.returncode == 1
    assert "server ipsec-gw had no host 0 s after it was requested, twice" in done.stderr
    assert requests(state) == 2
    assert create(state, lost=2).returncode == 0, "a rerun completes"


def test_create_server_that_a_host_builds_is_waited_for(state: Path) -> None:
    """The third question about its task finds it built."""
    done = create(state, lost=1, task="spawning")
    assert (done.returncode, done.stderr) == (0, "")
    assert requests(state) == 1

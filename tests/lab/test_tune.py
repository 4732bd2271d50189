# SPDX-License-Identifier: Apache-2.0
"""Tune an emulated server to the end: a file of its kernel, over ssh, and all is put back.

The SUT is a cable between two interfaces of the server, the least that a bench takes. The server is
emulated, so its CPUs take turns, no time is clean, and the goal is a rate over all time.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.lab_node import LabNode
from wirespeed.bench.host.leftovers import hosts_left
from wirespeed.lab.lab import WSDP
from wirespeed.remote.interface import Runner

pytestmark = pytest.mark.lab(whole=True)
STAT = "/proc/sys/vm/stat_interval"
STUDY = """
[topology]
kind = "external"
[sut]
ports = ["net_af_packet0,iface=east0", "net_af_packet1,iface=west0"]
[hosts]
generator = "lab1"
[search]
trial_s = 0.2
min_load_fps = 10
time_limit_s = 10
"""
FACTORS = f"""
[[factor]]
name = "stat interval"
host = {{ "{STAT}" = "119" }}
"""
# The smallest design has 8 measurements. On a busy machine each takes more than a minute.
DEADLINE_S = 3600


@pytest.fixture
def cabled(lab_node: LabNode, tmp_path: Path) -> Iterator[Runner]:
    """Provide the server with a cable, and the files of the search."""
    (tmp_path / "study.toml").write_text(STUDY)
    (tmp_path / "factors.toml").write_text(FACTORS)
    (tmp_path / "lab.toml").write_text(
        f'[hosts.{lab_node.name}]\nssh = "{lab_node.url}"\nwsdp = "{WSDP}"\n'
        'ports = { east = "east0", west = "west0" }\n'
    )
    link = ["ip", "link"]
    with lab_node.runner() as runner:
        # A busy emulator loses time, and the clocks of a bench's hosts must agree. The first
        # command also waits for the connection.
        runner.run(["true"])
        runner.run(["date", "--set", f"@{time.time():.3f}"])
        runner.run([*link, "add", "east0", "type", "veth", "peer", "name", "west0"])
        for name in ("east0", "west0"):
            runner.run([*link, "set", name, "up"])
        yield runner
        runner.run([*link, "delete", "east0"])


def test_tune_of_an_emulated_server_ends_and_puts_everything_back(
    cabled: Runner, lab_node: LabNode, tmp_path: Path
) -> None:
    before = host_state(cabled)
    files = [str(tmp_path / name) for name in ("study.toml", "lab.toml", "factors.toml")]
    done = lab_node.wirespeed(
        "tune", files[0], "--lab", files[1], "--factors", files[2], "--goal", "mrr-all-time",
        "--worth", "100", "--minutes", "5", "--output", str(tmp_path / "tuned.toml"),
        "--store", str(tmp_path / "runs.sqlite"), "--json", timeout_s=DEADLINE_S,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["run"]["host"] == lab_node.name
    assert [each["name"] for each in found["factors"]] == ["stat interval"]
    screened = [each for each in found["measurements"] if each["stage"] == "screening"]
    assert sorted(each["factors"] for each in screened) == 4 * [[]] + 4 * [["stat interval"]]
    assert found["factors"][0]["low"] < found["factors"][0]["high"]
    # A busy emulator drifts, which voids the result: an answer, too.
    assert found["headline"].startswith(("No setting is worth", "The result is void", "stat inter"))
    assert host_state(cabled) == before
    assert hosts_left(Path(lab_node.environ["XDG_STATE_HOME"]) / "wirespeed") == ()


def host_state(runner: Runner) -> tuple[str, ...]:
    """Return what a search changes on the server: the file, pages, programs."""
    programs = runner.run(["pgrep", "-l", "wsdp"], check=False).stdout
    return (runner.read(STAT), runner.read("/proc/sys/vm/nr_hugepages"), programs)

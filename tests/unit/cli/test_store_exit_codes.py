# SPDX-License-Identifier: Apache-2.0
"""Check that every verb with --store ends with 2 where the store cannot be used."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.cli.conftest import Command
from tests.unit.cli.test_exit_codes import HOST, VERBS, check_error

# Verbs that read, and reject a store that does not exist. A new verb must be added here or below.
READERS = {
    "audit": ["audit", "--host", HOST, "--run", "latest"],
    "runs list": ["runs"],
    "runs check": ["runs", "check"],
    "runs delete": ["runs", "delete", "wire-1", "--yes"],
    "runs rename": ["runs", "rename", "wire-1", "before"],
    "runs tag": ["runs", "tag", "wire-1", "lab"],
    "runs note": ["runs", "note", "wire-1", "a note"],
    "runs upgrade": ["runs", "upgrade"],
    "report": ["report", "latest"],
    "explain": ["explain", "latest"],
    "compare": ["compare", "wire-1", "wire-2"],
    "predict rate": ["predict", "p2p"],
    "predict fit": ["predict", "fit", "latest"],
    "kpi list": ["kpi", "list"],
    "kpi show": ["kpi", "show"],
    "kpi cost": ["kpi", "cost"],
    "kpi mark": ["kpi", "mark", "a change"],
    "kpi export": ["kpi", "export", "--csv", "out.csv"],
    "kpi clean": ["kpi", "clean", "--keep", "30d"],
    "live": ["live"],
    "fleet show": ["fleet", "show"],
    "fleet hosts": ["fleet", "hosts"],
    "fleet pairs list": ["fleet", "pairs", "list"],
    "fleet pairs retry": ["fleet", "pairs", "retry", "a-b"],
    "fleet pairs work": ["fleet", "pairs", "work"],
}
# Verbs that write, and make a store that does not exist.
WRITERS = {
    "run": ["run", "wire"],
    "tune": ["tune", "quickstart"],
    "bisect": ["bisect", "quickstart", "ovs-factors"],
    "kpi record": ["kpi", "record", "--for", "1s"],
    "fleet add": ["fleet", "add", HOST],
    "fleet pairs add": ["fleet", "pairs", "add", "pairs.toml"],
}
PAIRS = (
    '[[pair]]\nname = "a-b"\nstudy = "wire"\nlab = "lab.toml"\nlinks = ["l1"]\ngenerator = "t1"\n'
)
LAB = '[hosts.t1]\nssh = "ssh://root@192.0.2.10"\nports = {east = "0000:3b:00.0"}\n'


def test_every_verb_that_has_a_store_is_listed() -> None:
    found = {
        " ".join(path)
        for path, command in VERBS.items()
        if any("--store" in each.opts for each in command.params)
    }
    assert found == READERS.keys() | WRITERS.keys()


@pytest.mark.parametrize("verb", READERS | WRITERS)
@pytest.mark.parametrize("store", ["folder", "/", "/proc/no.sqlite", "text", "absent/no.sqlite"])
def test_store_that_cannot_be_used_ends_with_2(
    wirespeed: Command, tmp_path: Path, verb: str, store: str
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "text").write_text("no database\n" * 100)
    (tmp_path / "pairs.toml").write_text(PAIRS)
    (tmp_path / "lab.toml").write_text(LAB)
    if verb in WRITERS and store.startswith("absent"):
        pytest.skip("makes the store")
    check_error(wirespeed(*(READERS | WRITERS)[verb], "--store", store), 2)
    assert not (tmp_path / "absent").exists()

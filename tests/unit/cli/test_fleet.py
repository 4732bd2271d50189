# SPDX-License-Identifier: Apache-2.0
"""Check what wirespeed fleet rejects, skips and continues on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from tests.unit.cli.conftest import Command

ROOT = Path(__file__).parents[3]
NEW, OLD = (str(ROOT / "tests" / "hosts" / name) for name in ("s3-r740xd", "s0-compute"))
SCHEMA = ROOT / "schemas" / "snapshot.schema.json"


def take(wirespeed: Command, name: str, recorded: str = NEW) -> Path:
    path = Path("fetched") / name / "snapshot.json"
    done = wirespeed(
        "fleet", "snapshot", "--recorded", recorded, "--name", name, "-o", str(path), "--json"
    )
    assert done.code == 0, done.err
    summary = json.loads(done.out)
    assert summary["name"] == name
    assert sum(summary["counts"].values()) >= 50
    assert len(done.out) < 500, "a summary is small, whatever the host has"
    return path


def test_hosts_of_a_directory_are_compared(wirespeed: Command) -> None:
    for name, recorded in (("a", NEW), ("b", NEW), ("c", OLD)):
        jsonschema.validate(
            json.loads(take(wirespeed, name, recorded).read_text()), json.loads(SCHEMA.read_text())
        )
    assert wirespeed("fleet", "add", "fetched").out == "3 added, 0 known already, 0 not usable\n"
    assert wirespeed("fleet", "add", "fetched").out == "0 added, 3 known already, 0 not usable\n"
    told = wirespeed("fleet").out
    assert "3 hosts in 2 groups of the same hardware" in told
    assert "  a, b\n" in told
    said = json.loads(wirespeed("fleet", "--json").out)
    assert [[host["name"] for host in group["hosts"]] for group in said["groups"]] == [
        ["a", "b"], ["c"],
    ]  # fmt: skip
    assert wirespeed("fleet", "--html", "fleet.html").code == 0
    assert "3 hosts in 2 groups" in Path("fleet.html").read_text()


def test_damaged_files_are_reported_and_the_others_added(wirespeed: Command) -> None:
    take(wirespeed, "good")
    cut = take(wirespeed, "cut")
    cut.write_text(cut.read_text()[:2000])
    other = take(wirespeed, "other")
    changed = json.loads(other.read_text())
    changed["facts"]["cpu_model"] = "another"
    other.write_text(json.dumps(changed))
    (Path("fetched") / "runs").mkdir()
    Path("fetched/runs/runs.sqlite").write_text("no database\n" * 100)
    done = wirespeed("fleet", "add", "fetched")
    assert done.code == 1
    assert done.out == "1 added, 0 known already, 3 not usable\n"
    assert "cut/snapshot.json is not JSON" in done.err
    assert "is not the digest of its facts" in done.err
    assert "runs.sqlite" in done.err


def test_fleet_without_store_or_files_is_an_error(wirespeed: Command) -> None:
    empty = wirespeed("fleet")
    assert (empty.code, empty.out) == (2, "")
    assert "no such file, so no run yet" in empty.err
    Path("nothing").mkdir()
    assert "no file *.json or *.sqlite" in wirespeed("fleet", "add", "nothing").err


LAB = '[hosts.a]\nssh = "ssh://root@192.0.2.1"\n[hosts.b]\nssh = "ssh://other@192.0.2.2:2222"\n'
PAIR = '[[pair]]\nname = "a-b"\nstudy = "wire"\nlab = "lab.toml"\nlinks = ["leaf"]\n'


def test_a_pair_takes_its_hosts_links_and_generator(tmp_path: Path) -> None:
    from wirespeed.cli.verbs.fleet_pairs import read_pairs

    (tmp_path / "lab.toml").write_text(LAB)
    file = tmp_path / "pairs.toml"
    file.write_text(PAIR + 'generator = "g"\n')
    (pair,) = read_pairs(file)
    assert pair.resources == ("generator:g", "host:192.0.2.1", "host:192.0.2.2", "link:leaf")
    assert pair.lab == LAB


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "pair: is missing"),
        (PAIR + "lnks = []\n", "pair.0.lnks = []: unknown key"),
        (PAIR + PAIR, "a-b: two pairs have that name"),
        (PAIR.replace("lab.toml", "no.toml"), "no.toml cannot be read"),
        (PAIR.replace('"wire"', '"wirre"'), "wirre"),
        ("[[pair", "not TOML"),
    ],
)
def test_bad_files_of_pairs_are_refused(
    wirespeed: Command, tmp_path: Path, text: str, told: str
) -> None:
    (tmp_path / "lab.toml").write_text(LAB)
    (tmp_path / "pairs.toml").write_text(text)
    done = wirespeed("fleet", "pairs", "add", "pairs.toml")
    assert done.code == 2
    assert told in done.err


def test_pairs_need_postgresql(wirespeed: Command, tmp_path: Path) -> None:
    (tmp_path / "lab.toml").write_text(LAB)
    (tmp_path / "pairs.toml").write_text(PAIR)
    for arguments in (("add", "pairs.toml"), ("work",)):
        done = wirespeed("fleet", "pairs", *arguments)
        assert (done.code, "leases need PostgreSQL" in done.err) == (2, True)

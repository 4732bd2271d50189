# SPDX-License-Identifier: Apache-2.0
"""Check that points beyond the host's means are excluded with the reason, and the others run."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.fake_rig import FACTS, FakeHost
from tests.support.sample import Nobody
from tests.unit.plan.test_bench import host
from wirespeed.model.host.facts import HugePagePool, PciDevice
from wirespeed.model.study.study import Study
from wirespeed.report.json.document import document
from wirespeed.report.page.html import html_report
from wirespeed.report.text.sentence import point_sentences
from wirespeed.report.views.table import without_figures
from wirespeed.store.read import list_runs, read_run
from wirespeed.store.records import PointState
from wirespeed.store.run_writer import Origin, RunWriter
from wirespeed.store.store import Store
from wirespeed.study.errors import StudyError
from wirespeed.study.load import resolve_study
from wirespeed.study.needs import lacking, without_lab
from wirespeed.study.run import run_study

STUDY = """
needs = ["cores >= 1", { when = { "sut.impair.rate_fps" = 2e6 }, needs = ["cores >= 1000"] }]
[topology]
kind = "wire"
[vary]
"sut.impair.rate_fps" = [1e6, 2e6]
"""


def study_of(text: str) -> Study:
    return resolve_study("mine", "mine.toml", tomllib.loads(text))


class Skipped(Nobody):
    def __init__(self) -> None:
        self.why: list[str] = []

    def point_skipped(self, _point: object, why: str) -> None:
        self.why.append(why)


def test_points_that_the_host_cannot_run_are_skipped(tmp_path: Path) -> None:
    study, rig, watcher = study_of(STUDY), FakeHost(), Skipped()
    with Store(str(tmp_path / "runs.sqlite")) as store:
        writer = RunWriter.start(store, study, Origin(["test"], {"wirespeed": "0"}, FACTS))
        run_study(study, writer, rig.rig, watcher)
        record = read_run(store, writer.run_id)
        [summary] = list_runs(store)
    assert [point.state for point in record.points] == [PointState.COMPLETE, PointState.NOT_RUN]
    assert len(rig.opened) == 1
    assert record.complete
    assert summary.complete == summary.points == 2
    [why] = watcher.why
    assert why.startswith("not run: needs cores >= 1000 (physical cores that wirespeed may use; ")
    assert without_figures(record) == ()
    assert point_sentences(record.points[1]) == (f"N{why[1:]}.",)
    assert why.removeprefix("not run: ").replace(">", "&gt;") in html_report(record)
    assert [point["state"] for point in document(record)["points"]] == ["complete", "not_run"]


def test_every_condition_is_of_this_host() -> None:
    server = host(nodes=2, cores=4, smt=True)
    nodes = tuple(
        replace(node, huge_pages=(HugePagePool(1 << 20, 0, 0),)) if node.id == 1 else node
        for node in server.nodes
    )
    nics = (
        PciDevice("0000:3b:00.0", "", "", sriov_total=8),
        PciDevice("0000:3b:00.1", "", "", physical_function="0000:3b:00.0"),
        PciDevice("0000:3c:00.0", "", ""),
    )
    server = replace(server, nodes=nodes, pci=nics)
    has = {"cores": 8, "numa_nodes": 2, "memory_gib": 128, "pages_1g": 1, "nics": 2,
           "sriov_nics": 1}  # fmt: skip
    for name, amount in has.items():
        assert lacking([f"{name} >= {amount}"], server) is None
        assert f"has {amount})" in str(lacking([f"{name} >= {amount + 1}"], server))
    told = lacking(["cores >= 9", "nics >= 3", "numa_nodes >= 2"], server)
    assert told is not None
    assert "cores >= 9" in told
    assert "nics >= 3" in told
    assert "numa_nodes" not in told


@pytest.mark.parametrize(
    ("needs", "says"),
    [
        ('"cores >= 4"', "must be a list"),
        ('["kores >= 4"]', "NAME one of cores, numa_nodes"),
        ('["cores > 4"]', "must be NAME >= N"),
        ("[4]", "must be NAME >= N"),
        ('[{ when = { "topology.vnf" = 2 }, needs = ["cores >= 4"] }]', "Did you mean 'vnfs'"),
        ('[{ when = 3, needs = ["cores >= 4"] }]', "when = { KEY = VALUE }"),
        ('[{ needed = ["cores >= 4"] }]', "when = { KEY = VALUE }"),
    ],
)
def test_needs_that_cannot_be_are_refused(needs: str, says: str) -> None:
    with pytest.raises(StudyError) as error:
        study_of(f"needs = {needs}\n")
    assert says in str(error.value.faults[0])


def test_needs_do_not_change_the_id_of_a_point() -> None:
    """Check that a run can be resumed after `needs` was corrected."""
    ids = [point.id for point in study_of(STUDY).points]
    without = STUDY.replace(STUDY.splitlines()[1], "")
    assert [point.id for point in study_of(without).points] == ids


def test_points_that_want_a_testbed_file_are_not_run_without_one_and_the_rest_is(
    tmp_path: Path,
) -> None:
    study = study_of("""
needs = [{ when = { "sut.impair.rate_fps" = 2e6 }, needs = ["lab_hosts >= 2"] }]
[topology]
kind = "wire"
[vary]
"sut.impair.rate_fps" = [1e6, 2e6]
""")
    assert [point.label for point in without_lab(study.points)] == ["wire, 64 B, rate_fps 1000000"]
    watcher = Skipped()
    with Store(str(tmp_path / "runs.sqlite")) as store:
        writer = RunWriter.start(store, study, Origin(["test"], {"wirespeed": "0"}, FACTS))
        run_study(study, writer, FakeHost().rig, watcher)
        assert read_run(store, writer.run_id).complete
    assert watcher.why == [
        "not run: needs lab_hosts >= 2 (hosts of a testbed file, --lab FILE; there is no testbed "
        "file)"
    ]
    assert lacking(["lab_hosts >= 2"], FACTS, 2) is None
    assert "the testbed file has 1" in str(lacking(["lab_hosts >= 2"], FACTS, 1))

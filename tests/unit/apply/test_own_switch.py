# SPDX-License-Identifier: Apache-2.0
"""Check that hosts are planned, rendered, set up and rolled back with a switch from elsewhere.

Nothing in src/ names it. `tests/unit/bench/test_own_kinds.py` measures and explains it.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator

import pytest
from rich.console import Console

from tests.support.apply_plans import WORKLOAD, plan_for
from tests.support.fake_host import FakeHost, no_sleep
from tests.support.patch_panel import PANEL_FILE, PatchPanel, deployable
from wirespeed.apply import session
from wirespeed.apply.row import Verdict
from wirespeed.apply.switches import APPLIED
from wirespeed.cli.show.host_picture import print_host
from wirespeed.cli.show.plan_picture import print_plan
from wirespeed.fleet.attributes import attributes
from wirespeed.host.collect import collect
from wirespeed.host.file import HOST_FILE
from wirespeed.model.cpuset import format_list
from wirespeed.model.errors import BadInput
from wirespeed.model.host.facts import HostFacts
from wirespeed.model.plan.plan import Plan
from wirespeed.plan.decisions import decisions
from wirespeed.plan.diff import diff_plans
from wirespeed.plan.errors import PlanError
from wirespeed.plan.plan_file import PLAN_FILE, write_plan
from wirespeed.plan.render.targets import render, targets_of
from wirespeed.predict.deployment import cases_of_plan

HOST = "ssh://lab1"
PANEL = WORKLOAD + '\n[vswitch]\nkind = "patch-panel"\ndescriptors = 256\n'
OWN = PANEL + "\n[vswitch.panel]\nburst = 8\n"
PORT = "0000:03:00.0"


@pytest.fixture(autouse=True)
def panel() -> Iterator[None]:
    with deployable(PatchPanel()):
        yield


def host() -> FakeHost:
    return FakeHost(ovs=None)


def facts_of(server: FakeHost) -> HostFacts:
    with server.reach(HOST, sudo=False) as runner:
        return collect(runner)


def panel_plan(workload: str = PANEL) -> Plan:
    return plan_for(host(), workload)


def test_switch_from_elsewhere_is_planned_for_its_own_reasons() -> None:
    plan = panel_plan()
    vswitch = plan.hosts[0].vswitch
    assert vswitch is not None
    assert vswitch.kind == "patch-panel"
    assert (vswitch.descriptors.value, vswitch.descriptors.because) == (256, "vswitch.descriptors")
    assert vswitch.socket_memory_mib.because == "a panel's packets on each node"
    assert vswitch.main_cpus.because == "paneld shares the housekeeping CPUs (S3)"
    reasons = [decision.because for _, decision in decisions(plan)]
    assert not [reason for reason in reasons if "ovs-vswitchd" in reason]


def test_switch_from_elsewhere_has_files_of_its_own_and_none_of_others() -> None:
    plan = panel_plan()
    assert targets_of(plan) == ("kernel", "tuned", "libvirt", "panel")
    files = render(plan)
    assert f"cord {PORT}\n" in files["panel/lab1.conf"]
    assert {path.partition("/")[0] for path in files} == set(targets_of(plan))


def test_switch_from_elsewhere_is_not_rendered_for_what_cannot_deploy_it() -> None:
    with pytest.raises(PlanError, match="'openstack' does not fit a plan of virtual machines behin"
                       "d patch-panel"):  # fmt: skip
        render(panel_plan(), ["openstack"])


def test_switch_from_elsewhere_is_drawn_with_its_own_program() -> None:
    own_core = PANEL.replace("[vswitch]", "[cores]\nvswitchd_own_core = true\n\n[vswitch]")
    out = io.StringIO()
    print_plan(plan_for(host(), own_core), Console(file=out, width=120))
    assert ", V paneld, " in out.getvalue()
    assert "256 MiB\n" in re.sub(" +\N{BOX DRAWINGS LIGHT VERTICAL}", "", out.getvalue())


def test_switch_from_elsewhere_is_not_predicted() -> None:
    with pytest.raises(BadInput, match=r"vswitch\.kind = 'patch-panel' is not predicted"):
        cases_of_plan(panel_plan())


def test_switch_from_elsewhere_stays_in_the_plan_file() -> None:
    plan = panel_plan()
    assert PLAN_FILE.parse(write_plan(plan), "plan.json") == plan


def test_switch_from_elsewhere_is_a_difference_to_another() -> None:
    [found] = [
        each for each in diff_plans(plan_for(host()), panel_plan()) if each.what == "vSwitch"
    ]
    assert (found.old, found.new) == ("ovs-dpdk", "patch-panel")


def test_switch_from_elsewhere_is_set_up_and_rolled_back() -> None:
    server, plan = host(), panel_plan()
    before = server.state()
    done = session.apply(server.reach, HOST, plan, may_reboot=True, sleep=no_sleep)
    assert not done.failed
    assert server.disk.read(PANEL_FILE) == render(plan)["panel/lab1.conf"]
    undone = session.undo(server.reach, HOST, may_reboot=True, sleep=no_sleep)
    assert not undone.failed
    assert server.disk.read(PANEL_FILE) is None
    assert server.state() == before


def test_switch_from_elsewhere_is_read_from_a_host_that_runs_it() -> None:
    server, plan = host(), panel_plan(OWN)
    assert facts_of(server).switches == ()
    session.apply(server.reach, HOST, plan, may_reboot=True, sleep=no_sleep)
    facts = facts_of(server)
    vswitch = plan.hosts[0].vswitch
    assert vswitch is not None
    found = facts.switch("patch-panel")
    assert found is not None
    assert found.polling_cpus == vswitch.pmd_cpus.value
    assert (found.ports, dict(found.settings)) == ((PORT,), {"burst": "8", "labelled": "False"})
    assert HOST_FILE.parse(json.dumps(HOST_FILE.document(facts)), "host.json").switches == (found,)
    out = io.StringIO()
    print_host(facts, Console(file=out, width=160))
    assert f"; patch-panel on CPUs {format_list(found.polling_cpus)}" in out.getvalue()
    assert ("patch-panel burst", "8") in dict(attributes(facts)).items()


def test_switch_from_elsewhere_is_compared_with_what_the_host_runs() -> None:
    server, plan = host(), panel_plan()
    vswitch = plan.hosts[0].vswitch
    assert vswitch is not None
    wanted = vswitch.pmd_cpus.value
    compared = APPLIED["patch-panel"].compare
    found = compared(facts_of(server), "pmd_cpus", wanted)
    assert found.note == "no patch panel is set up here"
    session.apply(server.reach, HOST, plan, may_reboot=True, sleep=no_sleep)
    assert compared(facts_of(server), "pmd_cpus", wanted).verdict is Verdict.OK
    server.disk.write(PANEL_FILE, "cpus 1\n")
    assert compared(facts_of(server), "pmd_cpus", wanted).text == "1"


def test_switch_from_elsewhere_has_keys_of_its_own_with_reasons() -> None:
    plan = panel_plan(OWN)
    vswitch = plan.hosts[0].vswitch
    assert vswitch is not None
    assert {name: (each.value, each.because) for name, each in vswitch.own.items()} == {
        "burst": (8, "vswitch.panel.burst"),
        "labelled": (False, "default of vswitch.panel.labelled"),
    }
    assert "burst 8\nlabelled False\n" in render(plan)["panel/lab1.conf"]
    assert PLAN_FILE.parse(write_plan(plan), "plan.json") == plan
    [found] = diff_plans(panel_plan(), plan)
    assert (found.what, found.old, found.new) == ("burst", "32", "8")


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (
            "[vswitch.panel]\nburst = 65",
            r"vswitch\.panel\.burst = 65: must be less than",
        ),
        ("[vswitch.panel]\nbrust = 8", r"vswitch\.panel\.brust.*Known are: burst, labelled"),
        ('[vswitch.panel]\nburst = "8\\n9"', r"1 error\n.*vswitch\.panel\.burst = .*"),
        ("[vswitch.panel.deep]\nx = 1", r"1 error\n.*vswitch\.panel\.deep = .*: must be a number"),
        ("[vswitch.pane]\nburst = 8", r"vswitch\.pane: is no table of vswitch\.kind"),
    ],
)
def test_key_that_a_switch_from_elsewhere_has_not_is_reported(lines: str, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        panel_plan(f"{PANEL}\n{lines}\n")


def test_table_of_another_switch_is_reported() -> None:
    with pytest.raises(BadInput, match=r"vswitch\.panel: is no table of vswitch\.kind"):
        plan_for(host(), OWN.replace('kind = "patch-panel"\n', ""))


def test_switch_that_nobody_registered_is_reported_with_those_that_are() -> None:
    wrong = PANEL.replace("patch-panel", "patch-panl")
    with pytest.raises(BadInput, match=r'vswitch.kind = "patch-panl": must be one of ovs-dpdk, '):
        plan_for(host(), wrong)

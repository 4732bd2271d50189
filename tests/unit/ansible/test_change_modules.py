# SPDX-License-Identifier: Apache-2.0
"""Test apply, verify, rollback and run on a host with a stub of wirespeed.

The program on the host is a script: the product itself writes here the documents it prints.
"""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.ansible_fleet import Fleet
from wirespeed.apply.rollback import RolledBack
from wirespeed.apply.row import Row, Verdict
from wirespeed.apply.session import Applied
from wirespeed.apply.step import Result, State
from wirespeed.cli.show.host_change_tables import applied_json, rolled_back_json, rows_json

CHANGED = Result("governors", State.DONE, "governor", "why", "powersave", "performance", "", True)
WAITS = Result("kernel line", State.REBOOT, "kernel", "why", "", "isolcpus=2", "", True)
ROWS = (
    Row("isolated CPUs", "2-9", "2-9", Verdict.OK, "why"),
    Row("pages", "8", "4", Verdict.DIFFERS, "why"),
)
PLAY = """
- hosts: all
  gather_facts: false
  module_defaults:
    wirespeed.nfv.apply: {executable: "{{ program }}", plan: /plan.json}
    wirespeed.nfv.verify: {executable: "{{ program }}", plan: /plan.json}
    wirespeed.nfv.rollback: {executable: "{{ program }}"}
  tasks:
    - wirespeed.nfv.apply: {}
      register: applied
    - wirespeed.nfv.apply: {confirm: true}
      when: applied.unconfirmed
    - wirespeed.nfv.verify: {}
      register: verified
      failed_when: false
    - wirespeed.nfv.rollback: {}
      register: undone
    - wirespeed.nfv.run: {executable: "{{ program }}", study: wire, dest: "{{ dest }}"}
      register: measured
    - ansible.builtin.copy:
        dest: "{{ answers }}"
        content: "{{ [applied, verified, undone, measured] | to_json }}"
"""


def test_the_modules_report_the_output_of_the_verbs(tmp_path: Path, collections: Path) -> None:
    said = {
        "apply": applied_json(Applied("h", (CHANGED, WAITS), ("isolcpus=2",), unconfirmed=True)),
        "verify": rows_json("h", ROWS),
        "rollback": rolled_back_json(RolledBack("h", (CHANGED,))),
        "run": json.dumps({"run": {"id": "wire-1"}, "points": [{"state": "complete"}]}),
        "runs": "[]",
    }
    for verb, text in said.items():
        (tmp_path / verb).write_text(text)
    program = tmp_path / "program"
    program.write_text(
        f'#!/bin/sh\necho "$@" >> {tmp_path}/calls\n[ "$1" = run ] && echo > {tmp_path}/r.sqlite\n'
        f'cat {tmp_path}/$1\n[ "$1" != verify ]\n'
    )
    program.chmod(0o755)
    playbook = tmp_path / "play.yml"
    playbook.write_text(PLAY)
    fleet = Fleet(
        tmp_path, collections, "", {"h": ""},
        {"h": {"ansible_connection": "local", "program": str(program),
               "dest": f"{tmp_path}/r.sqlite", "answers": f"{tmp_path}/answers"}},
    )  # fmt: skip
    done = fleet.play(str(playbook))
    assert done.returncode == 0, done.stdout + done.stderr
    applied, verified, undone, measured = json.loads((tmp_path / "answers").read_text())
    assert (applied["changed"], applied["changes"], applied["reboot_due"]) == (True, 2, True)
    assert applied["differences"] == ["kernel line: needs a reboot ()"]
    assert (verified["decisions"], verified["differs"]) == (2, 1)
    assert verified["msg"] == "1 not as planned, e.g. pages: is 4, planned 8"
    assert (undone["changed"], undone["changes"], undone["differs"]) == (True, 1, 0)
    assert (measured["run"], measured["points"], measured["complete"]) == ("wire-1", 1, 1)
    assert (tmp_path / "calls").read_text().splitlines() == [
        "apply /plan.json --host localhost --json",
        "apply /plan.json --confirm --host localhost --json",
        "verify /plan.json --host localhost --json",
        "rollback --host localhost --json",
        f"run --store {tmp_path}/r.sqlite --json wire",
    ]

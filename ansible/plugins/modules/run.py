#!/usr/bin/python
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

DOCUMENTATION = r"""
module: run
short_description: Measure a study on an NFV host
version_added: 0.1.0
description:
  - Runs C(wirespeed run) on the host, as root, with a store of its own in O(dest).
    M(ansible.builtin.fetch) brings that file to the controller, and C(wirespeed fleet add) puts it
    into the common store; the host holds no credentials of that.
  - A study takes minutes to days. Give the task C(async), so that no connection is held meanwhile.
  - A run that was cut is continued by the next task with the same O(study) and O(dest).
author:
  - The wirespeed authors (!UNKNOWN)
options:
  study:
    description: Name of a study that is shipped, or the path of a study's file on the host.
    type: str
    required: true
  dest:
    description: File on the host for the results, ending in C(.sqlite).
    type: path
    required: true
  set:
    description: Keys of the study that are changed, as C(--set) takes them.
    type: list
    elements: str
    default: []
  quick:
    description: Whether to run the study's short form.
    type: bool
    default: false
  again:
    description: Whether to measure anew where the study is complete in O(dest).
    type: bool
    default: false
  fence:
    description:
      - Token of a lease on this host. A host that was shown a higher one refuses before it changes
        anything.
    type: int
extends_documentation_fragment:
  - wirespeed.nfv.command
attributes:
  check_mode:
    support: full
    description: Measures nothing, and says whether it would.
"""

EXAMPLES = r"""
- name: Burn the host in for four hours
  wirespeed.nfv.run:
    study: quickstart
    set: ["search.kind=soak", "search.load_fps=500000", "search.total_s=14400"]
    dest: ~/.local/state/wirespeed/fleet/runs.sqlite
  async: 18000
  poll: 60
"""

RETURN = r"""
run:
  description: The id of the run in O(dest).
  returned: when it was measured
  type: str
points:
  description: How many points the run has.
  returned: when it was measured
  type: int
complete:
  description: How many of them have a result.
  returned: when it was measured
  type: int
digest:
  description: SHA-256 of the file.
  returned: when it was measured
  type: str
file:
  description: The file on the host.
  returned: success
  type: str
"""

import fcntl
import os

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.wirespeed.nfv.plugins.module_utils.wirespeed import (
    COMMON_ARGUMENTS,
    document,
    run,
)

ARGUMENTS = dict(
    COMMON_ARGUMENTS,
    study={"type": "str", "required": True},
    dest={"type": "path", "required": True},
    set={"type": "list", "elements": "str", "default": []},
    quick={"type": "bool", "default": False},
    again={"type": "bool", "default": False},
    fence={"type": "int"},
)


def only_one(module, dest):
    """Allow one task only: one whose controller died may still be measuring."""
    os.makedirs(os.path.dirname(dest) or ".", mode=0o700, exist_ok=True)
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    lock = os.open(f"{dest}.lock", flags, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        module.fail_json(msg=f"{dest}: another task is measuring into it on this host")


def runs_of(module, dest):
    """Return the runs in the file, newest first."""
    if not os.path.exists(dest):
        return []
    return document(module, run(module, ["runs", "--json", "--store", dest])[1])


def main():
    module = AnsibleModule(argument_spec=ARGUMENTS, supports_check_mode=True)
    given = module.params
    dest = given["dest"]
    if not dest.endswith(".sqlite"):
        module.fail_json(msg=f"dest {dest}: must end in .sqlite")
    if not module.check_mode:
        only_one(module, dest)
    study = os.path.basename(given["study"])
    study = study[: -len(".toml")] if study.endswith(".toml") else study
    runs = [one for one in runs_of(module, dest) if one["study"] == study]
    newest = runs[0] if runs else None
    cut = newest is not None and newest["complete"] < newest["points"]
    if newest is not None and not cut and not given["again"]:
        module.exit_json(changed=False, file=dest)
    if module.check_mode:
        module.exit_json(changed=True, file=dest)
    arguments = ["run", "--store", dest, "--json"]
    if given["fence"] is not None:
        arguments += ["--fence", str(given["fence"])]
    if cut:
        arguments += [newest["id"], "--resume"]
    else:
        arguments += [given["study"], *(["--quick"] if given["quick"] else [])]
        for word in given["set"]:
            arguments += ["--set", word]
    measured = document(module, run(module, arguments, ok=(0, 1), needs=True)[1])
    points = measured["points"]
    module.exit_json(
        changed=True,
        run=measured["run"]["id"],
        points=len(points),
        complete=sum(point["state"] == "complete" for point in points),
        file=dest,
        digest=module.sha256(dest),
    )


if __name__ == "__main__":
    main()

#!/usr/bin/python
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

DOCUMENTATION = r"""
module: apply
short_description: Make an NFV host what its plan says
version_added: 0.1.0
description:
  - Carries out a plan of C(wirespeed plan) on the host, as root. Each change is written down there
    before it is made, so that M(wirespeed.nfv.rollback) undoes all of them.
  - Run again it continues where it was cut, and changes nothing that is so already.
  - Never reboots. RV(reboot_due) says whether that is due; M(ansible.builtin.reboot) does it.
author:
  - The wirespeed authors (!UNKNOWN)
options:
  plan:
    description: File on the host with the plan, as C(wirespeed plan -o) writes it.
    type: path
    required: true
  confirm:
    description:
      - Keep the network changes of the task before, whose RV(unconfirmed) is true, and continue.
      - That this task reaches the host shows that its network still works. Without it a timer on
        the host undoes these changes after 120 seconds.
    type: bool
    default: false
extends_documentation_fragment:
  - wirespeed.nfv.command
attributes:
  check_mode:
    support: full
    description: Tells what would change.
"""

EXAMPLES = r"""
- name: Bring the plan
  ansible.builtin.copy:
    src: plan.json
    dest: ~/.local/state/wirespeed/fleet/plan.json
    mode: "0600"

- name: Apply it
  wirespeed.nfv.apply:
    plan: ~/.local/state/wirespeed/fleet/plan.json
  register: applied

- name: Keep its network changes, for the host is still reached
  wirespeed.nfv.apply:
    plan: ~/.local/state/wirespeed/fleet/plan.json
    confirm: true
  when: applied.unconfirmed

- name: Reboot where that is due
  ansible.builtin.reboot:
  when: applied.reboot_due
"""

RETURN = r"""
changes:
  description: How many settings were changed, or would be in check mode.
  returned: always
  type: int
reboot_due:
  description: Whether a part of the plan holds only after a reboot.
  returned: always
  type: bool
unconfirmed:
  description: Whether a timer undoes the network changes, unless O(confirm=true) follows.
  returned: always
  type: bool
differs:
  description: How many settings are not as planned; in check mode 0.
  returned: always
  type: int
differences:
  description: The first of them, in words.
  returned: always
  type: list
  elements: str
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.wirespeed.nfv.plugins.module_utils.change import (
    change,
    finish,
    steps_of,
)
from ansible_collections.wirespeed.nfv.plugins.module_utils.wirespeed import COMMON_ARGUMENTS


def main():
    module = AnsibleModule(
        argument_spec=dict(
            COMMON_ARGUMENTS,
            plan={"type": "path", "required": True},
            confirm={"type": "bool", "default": False},
        ),
        supports_check_mode=True,
    )
    dry = ["--dry-run"] if module.check_mode else []
    confirm = ["--confirm"] if module.params["confirm"] and not dry else []
    code, said = change(module, ["apply", module.params["plan"], *dry, *confirm])
    changes = sum(step["changed"] or step["state"] == "to change" for step in said["steps"])
    answer = {
        "changed": changes > 0,
        "changes": changes,
        "reboot_due": bool(said["reboot_due"]),
        "unconfirmed": said["unconfirmed"],
    }
    finish(module, code, answer, [] if module.check_mode else steps_of(said))


if __name__ == "__main__":
    main()

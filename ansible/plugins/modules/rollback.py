#!/usr/bin/python
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

DOCUMENTATION = r"""
module: rollback
short_description: Make an NFV host again what it was
version_added: 0.1.0
description:
  - Undoes what M(wirespeed.nfv.apply) changed, from the record that the host itself keeps.
  - Never reboots. RV(reboot_due) says whether that is due; run it again afterwards.
author:
  - The wirespeed authors (!UNKNOWN)
extends_documentation_fragment:
  - wirespeed.nfv.command
attributes:
  check_mode:
    support: none
    description: It is skipped in check mode.
"""

EXAMPLES = r"""
- name: Undo the plan
  wirespeed.nfv.rollback:
"""

RETURN = r"""
changes:
  description: How many settings were put back.
  returned: always
  type: int
reboot_due:
  description: Whether a part is undone only by a reboot.
  returned: always
  type: bool
differs:
  description: How many settings are not what they were.
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
    module = AnsibleModule(argument_spec=COMMON_ARGUMENTS)
    code, said = change(module, ["rollback"])
    changes = sum(step["changed"] for step in said["steps"])
    wanting = steps_of(said) + [
        f"{one['fact']}: was {one['before']}, is {one['now']}"
        for one in said["differences"] or ()
        if not one["expected"]
    ]
    wanting += [f"not compared: {one}" for one in said["not_compared"]]
    answer = {"changed": changes > 0, "changes": changes, "reboot_due": said["reboot_due"]}
    finish(module, code, answer, wanting)


if __name__ == "__main__":
    main()

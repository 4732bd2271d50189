#!/usr/bin/python
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

DOCUMENTATION = r"""
module: verify
short_description: Compare an NFV host with its plan
version_added: 0.1.0
description:
  - Compares every decision of a plan with what the host is. Changes nothing.
  - Fails when something differs, waits for a reboot, or could not be checked.
author:
  - The wirespeed authors (!UNKNOWN)
options:
  plan:
    description: File on the host with the plan, as C(wirespeed plan -o) writes it.
    type: path
    required: true
extends_documentation_fragment:
  - wirespeed.nfv.command
attributes:
  check_mode:
    support: full
    description: It changes nothing in any mode.
"""

EXAMPLES = r"""
- name: Is the host what was planned?
  wirespeed.nfv.verify:
    plan: ~/.local/state/wirespeed/fleet/plan.json
"""

RETURN = r"""
decisions:
  description: How many decisions were compared.
  returned: always
  type: int
differs:
  description: How many are not as planned.
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
    rows_of,
)
from ansible_collections.wirespeed.nfv.plugins.module_utils.wirespeed import COMMON_ARGUMENTS


def main():
    module = AnsibleModule(
        argument_spec=dict(COMMON_ARGUMENTS, plan={"type": "path", "required": True}),
        supports_check_mode=True,
    )
    code, said = change(module, ["verify", module.params["plan"]])
    answer = {"changed": False, "decisions": len(said["decisions"])}
    finish(module, code, answer, rows_of(said))


if __name__ == "__main__":
    main()

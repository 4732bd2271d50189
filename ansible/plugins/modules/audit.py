#!/usr/bin/python
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

DOCUMENTATION = r"""
module: audit
short_description: Audit an NFV host
version_added: 0.1.0
description:
  - Reads the host and checks it against every rule of C(wirespeed audit). It changes nothing.
  - Returns the verdict, the number of findings of each status and digests. Facts and findings
    are written to O(dest), which M(ansible.builtin.fetch) brings to the controller.
author:
  - The wirespeed authors (!UNKNOWN)
options:
  fail_on:
    description: Fail when a finding is this severe or worse.
    type: str
    choices: [low, medium, high, critical]
extends_documentation_fragment:
  - wirespeed.nfv.command
  - wirespeed.nfv.command.snapshot
"""

EXAMPLES = r"""
- name: Audit
  wirespeed.nfv.audit:
    name: "{{ inventory_hostname }}"
    dest: ~/.local/state/wirespeed/fleet/snapshot.json
  register: audited

- name: Fetch what was found
  ansible.builtin.fetch:
    src: "{{ audited.file }}"
    dest: results/
"""

RETURN = r"""
verdict:
  description: The worst severity that failed, or C(passed).
  returned: success
  type: str
counts:
  description: How many findings have each status.
  returned: success
  type: dict
hardware:
  description: Digest of the hardware; hosts with the same one are compared with each other.
  returned: success
  type: str
digest:
  description: SHA-256 of the file.
  returned: when a file was written
  type: str
file:
  description: The file on the host.
  returned: when a file was written
  type: str
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.wirespeed.nfv.plugins.module_utils.snapshot import (
    SNAPSHOT_ARGUMENTS,
    take,
)

SEVERITIES = ["low", "medium", "high", "critical"]


def main():
    module = AnsibleModule(
        argument_spec=dict(SNAPSHOT_ARGUMENTS, fail_on={"type": "str", "choices": SEVERITIES}),
        supports_check_mode=True,
    )
    taken = take(module, [])
    limit = module.params["fail_on"]
    if limit and taken["verdict"] in SEVERITIES[SEVERITIES.index(limit) :]:
        module.fail_json(msg=f"the audit found something {taken['verdict']}", **taken)
    module.exit_json(**taken)


if __name__ == "__main__":
    main()

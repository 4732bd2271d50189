#!/usr/bin/python
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

DOCUMENTATION = r"""
module: inspect
short_description: Read the facts of an NFV host
version_added: 0.1.0
description:
  - Reads sockets, cores, memory, NICs, firmware, kernel, vSwitch and guests. It changes nothing.
  - Returns digests. The facts are written to O(dest), which M(ansible.builtin.fetch) brings to the
    controller; they are far too large to be facts of Ansible.
author:
  - The wirespeed authors (!UNKNOWN)
extends_documentation_fragment:
  - wirespeed.nfv.command
  - wirespeed.nfv.command.snapshot
"""

EXAMPLES = r"""
- name: Read what the host is
  wirespeed.nfv.inspect:
    name: "{{ inventory_hostname }}"
    dest: ~/.local/state/wirespeed/fleet/snapshot.json
"""

RETURN = r"""
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


def main():
    module = AnsibleModule(argument_spec=SNAPSHOT_ARGUMENTS, supports_check_mode=True)
    taken = take(module, ["--facts-only"])
    del taken["verdict"], taken["counts"]
    module.exit_json(**taken)


if __name__ == "__main__":
    main()

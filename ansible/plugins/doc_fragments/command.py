# SPDX-License-Identifier: Apache-2.0
"""Options that every module of this collection has."""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  executable:
    description: The program wirespeed on the host.
    type: path
    default: /opt/wirespeed/bin/wirespeed
"""

    SNAPSHOT = r"""
options:
  dest:
    description:
      - File on the host for what was found. Without it, and in check mode, none is written.
    type: path
  name:
    description: The host's name in the fleet, usually C(inventory_hostname).
    type: str
    required: true
attributes:
  check_mode:
    support: full
    description: Can run in check mode and then writes no file.
"""

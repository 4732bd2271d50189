# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

DOCUMENTATION = r"""
name: store
short_description: Hosts of a wirespeed store
version_added: 0.1.0
description:
  - Every host that was audited or inspected into a store, with its address.
  - Groups are C(hardware_DIGEST), C(site_SITE) and C(verdict_VERDICT); keyed groups come on top.
author:
  - The wirespeed authors (!UNKNOWN)
options:
  plugin:
    description: The name of this plugin.
    required: true
    choices: [wirespeed.nfv.store]
  store:
    description: The store, as C(--store) takes it; wirespeed's own default if omitted.
    type: str
    env:
      - name: WIRESPEED_STORE
  executable:
    description: The program wirespeed on the controller.
    type: str
    default: wirespeed
extends_documentation_fragment:
  - constructed
"""

EXAMPLES = r"""
# fleet.wirespeed.yml
plugin: wirespeed.nfv.store
store: postgresql://wirespeed@db/wirespeed
"""

import json
import os
import subprocess

from ansible.errors import AnsibleParserError
from ansible.plugins.inventory import BaseInventoryPlugin, Constructable
from ansible.utils.unsafe_proxy import wrap_var

_VARIABLES = ("hardware", "verdict", "site", "collected_at")


class InventoryModule(BaseInventoryPlugin, Constructable):
    """Inventory from the command's output, so that only the command knows the store's schema."""

    NAME = "wirespeed.nfv.store"

    def verify_file(self, path):
        """Accept files named *.wirespeed.yml."""
        return super().verify_file(path) and path.endswith((".wirespeed.yml", ".wirespeed.yaml"))

    def parse(self, inventory, loader, path, cache=True):
        """Add every host, its address and groups."""
        super().parse(inventory, loader, path, cache)
        self._read_config_data(path)
        for host in self._hosts():
            name = self.inventory.add_host(host["name"])
            # What hosts wrote is no template; ansible-core before 2.19 would evaluate it.
            if host["address"]:
                self.inventory.set_variable(name, "ansible_host", wrap_var(host["address"]))
            for key in _VARIABLES:
                self.inventory.set_variable(name, f"wirespeed_{key}", wrap_var(host[key]))
            for key in ("hardware", "site", "verdict"):
                if host[key]:
                    group = self._sanitize_group_name(f"{key}_{host[key]}")
                    self.inventory.add_child(self.inventory.add_group(group), name)
            strict = self.get_option("strict")
            variables = self.inventory.get_host(name).get_vars()
            self._set_composite_vars(self.get_option("compose"), variables, name, strict=strict)
            self._add_host_to_composed_groups(
                self.get_option("groups"), variables, name, strict=strict
            )
            self._add_host_to_keyed_groups(
                self.get_option("keyed_groups"), variables, name, strict=strict
            )

    def _hosts(self):
        store = self.get_option("store")
        env = dict(os.environ, **({"WIRESPEED_STORE": store} if store else {}))
        argv = [self.get_option("executable"), "fleet", "hosts"]
        try:
            done = subprocess.run(argv, env=env, capture_output=True, text=True, check=False)
        except OSError as fault:
            raise AnsibleParserError(f"{argv[0]} cannot be run: {fault.strerror}") from fault
        if done.returncode != 0:
            raise AnsibleParserError(" ".join(done.stderr.split()) or f"{argv[0]} failed")
        return json.loads(done.stdout)

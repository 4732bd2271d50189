# SPDX-License-Identifier: Apache-2.0
"""Connect to a recorded host: commands run locally, and wirespeed reads the recording.

Everything else is Ansible's own: modules are packed, sent and run as on any host. A host whose
recording is "unreachable" does not answer.
"""

from __future__ import annotations

import shlex

from ansible.errors import AnsibleConnectionFailure
from ansible.plugins.connection.local import Connection as LocalConnection

DOCUMENTATION = """
name: recorded
short_description: a recorded host
description: Commands run on this machine with the recording's folder in their environment.
author: The wirespeed authors
version_added: 0.1.0
options:
  folder:
    description: The recording, or "unreachable".
    vars:
      - name: recorded_folder
extends_documentation_fragment:
  - connection_pipelining
"""


class Connection(LocalConnection):
    transport = "recorded"
    has_pipelining = True

    def _connect(self):
        if self.get_option("folder") == "unreachable":
            raise AnsibleConnectionFailure("no route to this host")
        return super()._connect()

    def exec_command(self, cmd, in_data=None, sudoable=True):
        self._connect()
        folder = shlex.quote(self.get_option("folder"))
        return super().exec_command(f"WIRESPEED_RECORDED={folder} {cmd}", in_data, sudoable)

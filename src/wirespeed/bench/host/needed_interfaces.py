# SPDX-License-Identifier: Apache-2.0
"""Which network interfaces can a host not do without, whoever asks for them?

Those of default routes, and those that ssh sessions come in by: whoever runs this may sit at the
other end.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from wirespeed.remote.interface import ProgramMissing, Runner
from wirespeed.remote.routes import default_route_interfaces, with_lower


def needed_interfaces(runner: Runner) -> Mapping[str, str]:
    """Their names, and what each carries; with what lies beneath them (bonds, bridges, VLANs)."""
    sessions = with_lower(runner, _of_ssh_sessions(runner))
    found = dict.fromkeys(sessions, "an ssh session")
    return found | dict.fromkeys(default_route_interfaces(runner), "the default route")


def _of_ssh_sessions(runner: Runner) -> set[str]:
    """SSH_CONNECTION names our own session; sudo drops it, so port 22 is looked at as well."""
    told = runner.run(["printenv", "SSH_CONNECTION"], check=False).stdout.split()
    addresses = {told[2]} if len(told) == 4 else set()
    try:
        seen = runner.run(["ss", "-Htn", "state", "established", "sport", "=", ":22"]).stdout
    except ProgramMissing:
        seen = ""
    addresses |= {line.split()[2].rpartition(":")[0].strip("[]") for line in seen.splitlines()}
    addresses = {address.partition("%")[0].removeprefix("::ffff:") for address in addresses}
    if not addresses:
        return set()
    interfaces = json.loads(runner.run(["ip", "-json", "address", "show"]).stdout)
    return {
        interface["ifname"]
        for interface in interfaces
        if addresses & {each.get("local") for each in interface.get("addr_info", ())}
    }

# SPDX-License-Identifier: Apache-2.0
"""Render a playbook for the host part of the plan: kernel, drivers, VFs, vSwitch, Nova.

It copies the files of the other targets, so all targets agree.
"""

from __future__ import annotations

from wirespeed.model.distribution import Family
from wirespeed.model.plan.plan import Plan
from wirespeed.model.plan.policy import NicUse
from wirespeed.plan.render import kernel, ovs
from wirespeed.plan.render.interface import Files, fill
from wirespeed.plan.render.openstack import host_nova_conf


def render(plan: Plan) -> Files:
    """Return ansible/site.yml, inventory.yml, host_vars and the files of each host."""
    files: dict[str, str] = {
        "ansible/site.yml": fill("site.yml.j2", plan=plan, families=_families(plan)),
        "ansible/inventory.yml": fill("inventory.yml.j2", plan=plan),
    }
    ovs_files = ovs.render(plan)
    for host in plan.hosts:
        base = f"ansible/files/{host.host}"
        files[f"ansible/host_vars/{host.host}.yml"] = fill(
            "host_vars.yml.j2", host=host, line=kernel.command_line(host),
            dpdk=[nic for nic in host.nics if nic.use is NicUse.DPDK],
            sriov=[nic for nic in host.nics if nic.use is NicUse.SRIOV],
        )  # fmt: skip
        for name, text in kernel.files_of(host).items():
            # The playbook calls grubby itself.
            if name != kernel.GRUBBY:
                files[f"{base}/{name}"] = text
        files[f"{base}/nova-wirespeed.conf"] = host_nova_conf(plan, host)
        if host.vswitch:
            files[f"{base}/ovs.sh"] = ovs_files[f"ovs/{host.host}.sh"]
    return files


def _families(plan: Plan) -> list[str]:
    """Return the families that the playbook must serve: all where one host's is unknown."""
    found = {host.family for host in plan.hosts}
    return [f for f in Family if f is not Family.UNKNOWN and found & {f, Family.UNKNOWN}]

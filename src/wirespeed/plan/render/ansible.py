# SPDX-License-Identifier: Apache-2.0
"""Render a playbook for the host part of the plan: kernel, drivers, VFs, vSwitch, Nova.

It copies the files of the other targets, so all targets agree.
"""

from __future__ import annotations

from wirespeed.model.plan.plan import Plan
from wirespeed.model.plan.policy import NicUse
from wirespeed.plan.render import kernel, ovs
from wirespeed.plan.render.interface import Files, fill
from wirespeed.plan.render.openstack import host_nova_conf


def render(plan: Plan) -> Files:
    """Return ansible/site.yml, inventory.yml, host_vars and the files of each host."""
    files: dict[str, str] = {
        "ansible/site.yml": fill("site.yml.j2", plan=plan),
        "ansible/inventory.yml": fill("inventory.yml.j2", plan=plan),
    }
    kernel_files, ovs_files = kernel.render(plan), ovs.render(plan)
    for host in plan.hosts:
        base = f"ansible/files/{host.host}"
        files[f"ansible/host_vars/{host.host}.yml"] = fill(
            "host_vars.yml.j2", host=host, line=kernel.command_line(host),
            dpdk=[nic for nic in host.nics if nic.use is NicUse.DPDK],
            sriov=[nic for nic in host.nics if nic.use is NicUse.SRIOV],
        )  # fmt: skip
        source = f"kernel/{host.host}/{kernel.DROP_IN}"
        files[f"{base}/{kernel.DROP_IN}"] = kernel_files[source]
        files[f"{base}/nova-wirespeed.conf"] = host_nova_conf(plan, host)
        if host.vswitch:
            files[f"{base}/ovs.sh"] = ovs_files[f"ovs/{host.host}.sh"]
    return files

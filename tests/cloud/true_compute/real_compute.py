# SPDX-License-Identifier: Apache-2.0
"""Run nova-compute and Neutron's agents on a server, with the files rendered for it.

Each is a command over ssh, so that its output is a log here and its end is noticed. The services of
the control plane have the same loopback addresses there as here: ssh forwards their ports.

The overlay adds only the addresses of the services, the host's name, longer timeouts, and settings
for an emulated CPU (no KVM, no host CPU model).
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from tests.cloud import computes
from tests.cloud.computes import AGENT_FILES, Computes
from tests.cloud.control_plane import ControlPlane
from tests.cloud.processes import Program
from tests.cloud.services.nova import compute_settings
from tests.cloud.simulated_host import document
from tests.cloud.site import Sections, Site, ini
from tests.cloud.true_compute.host import NOVA_FILES, PlannedHost
from wirespeed.lab.node import Node
from wirespeed.model.plan.plan import Plan
from wirespeed.remote.interface import Runner

COMPUTE = "nova-compute"
_FORWARDED = ("rabbit", "keystone", "placement", "glance", "neutron")
_PLUGINS = "/etc/neutron/plugins/ml2"
_SOCKETS = "/var/lib/vhost_sockets"
# An emulated CPU takes minutes to import Nova.
_LIMIT_S = 1800.0
_PATIENCE_S = 900
# RabbitMQ would close the connection of a compute that answers slowly.
_NO_HEARTBEAT: Sections = {"oslo_messaging_rabbit": {"heartbeat_timeout_threshold": 0}}


def start(
    control: ControlPlane, plan: Plan, *, rendered: Mapping[str, str], host: PlannedHost
) -> Computes:
    """Start the plan's one compute; wait until Nova, Placement and Neutron know it."""
    site, processes = control.site, control.processes
    [planned] = plan.hosts
    node = host.node.lab.node(host.node.name)
    with node.runner() as runner:
        _write(runner, site, planned.host, rendered)
        _prepare(runner)
    processes.start(_forwards(node, site))
    for program, argv in _commands().items():
        processes.start(_ssh(node, program, shlex.join(["exec", *argv])))
    computes.wait(control, plan, rendered, _LIMIT_S)
    names = ("forwards", *_commands())
    return Computes({planned.host: document(planned, host.facts)}, site.folder("domains"), names)


def _write(runner: Runner, site: Site, name: str, rendered: Mapping[str, str]) -> None:
    """Write the configuration files; the rendered nova.conf is there already."""
    files = {
        "/etc/nova/nova.conf": ini(compute_settings(site)),
        f"{NOVA_FILES}/zz-overlay.conf": ini(_nova(name)),
        "/etc/neutron/neutron.conf": ini(_neutron(site, name)),
        **{
            f"{_PLUGINS}/{file}": rendered[f"openstack/{name}/{file}"]
            for file in AGENT_FILES.values()
        },
    }
    for path, text in files.items():
        runner.write(path, text)


def _nova(name: str) -> Sections:
    return {
        "DEFAULT": {
            "host": name, "compute_driver": "libvirt.LibvirtDriver",
            "state_path": "/var/lib/nova", "instances_path": "/var/lib/nova/instances",
            "vif_plugging_timeout": _PATIENCE_S, "rpc_response_timeout": _PATIENCE_S,
        },
        "libvirt": {"virt_type": "qemu", "cpu_mode": "none"},
        "oslo_concurrency": {"lock_path": "/var/lib/nova/tmp"},
        **_NO_HEARTBEAT,
    }  # fmt: skip


def _neutron(site: Site, name: str) -> Sections:
    return {
        "DEFAULT": {
            "host": name, "transport_url": site.messages, "use_stderr": "true",
            "state_path": "/var/lib/neutron", "rpc_response_timeout": _PATIENCE_S,
        },
        "oslo_concurrency": {"lock_path": "/var/lib/neutron/lock"},
        "OVS": {"ovsdb_timeout": _PATIENCE_S},
        **_NO_HEARTBEAT,
    }  # fmt: skip


def _prepare(runner: Runner) -> None:
    """Start libvirt, and make the directory in which QEMU creates vhost-user sockets."""
    argv = ["systemctl", "start", "virtlogd.socket", "libvirtd.service"]
    runner.run(argv, timeout_s=_LIMIT_S)
    runner.run(["install", "-d", "-o", "libvirt-qemu", "-g", "kvm", _SOCKETS])


def _commands() -> dict[str, list[str]]:
    """Return the command of each program on the server; nova-compute finds its files itself."""
    agents = {
        program: [
            program, "--config-file=/etc/neutron/neutron.conf", f"--config-file={_PLUGINS}/{file}",
        ]
        for program, file in AGENT_FILES.items()
    }  # fmt: skip
    return {COMPUTE: [COMPUTE], **agents}


def _forwards(node: Node, site: Site) -> Program:
    places = (f"127.0.0.1:{site.ports[name]}" for name in _FORWARDED)
    options = [word for place in places for word in ("-R", f"{place}:{place}")]
    return _ssh(node, "forwards", "-N", "-oExitOnForwardFailure=yes", *options)


def _ssh(node: Node, name: str, *words: str) -> Program:
    return Program(name, ("ssh", "-F", str(node.config), node.name, *words))

# SPDX-License-Identifier: Apache-2.0
"""Report the Open vSwitch and SR-IOV agents of all simulated hosts, as their rendered files say.

Arguments: neutron.conf, and a JSON file with `hosts` (each `host`, `ovs` and `sriov`: the text of
the agent's file, or null) and `plugged`, a directory. For each file there (its name is a port, its
content a host) the agent says that the port is up, and removes the file.
"""

import configparser
import json
import sys
import time
from pathlib import Path

from neutron.agent import rpc
from neutron.common import config
from neutron.conf.agent.common import register_agent_state_opts_helper
from neutron_lib import constants, context
from neutron_lib.agent import topics
from oslo_config import cfg

_REPORT_S = 20
_CAPABILITIES = {
    "datapath_types": ["netdev", "system"],
    "iface_types": ["dpdk", "dpdkvhostuser", "dpdkvhostuserclient", "internal", "tap"],
}


def read(text):
    parser = configparser.ConfigParser(strict=False, interpolation=None)
    parser.read_string(text)
    return parser


def pairs(text):
    return [entry.strip().split(":", 1) for entry in text.split(",") if entry.strip()]


def ovs_agent(host, text):
    section = read(text)["ovs"]
    return {
        "agent_type": constants.AGENT_TYPE_OVS,
        "binary": constants.AGENT_PROCESS_OVS,
        "host": host,
        "topic": constants.L2_AGENT_TOPIC,
        "configurations": {
            "bridge_mappings": dict(pairs(section["bridge_mappings"])),
            "datapath_type": section["datapath_type"],
            "vhostuser_socket_dir": section["vhostuser_socket_dir"],
            "integration_bridge": "br-int",
            "tunnel_types": [],
            "ovs_capabilities": _CAPABILITIES,
        },
    }


def nic_agent(host, text):
    mappings = {}
    for network, interface in pairs(read(text)["sriov_nic"]["physical_device_mappings"]):
        mappings.setdefault(network, []).append(interface)
    return {
        "agent_type": constants.AGENT_TYPE_NIC_SWITCH,
        "binary": constants.AGENT_PROCESS_NIC_SWITCH,
        "host": host,
        "topic": constants.L2_AGENT_TOPIC,
        "configurations": {"device_mappings": mappings},
    }


def agents(settings):
    for each in settings["hosts"]:
        if each["ovs"]:
            yield ovs_agent(each["host"], each["ovs"])
        if each["sriov"]:
            yield nic_agent(each["host"], each["sriov"])


def serve(settings):
    admin = context.get_admin_context_without_session()
    reports = rpc.PluginReportStateAPI(topics.REPORTS)
    plugin = rpc.PluginApi(topics.PLUGIN)
    states = [{**state, "start_flag": True} for state in agents(settings)]
    plugged = Path(settings["plugged"])
    due = 0.0
    while True:
        if time.monotonic() >= due:
            for state in states:
                reports.report_state(admin, dict(state), use_call=True)
                state.pop("start_flag", None)
            due = time.monotonic() + _REPORT_S
        for path in plugged.glob("[!.]*"):
            plugin.update_device_up(admin, path.name, "simulated", host=path.read_text())
            path.unlink()
        time.sleep(0.1)


if __name__ == "__main__":
    config.register_common_config_options()
    register_agent_state_opts_helper(cfg.CONF)
    config.init(["--config-file", sys.argv[1]])
    config.setup_logging()
    serve(json.loads(Path(sys.argv[2]).read_text()))

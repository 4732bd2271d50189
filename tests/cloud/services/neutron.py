# SPDX-License-Identifier: Apache-2.0
"""Define Neutron's server with ML2, which reads the rendered ml2_conf.ini."""

from __future__ import annotations

from pathlib import Path

from tests.cloud.services.interface import Service, console
from tests.cloud.site import REGION, Site, authtoken, ini

DATABASE = "neutron"


def service(site: Site, paste: Path) -> Service:
    settings = str(
        site.write(
            "neutron/neutron.conf",
            ini({
                "DEFAULT": {
                    "core_plugin": "ml2", "service_plugins": "", "use_stderr": "true",
                    "transport_url": site.messages, "state_path": site.folder("neutron"),
                    "bind_host": "127.0.0.1", "bind_port": site.ports["neutron"],
                    "api_workers": 1, "rpc_workers": 1, "api_paste_config": paste,
                    "notify_nova_on_port_status_changes": "true",
                    "notify_nova_on_port_data_changes": "true", "agent_down_time": 120,
                    "send_events_interval": 0, "vlan_transparent": "false",
                },
                "database": {"connection": site.database(DATABASE)},
                "keystone_authtoken": authtoken(site),
                "nova": {**site.login, "region_name": REGION},
                "placement": {**site.login, "region_name": REGION},
                "oslo_concurrency": {"lock_path": site.folder("neutron/locks")},
            }),
        )
    )  # fmt: skip
    rendered = site.root / "neutron/ml2_conf.ini"
    return Service(
        "neutron", "network", "", (DATABASE,),
        (console("neutron-db-manage", "neutron.db.migration.cli:main", "--config-file", settings,
                 "upgrade", "heads"),),
        (console("neutron-server", "neutron.cmd.eventlet.server:main", "--config-file", settings,
                 "--config-file", str(rendered)),),
        reads={"controller/ml2_conf.ini": rendered},
    )  # fmt: skip

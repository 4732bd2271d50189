# SPDX-License-Identifier: Apache-2.0
"""Define Nova's API, conductor and scheduler; they read the nova.conf rendered for controllers."""

from __future__ import annotations

from pathlib import Path

from tests.cloud.services.interface import Service, console
from tests.cloud.site import REGION, Sections, Site, authtoken, ini

API, CELL0, CELL = "nova_api", "nova_cell0", "nova"
# Nova fills in what [database]connection and transport_url say now: ports and secrets change.
_CELL_DATABASE = "{scheme}://{username}@{hostname}/%s?{query}"
_CELL_MESSAGES = "{scheme}://{username}:{password}@{hostname}:{port}/"


def service(site: Site, paste: Path) -> Service:
    settings = str(write_common(site, paste))
    rendered = site.root / "nova/rendered.conf"

    def manage(*argv: str) -> object:
        return console("-".join(("nova-manage", *argv[:2])), "nova.cmd.manage:main",
                       "--config-file", settings, *argv)  # fmt: skip

    def program(name: str, module: str) -> object:
        return console(name, f"nova.cmd.{module}:main", "--config-file", settings,
                       "--config-file", str(rendered))  # fmt: skip

    return Service(
        "nova", "compute", "/v2.1", (API, CELL0, CELL),
        (
            manage("api_db", "sync"),
            manage("cell_v2", "map_cell0", "--database_connection", _CELL_DATABASE % CELL0),
            manage("db", "sync"),
            manage("cell_v2", "create_cell", "--name", "cell1", "--database_connection",
                   _CELL_DATABASE % CELL, "--transport-url", _CELL_MESSAGES),
        ),
        (
            program("nova-conductor", "conductor"),
            program("nova-scheduler", "scheduler"),
            program("nova-api", "api"),
        ),
        after=("keystone", "placement"), reads={"controller/nova.conf": rendered},
    )  # fmt: skip


def write_common(site: Site, paste: Path) -> Path:
    """Write the nova.conf that controllers and simulated computes read first."""
    return site.write("nova/nova.conf", ini(_common(site, paste)))


def _common(site: Site, paste: Path) -> Sections:
    """Return the settings of computes, with the API and the databases of controllers."""
    shared = compute_settings(site)
    return {
        **shared,
        "DEFAULT": {
            **shared["DEFAULT"],
            "enabled_apis": "osapi_compute",
            "osapi_compute_listen": "127.0.0.1", "osapi_compute_listen_port": site.ports["nova"],
            "osapi_compute_workers": 1, "service_down_time": 60,
        },
        "wsgi": {"api_paste_config": paste},
        "database": {"connection": site.database(CELL)},
        "api_database": {"connection": site.database(API)},
        "conductor": {"workers": 1},
        "scheduler": {"workers": 1, "discover_hosts_in_cells_interval": 2},
        "keystone_authtoken": authtoken(site),
    }  # fmt: skip


def compute_settings(site: Site) -> Sections:
    """Return the addresses of services, and the settings of every program of Nova."""
    login = {**site.login, "region_name": REGION}
    return {
        "DEFAULT": {
            "transport_url": site.messages, "use_stderr": "true", "my_ip": "127.0.0.1",
            "state_path": site.folder("nova"), "report_interval": 10,
            "rpc_response_timeout": 180, "vif_plugging_timeout": 120,
        },
        "vnc": {"enabled": "false"},
        "oslo_concurrency": {"lock_path": site.folder("nova/locks")},
        "service_user": {**login, "send_service_user_token": "true"},
        "placement": login,
        "neutron": login,
        "glance": login,
    }  # fmt: skip

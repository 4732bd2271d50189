# SPDX-License-Identifier: Apache-2.0
"""Define Placement: inventories of hosts and their allocations."""

from __future__ import annotations

from tests.cloud.services.interface import Service, console, wsgi
from tests.cloud.site import Site, authtoken, ini

DATABASE = "placement"


def service(site: Site) -> Service:
    settings = site.write(
        "placement/placement.conf",
        ini({
            "DEFAULT": {"use_stderr": "true"},
            "api": {"auth_strategy": "keystone"},
            "placement_database": {"connection": site.database(DATABASE)},
            "keystone_authtoken": authtoken(site),
        }),
    )  # fmt: skip
    environ = {"OS_PLACEMENT_CONFIG_DIR": str(settings.parent)}
    return Service(
        "placement", "placement", "", (DATABASE,),
        (console("placement-manage", "placement.cmd.manage:main", "--config-file", str(settings),
                 "db", "sync"),),
        (wsgi("placement", "placement.wsgi:init_application", site.ports["placement"], environ),),
    )  # fmt: skip

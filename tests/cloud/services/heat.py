# SPDX-License-Identifier: Apache-2.0
"""Define Heat, which creates the resources of stack.yaml."""

from __future__ import annotations

import secrets
from pathlib import Path

from tests.cloud.services.interface import Service, console
from tests.cloud.site import REGION, Site, authtoken, ini

DATABASE = "heat"


def service(site: Site, paste: Path) -> Service:
    settings = str(
        site.write(
            "heat/heat.conf",
            ini({
                "DEFAULT": {
                    "transport_url": site.messages, "use_stderr": "true",
                    "deferred_auth_method": "password", "num_engine_workers": 1,
                    "auth_encryption_key": secrets.token_hex(16),
                    "region_name_for_services": REGION,
                },
                "database": {"connection": site.database(DATABASE)},
                "heat_api": {"bind_host": "127.0.0.1", "bind_port": site.ports["heat"],
                             "workers": 1},
                "paste_deploy": {"api_paste_config": paste},
                "keystone_authtoken": authtoken(site),
                "clients_keystone": {"auth_uri": site.url("keystone")},
            }),
        )
    )  # fmt: skip
    return Service(
        "heat", "orchestration", "/v1/%(tenant_id)s", (DATABASE,),
        (console("heat-manage", "heat.cmd.manage:main", "--config-file", settings, "db_sync"),),
        (
            console("heat-engine", "heat.cmd.engine:main", "--config-file", settings),
            console("heat-api", "heat.cmd.api:main", "--config-file", settings),
        ),
    )  # fmt: skip

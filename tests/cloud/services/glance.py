# SPDX-License-Identifier: Apache-2.0
"""Define Glance: images of one byte each; only their properties matter."""

from __future__ import annotations

from pathlib import Path

from tests.cloud.services.interface import Service, console
from tests.cloud.site import Site, authtoken, ini

DATABASE = "glance"


def service(site: Site, paste: Path) -> Service:
    settings = site.write(
        "glance/glance-api.conf",
        ini({
            "DEFAULT": {
                "bind_host": "127.0.0.1", "bind_port": site.ports["glance"], "workers": 0,
                "use_stderr": "true",
            },
            "database": {"connection": site.database(DATABASE)},
            "glance_store": {
                "stores": "file", "default_store": "file",
                "filesystem_store_datadir": site.folder("glance/images"),
            },
            "paste_deploy": {"flavor": "keystone", "config_file": paste},
            "keystone_authtoken": authtoken(site),
        }),
    )  # fmt: skip
    return Service(
        "glance", "image", "", (DATABASE,),
        (console("glance-manage", "glance.cmd.manage:main", "--config-file", str(settings),
                 "db_sync"),),
        (console("glance-api", "glance.cmd.api:main", "--config-file", str(settings)),),
    )  # fmt: skip

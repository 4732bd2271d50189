# SPDX-License-Identifier: Apache-2.0
"""Define Keystone: roles and the service catalog."""

from __future__ import annotations

import base64
import json
import secrets

from tests.cloud.services.interface import Service, console, wsgi
from tests.cloud.site import PROJECT, REGION, USER, Site, ini

DATABASE = "keystone"


def service(site: Site) -> Service:
    for store in ("fernet", "credential"):
        key = base64.urlsafe_b64encode(secrets.token_bytes(32)).decode()
        # 0 is the next key, 1 the one in use.
        site.write(f"keystone/{store}/0", key)
        site.write(f"keystone/{store}/1", key)
    settings = site.write(
        "keystone/keystone.conf",
        ini({
            "DEFAULT": {"use_stderr": "true"},
            "database": {"connection": site.database(DATABASE)},
            "token": {"provider": "fernet", "expiration": 86400},
            "fernet_tokens": {"key_repository": site.root / "keystone/fernet"},
            "fernet_receipts": {"key_repository": site.root / "keystone/fernet"},
            "credential": {"key_repository": site.root / "keystone/credential"},
            "identity": {"password_hash_rounds": 4},
            # Each command of a client logs in; without this each login reads all anew.
            "cache": {"enabled": "true", "backend": "dogpile.cache.memory"},
        }),
    )  # fmt: skip
    environ = {"OS_KEYSTONE_CONFIG_DIR": str(settings.parent)}

    def manage(*argv: str, secret: str | None = None) -> object:
        more = {"OS_BOOTSTRAP_PASSWORD": secret} if secret else {}
        return console(
            f"keystone-manage-{argv[0]}", "keystone.cmd.manage:main", "--config-file",
            str(settings), *argv, environ={**environ, **more},
        )  # fmt: skip

    return Service(
        "keystone", "identity", "/v3", (DATABASE,),
        (
            manage("db_sync"),
            manage("bootstrap", "--bootstrap-username", USER, "--bootstrap-project-name", PROJECT,
                   "--bootstrap-region-id", REGION, secret=secrets.token_hex(8)),
        ),
        (wsgi("keystone", "keystone.server.wsgi:initialize_public_application",
              site.ports["keystone"], environ),),
    )  # fmt: skip


def new_password_and_places(services: tuple[Service, ...], site: Site, hashed: str) -> str:
    """Return the statements that give a cached database this start's password and ports."""
    # All values are ours; none has a quote in it.
    service = "INSERT INTO service VALUES "
    columns = "id, interface, service_id, url, extra, enabled, region_id"
    endpoint = f"INSERT INTO endpoint ({columns}) VALUES "  # noqa: S608
    text = ["USE keystone;", "DELETE FROM endpoint; DELETE FROM service;"]
    text.append(f"UPDATE password SET password_hash = '{hashed}';")  # noqa: S608
    for each in services:
        identity, url = secrets.token_hex(16), site.url(each.name, each.path)
        name = json.dumps({"name": each.name})
        text.append(service + f"('{identity}', '{each.kind}', 1, '{name}');")
        text += [
            endpoint + f"('{secrets.token_hex(16)}', '{interface}', '{identity}', '{url}', "
            f"'{{}}', 1, '{REGION}');"
            for interface in ("public", "internal")
        ]
    return "\n".join(text)

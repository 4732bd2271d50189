# SPDX-License-Identifier: Apache-2.0
"""Define one OpenStack's files, ports and secrets.

Ports and secrets are drawn anew at each start. Secrets are written only to files that none but
their owner reads; they are in no argument and in no log.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.ports import reserved_port

REGION = "RegionOne"
PROJECT = USER = "admin"
_LISTENERS = ("epmd", "rabbit", "rabbit-peers", "keystone", "placement", "glance", "nova",
              "neutron", "heat")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Site:
    """Files, ports and secrets of one OpenStack."""

    root: Path
    """Directory of mode 0700."""
    password: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)
    """Password of the one user, in Keystone and RabbitMQ."""
    cookie: str = field(default_factory=lambda: secrets.token_hex(20), repr=False)
    ports: dict[str, int] = field(
        default_factory=lambda: {name: reserved_port() for name in _LISTENERS}
    )

    def folder(self, name: str) -> Path:
        made = self.root / name
        made.mkdir(mode=0o700, parents=True, exist_ok=True)
        return made

    def write(self, name: str, text: str) -> Path:
        """Write a file that only its owner can read."""
        path = self.root / name
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.touch(mode=0o600)
        path.write_text(text)
        return path

    @property
    def socket(self) -> Path:
        """Return MariaDB's only listening socket; the directory's mode keeps others out."""
        return self.root / "mariadb.sock"

    def database(self, name: str) -> str:
        return f"mysql+pymysql://root@localhost/{name}?unix_socket={self.socket}"

    @property
    def messages(self) -> str:
        return f"rabbit://{USER}:{self.password}@127.0.0.1:{self.ports['rabbit']}/"

    def url(self, service: str, path: str = "") -> str:
        return f"http://127.0.0.1:{self.ports[service]}{path}"

    @property
    def login(self) -> dict[str, str]:
        """Return the options of a password login, as keystoneauth names them."""
        return {
            "auth_type": "password",
            "auth_url": self.url("keystone", "/v3"),
            "username": USER,
            "password": self.password,
            "project_name": PROJECT,
            "user_domain_name": "Default",
            "project_domain_name": "Default",
        }

    def environ(self) -> dict[str, str]:
        """Return the environment of the real command-line clients."""
        login = {f"OS_{name.upper()}": value for name, value in self.login.items()}
        return {**login, "OS_IDENTITY_API_VERSION": "3", "OS_REGION_NAME": REGION}


Sections = dict[str, dict[str, object]]


def ini(sections: Sections) -> str:
    """Format sections of options; a list is an option given several times."""
    lines = []
    for section, options in sections.items():
        lines.append(f"[{section}]")
        for name, value in options.items():
            values = value if isinstance(value, list) else [value]
            lines += [f"{name} = {each}" for each in values]
    return "\n".join(lines) + "\n"


def authtoken(site: Site) -> dict[str, object]:
    """Return the options by which a service validates tokens with Keystone."""
    return {**site.login, "www_authenticate_uri": site.url("keystone"), "region_name": REGION}

# SPDX-License-Identifier: Apache-2.0
"""Parse the ssh address of a machine."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import quote, unquote, urlsplit

from wirespeed.model.errors import BadInput

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@-]*")
# An address may have this query only.
_CONFIG = re.compile(r"config=(/[^&=]+)")
_HOST = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*|[0-9A-Fa-f:]*:[0-9A-Fa-f:.]*(%[A-Za-z0-9_.-]+)?")


@dataclass(frozen=True, slots=True)
class SshTarget:
    """Machine and login. port and user are None where ssh's own configuration decides."""

    host: str
    user: str | None = None
    port: int | None = None
    config: str | None = None
    """Configuration file (`ssh -F`) for a machine with keys or a socket of its own, else None."""

    @classmethod
    def parse(cls, url: str) -> SshTarget:
        """Parse ssh://[user@]host[:port], optionally with ?config=/path. Raises BadInput.

        A name that starts with "-" is rejected, because ssh would take it for an option.
        """
        example = "Write it as ssh://user@host or ssh://user@host:port."
        try:
            parts = urlsplit(url)
            host, user, port = parts.hostname or "", parts.username, parts.port
        except ValueError as fault:
            raise BadInput(f"{url!r} is not an ssh address: {fault}", example) from None
        config = _CONFIG.fullmatch(parts.query) if parts.query else None
        other = parts.password or parts.fragment or (parts.query and not config)
        if parts.scheme != "ssh" or parts.path not in ("", "/") or other:
            raise BadInput(f"{url!r} is not of the form ssh://[user@]host[:port]", example)
        if not _HOST.fullmatch(host):
            raise BadInput(f"{host!r} in {url!r} is not a host name", example)
        if user is not None and not _NAME.fullmatch(user):
            raise BadInput(f"{user!r} in {url!r} is not a user name", example)
        return cls(host, user, port, unquote(config[1]) if config else None)

    @property
    def url(self) -> str:
        """Address in the form that `parse` reads."""
        config = f"?config={quote(self.config)}" if self.config is not None else ""
        return f"{self._plain}{config}"

    @property
    def command(self) -> str:
        """Command line that a user types to log in."""
        config = f"-F {self.config} " if self.config is not None else ""
        return f"ssh {config}{self._plain}"

    @property
    def _plain(self) -> str:
        """Address in the form that ssh reads."""
        user = f"{self.user}@" if self.user is not None else ""
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = f":{self.port}" if self.port is not None else ""
        return f"ssh://{user}{host}{port}"

# SPDX-License-Identifier: Apache-2.0
"""Ask a cloud of clouds.yaml through openstacksdk, and explain its errors.

Only GET is sent. Credentials stay in openstacksdk: messages repeat nothing of its configuration
except the addresses of services, without the part before an @.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlsplit

from wirespeed.cloud.api import CloudUnreadable, Gone, Record, only
from wirespeed.cloud.config_files import skipped_files
from wirespeed.model.errors import BadInput
from wirespeed.model.host.installed import install_extra

# Nova reports where a server's vCPUs and memory are since 2.78 (Train). It no longer reports a
# hypervisor's nodes and cores since 2.88. Placement reports nested providers since 1.14.
WANTED = {"compute": ((2, 78), (2, 87)), "placement": ((1, 14), (1, 14))}
MAJOR = {"compute": "2", "placement": "1", "network": "2", "image": "2"}
RELEASES = {"compute": "Train", "placement": "Queens"}
TIMEOUT_S = 30

_ADMINISTRATOR = (
    "Use an administrator's credentials: only they may list hypervisors, the servers of all "
    "projects and where these run."
)


class LiveApi:
    """A cloud, authenticated at the first request."""

    def __init__(self, cloud: str, client: Callable[[str], Any]) -> None:
        self._cloud = cloud
        self._client = client
        self._clients: dict[str, tuple[Any, str | None]] = {}

    @property
    def cloud(self) -> str:
        return self._cloud

    def one(self, service: str, path: str, keys: Sequence[str]) -> Record:
        return only(self._get(service, path), keys)

    def all(self, service: str, path: str, collection: str, keys: Sequence[str]) -> list[Record]:
        records: list[Record] = []
        query: str | None = urlsplit(path).query
        asked: set[str | None] = set()
        # A service that repeats a page would otherwise be asked forever.
        while query is not None and query not in asked:
            asked.add(query)
            page = self._get(service, f"{urlsplit(path).path}?{query}".rstrip("?"))
            records += [only(record, keys) for record in page.get(collection, ())]
            query = _next_query(page, collection)
        return records

    def _get(self, service: str, path: str) -> Record:
        with _as_unreadable(self._cloud, service):
            if service not in self._clients:
                self._clients[service] = self._open(service)
            client, microversion = self._clients[service]
            reply = client.get(path, microversion=microversion)
            if reply.status_code == 404:
                raise Gone(f"{service} {path}")
            if not reply.ok:
                raise _refused(self._cloud, service, path.partition("?")[0], reply.status_code)
            try:
                body = reply.json()
            except ValueError:
                body = None
        if not isinstance(body, dict):
            raise CloudUnreadable(
                f"cloud {self._cloud}: {service} answers GET {path} with no JSON object",
                "Check that the endpoint in the catalogue is this service's.",
            )
        return body

    def _open(self, service: str) -> tuple[Any, str | None]:
        client = self._client(service)
        data = client.get_endpoint_data()
        if data is None:
            raise CloudUnreadable(
                f"cloud {self._cloud}: its catalogue has no endpoint of {service}",
                "Check region_name and interface of the cloud in clouds.yaml.",
            )
        if service not in WANTED:
            return client, None
        least, most = WANTED[service]
        newest = data.max_microversion
        if newest is None:
            # The address in the catalogue may itself name a version: no service was asked yet.
            client.get("")
        if newest is None or newest < least:
            has = ".".join(map(str, newest)) if newest else "none"
            raise CloudUnreadable(
                f"cloud {self._cloud}: {service} knows microversions up to {has}; "
                f"{least[0]}.{least[1]} is needed",
                f"It came with OpenStack {RELEASES[service]}; an older cloud cannot be read.",
            )
        return client, ".".join(map(str, min(newest, most)))


def check_client() -> None:
    """Raise BadInput where openstacksdk is not installed."""
    if find_spec("openstack") is None:
        raise BadInput(
            "openstacksdk is not installed; wirespeed needs it to ask a cloud",
            f"Install it: {install_extra('openstack')}",
        )


def open_cloud(name: str) -> LiveApi:
    """Return the cloud of that name in clouds.yaml, as openstacksdk finds it. Raises BadInput."""
    check_client()
    import openstack.config
    from keystoneauth1.exceptions import AuthPluginException
    from openstack.exceptions import ConfigException

    # The errors raised here have its warnings; without a handler they would be on stderr.
    logging.getLogger("keystoneauth").addHandler(logging.NullHandler())
    try:
        region = openstack.config.OpenStackConfig().get_one(cloud=name)
    except (AuthPluginException, ConfigException) as fault:
        why = "; ".join((_without_secrets(str(fault)).rstrip("."), *skipped_files()))
        raise BadInput(
            f"cloud {name!r} cannot be used: {why}",
            "Name a complete cloud of clouds.yaml (in ., ~/.config/openstack or /etc/openstack), "
            "or envvars for the OS_* variables; or a CLOUD.json or the folder of a recorded cloud.",
        ) from None
    except (AttributeError, TypeError, ValueError) as fault:
        # openstacksdk raises these for a text or a number where it expects a mapping.
        raise BadInput(
            f"cloud {name!r} cannot be used: its entry in clouds.yaml has not the shape that "
            "openstacksdk expects",
            "Each cloud is a mapping, and so is its `auth`: see openstacksdk's documentation.",
        ) from fault
    if region.config.get("api_timeout") is None:
        region.config["api_timeout"] = TIMEOUT_S
    return LiveApi(name, lambda service: _adapter(region, service))


def _adapter(region: Any, service: str) -> Any:
    """Return a client of one service, at the newest endpoint of its major version."""
    from keystoneauth1.adapter import Adapter

    major = MAJOR[service]
    return Adapter(
        session=region.get_session(),
        service_type=region.get_service_type(service),
        service_name=region.get_service_name(service),
        interface=region.get_interface(service),
        region_name=region.get_region_name(service),
        endpoint_override=region.get_endpoint(service),
        min_version=major,
        max_version=f"{major}.latest",
        raise_exc=False,
    )


@contextmanager
def _as_unreadable(cloud: str, service: str) -> Iterator[None]:
    """Translate openstacksdk's failures. Raises CloudUnreadable."""
    from keystoneauth1 import exceptions
    from openstack.exceptions import SDKException

    try:
        yield
    except exceptions.Unauthorized:
        raise CloudUnreadable(
            f"cloud {cloud}: Keystone refuses the credentials (401)",
            "Check user, password, project and domains in clouds.yaml, secure.yaml or OS_*.",
        ) from None
    except exceptions.CatalogException:
        raise CloudUnreadable(
            f"cloud {cloud}: its catalogue has no endpoint of {service}",
            "Check region_name and interface of the cloud in clouds.yaml.",
        ) from None
    except (exceptions.AuthPluginException, exceptions.MissingAuthMethods) as fault:
        raise CloudUnreadable(
            f"cloud {cloud}: its credentials are incomplete: {_without_secrets(str(fault))}",
            "Complete the cloud's auth in clouds.yaml, secure.yaml or OS_*.",
        ) from None
    except (exceptions.ConnectionError, exceptions.DiscoveryFailure) as fault:
        raise CloudUnreadable(
            f"cloud {cloud}: {service} cannot be reached: {_without_secrets(str(fault))}",
            "Check the address, the network, and cacert or verify in clouds.yaml.",
        ) from None
    except (exceptions.ClientException, SDKException) as fault:
        raise CloudUnreadable(
            f"cloud {cloud}: {service} fails: {_without_secrets(str(fault))}",
            "Ask it with `openstack` for more.",
        ) from None


def _refused(cloud: str, service: str, path: str, status: int) -> CloudUnreadable:
    if status in (401, 403):
        return CloudUnreadable(
            f"cloud {cloud}: {service} forbids GET {path} ({status})", _ADMINISTRATOR
        )
    step = "Look into the log of that service, then try again."
    return CloudUnreadable(f"cloud {cloud}: {service} answers GET {path} with {status}", step)


def _next_query(page: Record, collection: str) -> str | None:
    """Return the query of the next page: Nova and Neutron link it, Glance names it."""
    for link in page.get(f"{collection}_links") or ():
        if link.get("rel") == "next":
            return str(urlsplit(link["href"]).query)
    following = page.get("next")
    return urlsplit(following).query if isinstance(following, str) else None


def _without_secrets(text: str) -> str:
    """Return the first line without user and password of an address."""
    return re.sub(r"//[^/@\s]*@", "//", text.strip().split("\n", maxsplit=1)[0])

# SPDX-License-Identifier: Apache-2.0
"""Collect the facts of a cloud in one pass over its services; nothing is changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TypeVar

from wirespeed.cloud import compute
from wirespeed.cloud.api import Api, CloudUnreadable, Gone
from wirespeed.cloud.image import read_images
from wirespeed.cloud.network import read_networking
from wirespeed.cloud.placement import with_inventories
from wirespeed.document.sift import NotOfItsForm, sift
from wirespeed.model.cloud import Cloud

# Each server and each host costs requests of its own; a service answers several at once.
AT_ONCE = 8

T = TypeVar("T")
R = TypeVar("R")


def collect(api: Api) -> Cloud:
    """Return all facts of the cloud. Raises CloudUnreadable."""
    try:
        return _of_its_types(_collect(api))
    except Gone as absent:
        raise CloudUnreadable(
            f"cloud {api.cloud}: {absent} does not exist (404)",
            "Check that the endpoint in the catalogue is this service's.",
        ) from None
    except (AttributeError, KeyError, TypeError, ValueError) as fault:
        raise CloudUnreadable(
            f"cloud {api.cloud}: an answer is not as the API reference says: {fault!r}",
            "Record it with --record DIR and report it.",
        ) from fault


def _of_its_types(cloud: Cloud) -> Cloud:
    """Return the cloud with printable names.

    Tenants choose no other text. Raises CloudUnreadable where another text, e.g. a host's name, is
    not of its form.
    """
    faults: list[str] = []
    try:
        cloud = sift(cloud, lambda field, why: faults.append(f"{field}: {why}"))
    except NotOfItsForm as fault:
        faults.append(str(fault))
    if faults:
        raise CloudUnreadable(
            f"cloud {cloud.name}: answers have invalid values: {'; '.join(faults[:5])}",
            "Correct them in the cloud.",
        )
    return cloud


def _collect(api: Api) -> Cloud:
    network = read_networking(api)
    with ThreadPoolExecutor(AT_ONCE) as pool:

        def each(read: Callable[[T], R], items: Iterable[T]) -> list[R]:
            return list(pool.map(read, items))

        servers = compute.read_servers(api, network.ports, each)
        hosts = with_inventories(api, compute.read_hosts(api), servers, each)
    return Cloud(
        name=api.cloud,
        hosts=tuple(replace(host, agents=network.agents.get(host.name, ())) for host in hosts),
        servers=servers,
        flavors=compute.read_flavors(api),
        images=read_images(api),
        aggregates=compute.read_aggregates(api),
        networks=network.networks,
        groups=compute.read_groups(api),
    )

# SPDX-License-Identifier: Apache-2.0
"""Read the objects of a Kubernetes cluster, as `kubectl get -o json` prints them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from wirespeed.model.input.bounded import load_json
from wirespeed.model.input.text import printable
from wirespeed.plan.errors import PlanError
from wirespeed.plan.render.pods import NAMESPACE

NEXT = (
    "Write it with `kubectl get -A -o json nodes,deployments,sriovnetworknodepolicies,"
    "performanceprofiles > FILE`; leave out kinds that the cluster does not have."
)


def read_cluster(text: str, source: str) -> dict[str, dict[str, Any]]:
    """Return the objects of a dump by kind and name. Raises PlanError.

    The name of an object outside of the plan's namespace begins with its own: "other/bng".
    """
    found: dict[str, dict[str, Any]] = {}
    try:
        for number, item in enumerate(_items(load_json(text))):
            with named(f"object {number + 1}"):
                found.setdefault(item["kind"], {})[_name(item["metadata"])] = item
    except ValueError as error:
        raise PlanError(f"cluster file {source}: {printable(str(error), 200)}", NEXT) from None
    return found


def _items(document: Any) -> list[Any]:
    """Return the objects of a list, or the one that is there alone. Raises ValueError."""
    if isinstance(document, dict) and "kind" in document and "items" not in document:
        if document["kind"] == "Status":
            raise ValueError(f"is the API server's refusal: {document.get('message')}")
        return [document]
    items = document.get("items") if isinstance(document, dict) else None
    if not isinstance(items, list):
        raise ValueError('is no list as kubectl prints it: it has no array "items"')
    return items


def _name(metadata: Mapping[str, Any]) -> str:
    name, namespace = metadata["name"], metadata.get("namespace") or NAMESPACE
    if not isinstance(name, str) or not isinstance(namespace, str):
        raise TypeError(name)
    return name if namespace == NAMESPACE else f"{namespace}/{name}"


@contextmanager
def named(what: str) -> Iterator[None]:
    """Turn the errors of an object that is not as its API defines it into ValueError."""
    try:
        yield
    except KeyError as error:
        raise ValueError(f"{what} lacks the key {error}") from None
    except (TypeError, AttributeError):
        raise ValueError(f"{what} has a value of another type than its API has") from None
    except ValueError as error:
        raise ValueError(f"{what}: {error}") from None

# SPDX-License-Identifier: Apache-2.0
"""Find a kubelet's configuration in what Kubernetes and OpenShift print of it.

Documents: /configz of a kubelet, KubeletConfiguration (kubelet.config.k8s.io/v1beta1),
KubeletConfig and MachineConfig (machineconfiguration.openshift.io/v1). A MachineConfig holds the
file of the kubelet as a data URL (RFC 2397), perhaps packed (Ignition 3, storage.files.contents).
"""

from __future__ import annotations

import base64
import binascii
import zlib
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote_to_bytes

from wirespeed.model.input.bounded import load_json, load_yaml

CONFIGURATION_FILE = "/etc/kubernetes/kubelet.conf"
# In octets, unpacked. MachineConfigs of OpenShift 4.21 hold 3 kB.
_LARGEST = 1 << 20
_GZIP = 16 + zlib.MAX_WBITS


def read_document(text: str) -> Any:
    """Return the value of a JSON or YAML text. Raises ValueError."""
    return load_json(text) if text.lstrip().startswith("{") else load_yaml(text)


def configuration(document: Any) -> Mapping[str, Any]:
    """Return the KubeletConfiguration in a document.

    Raises KeyError or TypeError for another document, ValueError for a file that is none.
    """
    if not isinstance(document, dict):
        raise TypeError("is not an object")
    match document.get("kind"):
        case "KubeletConfiguration":
            return document
        case "KubeletConfig":
            found: Mapping[str, Any] = document["spec"]["kubeletConfig"]
            return found
        case "MachineConfig":
            return _of_machine_config(document)
        case "List" if len(document["items"]) == 1:
            return configuration(document["items"][0])
    inner: Mapping[str, Any] = document.get("kubeletconfig", document)
    if "cpuManagerPolicy" not in inner:
        raise KeyError("cpuManagerPolicy")
    return inner


def _of_machine_config(document: Mapping[str, Any]) -> Mapping[str, Any]:
    for file in document["spec"]["config"]["storage"]["files"]:
        if file["path"] == CONFIGURATION_FILE:
            contents = file["contents"]
            return configuration(read_document(_unpacked(contents).decode()))
    raise KeyError(CONFIGURATION_FILE)


def _unpacked(contents: Mapping[str, str]) -> bytes:
    """Return a file of Ignition. Raises ValueError for one that is damaged or too large."""
    scheme, comma, data = contents["source"].partition(",")
    if not scheme.startswith("data:") or not comma:
        raise ValueError(f"{CONFIGURATION_FILE}: its source is no data URL")
    content = unquote_to_bytes(data)
    try:
        if scheme.endswith(";base64"):
            content = base64.b64decode(content, validate=True)
        if contents.get("compression") == "gzip":
            content = _unzipped(content)
    except (binascii.Error, zlib.error) as error:
        raise ValueError(f"{CONFIGURATION_FILE}: {error}") from None
    if len(content) > _LARGEST:
        raise ValueError(f"{CONFIGURATION_FILE}: more than {_LARGEST >> 20} MiB")
    return content


def _unzipped(packed: bytes) -> bytes:
    """Return at most one octet more than is read. Raises zlib.error for a damaged file."""
    unzip = zlib.decompressobj(_GZIP)
    content = unzip.decompress(packed, _LARGEST + 1)
    if not unzip.eof and len(content) <= _LARGEST:
        raise zlib.error("gzip data end too early")
    return content

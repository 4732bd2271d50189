# SPDX-License-Identifier: Apache-2.0
"""Record a cloud's replies, so that they can be read again elsewhere.

A recording is the file replies.json in a folder of its own. It holds only the requested keys: no
credentials, tokens, user data or metadata.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from wirespeed.cloud.api import Api, Gone, Record, only
from wirespeed.document.readable_json import readable_json
from wirespeed.document.text_file import read_input
from wirespeed.document.version import read_document
from wirespeed.model.errors import BadInput

FILE = "replies.json"
SCHEMA_VERSION = "1.0"
_AGAIN = "Record it with `wirespeed inspect --openstack CLOUD --record DIR`."


class RecordingApi:
    """Asks another API and records its replies."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._replies: dict[str, Any] = {}

    @property
    def cloud(self) -> str:
        return self._api.cloud

    def one(self, service: str, path: str, keys: Sequence[str]) -> Record:
        record = self._api.one(service, path, keys)
        self._replies[f"{service} {path}"] = record
        return record

    def all(self, service: str, path: str, collection: str, keys: Sequence[str]) -> list[Record]:
        records = self._api.all(service, path, collection, keys)
        self._replies[f"{service} {path}"] = records
        return records

    def text(self) -> str:
        """Return the recording as JSON."""
        replies = dict(sorted(self._replies.items()))
        body = {"schema_version": SCHEMA_VERSION, "cloud": self.cloud, "replies": replies}
        return readable_json(body)


class RecordedApi:
    """A recorded cloud. A resource that was not recorded does not exist."""

    def __init__(self, text: str, where: str) -> None:
        raw = read_document(text, f"recording {where}", SCHEMA_VERSION, _AGAIN)
        cloud, replies = raw.get("cloud"), raw.get("replies")
        if not isinstance(cloud, str) or not isinstance(replies, dict):
            raise BadInput(f"recording {where} holds no cloud and replies", _AGAIN)
        self._cloud = cloud
        self.replies = replies

    @classmethod
    def open(cls, folder: Path) -> RecordedApi:
        """Return the recording in that folder. Raises BadInput."""
        return cls(read_input(folder / FILE, _AGAIN), str(folder))

    @property
    def cloud(self) -> str:
        return self._cloud

    def one(self, service: str, path: str, keys: Sequence[str]) -> Record:
        return only(self._reply(service, path), keys)

    def all(self, service: str, path: str, collection: str, keys: Sequence[str]) -> list[Record]:  # noqa: ARG002
        return [only(record, keys) for record in self._reply(service, path)]

    def _reply(self, service: str, path: str) -> Any:
        try:
            return self.replies[f"{service} {path}"]
        except KeyError:
            raise Gone(f"{service} {path} (not recorded)") from None

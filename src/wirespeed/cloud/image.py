# SPDX-License-Identifier: Apache-2.0
"""Read Glance's images, with the properties that Nova reads."""

from __future__ import annotations

from wirespeed.cloud.api import Api
from wirespeed.model.cloud import CloudImage

# Prefixes of the properties that change where and how a server runs.
PROPERTIES = ("hw_*", "os_*", "trait:*")


def read_images(api: Api) -> tuple[CloudImage, ...]:
    """Return all images, by name. os_hash_* describe the file and are excluded."""
    found = api.all("image", "/images?limit=500", "images", ("name", *PROPERTIES))
    images = [
        CloudImage(
            record["name"] or "",
            {
                key: str(value)
                for key, value in sorted(record.items())
                if key != "name" and not key.startswith(("os_hash_", "os_hidden"))
            },
        )
        for record in found
    ]
    return tuple(sorted(images, key=lambda image: image.name))

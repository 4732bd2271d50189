# SPDX-License-Identifier: Apache-2.0
"""Check that rule WS36 knows exactly the extra specs that the installed Nova registers."""

from __future__ import annotations

import pytest
from nova import exception
from nova.api.validation.extra_specs import validators
from nova.objects.image_meta import ImageMetaProps

from wirespeed.audit.extra_specs import KNOWN, NAMESPACES, is_known
from wirespeed.plan.nova.image_properties import KNOWN as IMAGE_PROPERTIES

validators.load_validators()
# Templates such as hw:numa_cpus.{num} represent many keys; is_known matches them by pattern.
REGISTERED = {v.name for v in validators.VALIDATORS.values() if "{" not in v.name}


def test_every_registered_key_is_known() -> None:
    assert not [name for name in REGISTERED if not is_known(name)]


def test_no_other_key_is_known() -> None:
    assert not KNOWN - REGISTERED


@pytest.mark.parametrize("namespace", sorted(NAMESPACES))
def test_an_invented_key_is_refused_by_both(namespace: str) -> None:
    key = f"{namespace}:invented"
    assert not is_known(key)
    with pytest.raises(exception.ValidationError):
        validators.validate(key, "1")


def test_image_properties_are_novas() -> None:
    read = {name for name in ImageMetaProps.fields if name.startswith(("hw_", "img_", "os_"))}
    # An image numbers these: hw_numa_cpus.0.
    assert read - {"hw_numa_cpus", "hw_numa_mem"} == IMAGE_PROPERTIES

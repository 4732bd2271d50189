# SPDX-License-Identifier: Apache-2.0
"""Test that Nova's extra specs are distinguished from misspelled ones."""

from __future__ import annotations

import pytest

from wirespeed.audit.extra_specs import is_known, replacement


@pytest.mark.parametrize(
    "key",
    [
        "hw:cpu_policy",
        "hw:numa_cpus.12",
        "trait:HW_CPU_X86_AESNI",
        "trait1:CUSTOM_X",
        "resources:PCPU",
        "capabilities:cpu_info:features",
        "aggregate_instance_extra_specs:nfv",
        "vendor:anything",
        "without_namespace",
    ],
)
def test_known_or_not_novas_business(key: str) -> None:
    assert is_known(key)


@pytest.mark.parametrize(
    ("key", "right"),
    [
        ("hw:cpu_threads_policy", "hw:cpu_thread_policy"),
        ("hw:numa_mempolicy", None),
        ("hw:mem_pagesize", "hw:mem_page_size"),
        ("hw:numa_cpus.x", None),
        ("quota:nothing_like_it", None),
    ],
)
def test_unknown_and_what_was_meant(key: str, right: str | None) -> None:
    assert not is_known(key)
    assert replacement(key) == right

# SPDX-License-Identifier: Apache-2.0
"""Test that a new node's boot disk starts the kernel of update-grub, with the same words."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wirespeed.image.recipes import HOST_GRUB
from wirespeed.lab.errors import LabError
from wirespeed.lab.grub import (
    Kernel,
    default_arguments,
    first_config,
    first_sector,
    kernel_release,
)

WORDS = st.lists(st.from_regex(r"[a-z_.]+(=[a-z0-9:,-]+)?", fullmatch=True), max_size=6)


@given(always=WORDS, default=WORDS)
def test_arguments_are_put_together_as_grub_mkconfig_does(
    always: list[str], default: list[str]
) -> None:
    text = (
        "GRUB_TIMEOUT=0\n"
        f'GRUB_CMDLINE_LINUX_DEFAULT="{" ".join(default)}"\n'
        f'# GRUB_CMDLINE_LINUX="not=this"\nGRUB_CMDLINE_LINUX="{" ".join(always)}"\n'
    )
    assert default_arguments(text).split() == [*always, *default]


def test_defaults_that_only_a_shell_could_read_are_refused() -> None:
    with pytest.raises(LabError, match="GRUB_CMDLINE_LINUX"):
        default_arguments('GRUB_CMDLINE_LINUX="$OTHER"\nGRUB_CMDLINE_LINUX_DEFAULT=""\n')


def test_the_shipped_defaults_have_a_page_of_1_gib_on_each_node_and_the_iommu_on() -> None:
    arguments = default_arguments(HOST_GRUB.read_text()).split()
    assert {"intel_iommu=on", "hugepagesz=1G", "hugepages=0:1,1:1"} <= set(arguments)


def test_the_first_config_names_the_files_of_the_release() -> None:
    config = first_config(Kernel(Path("k"), Path("i"), "6.1.0-7-amd64", "1-2", "quiet a=b"))
    assert config.splitlines() == [
        "linux /vmlinuz-6.1.0-7-amd64 root=UUID=1-2 ro quiet a=b",
        "initrd /initrd.img-6.1.0-7-amd64",
        "boot",
    ]


@given(release=st.from_regex(r"[0-9]{1,3}\.[0-9]{1,3}[a-z0-9.+-]{0,40}", fullmatch=True))
def test_the_release_is_read_from_a_bzimage(release: str) -> None:
    image = bytearray(0x1000)
    image[0x202:0x206] = b"HdrS"
    struct.pack_into("<H", image, 0x20E, 0x400)
    text = f"{release} (someone@somewhere) #1 SMP\0".encode()
    image[0x600 : 0x600 + len(text)] = text
    assert kernel_release(bytes(image)) == release


def test_a_kernel_that_is_no_bzimage_is_refused() -> None:
    with pytest.raises(LabError, match="bzImage"):
        kernel_release(b"\x7fELF" + bytes(0x1000))


def test_the_first_sector_keeps_grubs_code_and_has_one_partition() -> None:
    code = bytes(range(256)) * 2
    sector = first_sector(code[:510] + b"\x55\xaa")
    assert sector[:446] == code[:446]
    assert sector[510:] == b"\x55\xaa"
    active, kind, start, size = struct.unpack("<B3xB3xII", sector[446:462])
    assert (active, kind, start) == (0x80, 0x83, 2048)
    assert size % 2048 == 0
    assert sector[462:510] == bytes(48)

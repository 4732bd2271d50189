# SPDX-License-Identifier: Apache-2.0
"""Read GRUB's environment block, where some distributions keep the kernel command line.

Source: GNU GRUB Manual 2.06, "Environment block": a preallocated file, 1,024 octets by default,
padded with "#".
"""

from __future__ import annotations

import re

from wirespeed.host.reader import Reader
from wirespeed.model.host.platform import BootEnvironment

PATHS = ("/boot/grub2/grubenv", "/boot/grub/grubenv")
_SIGNATURE = "# GRUB Environment Block"
_SECTOR = 512
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


def read_boot_environment(reader: Reader) -> BootEnvironment | None:
    """Return the block; None where there is none, or GRUB does not boot the host."""
    files = reader.files(PATHS, "boot_environment")
    path = next((path for path in PATHS if path in files), None)
    if path is None:
        return None
    text = files[path]
    if not text.startswith(_SIGNATURE):
        reader.lacks("boot_environment", f"{path} is not an environment block of GRUB")
        return None
    written = text.rstrip("#")
    values = dict(
        line.split("=", 1) for line in written.split("\n") if "=" in line and line[0] != "#"
    )
    words = values.get("kernelopts")
    return BootEnvironment(
        path=path,
        used=len(written.encode()),
        # The reader takes the last newline away, which a block that is full to its end has.
        size=-(-len(text.encode()) // _SECTOR) * _SECTOR,
        kernel_words=None if words is None else _ESCAPED.sub(r"\1", words).strip(),
    )

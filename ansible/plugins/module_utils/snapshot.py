# SPDX-License-Identifier: Apache-2.0
"""Take a host's snapshot for the modules audit and inspect."""

from __future__ import annotations

from ansible_collections.wirespeed.nfv.plugins.module_utils.wirespeed import (
    COMMON_ARGUMENTS,
    document,
    run,
)

SNAPSHOT_ARGUMENTS = dict(
    COMMON_ARGUMENTS,
    dest={"type": "path"},
    name={"type": "str", "required": True},
)


def take(module, options):
    """Run `wirespeed fleet snapshot`; return the module's result. Only the file is a change."""
    given = module.params
    arguments = ["fleet", "snapshot", "--json", "--name", given["name"], *options]
    dest = given["dest"] if not module.check_mode else None
    if dest:
        arguments += ["--output", dest]
    said = document(module, run(module, arguments)[1])
    taken = {key: said[key] for key in ("verdict", "counts", "hardware")}
    if dest:
        taken.update(file=dest, digest=module.sha256(dest))
    return dict(taken, changed=False)

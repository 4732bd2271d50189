# SPDX-License-Identifier: Apache-2.0
"""Run the command wirespeed on the host of a module.

Modules return a few hundred bytes. Large results stay in a file that the controller fetches.
"""

from __future__ import annotations

import json
import os

DEFAULT_EXECUTABLE = "/opt/wirespeed/bin/wirespeed"
INSTALL = "Install the controller's version there with the role wirespeed.nfv.install."

COMMON_ARGUMENTS = {"executable": {"type": "path", "default": DEFAULT_EXECUTABLE}}


def run(module, arguments, ok=(0,), needs=False):
    """Run it; returns its exit code and stdout. Anything but `ok` fails the module, and so does
    an exit without a word on stdout where it `needs` one."""
    executable = module.params["executable"]
    if not os.access(executable, os.X_OK):
        module.fail_json(msg=f"{executable}: no such program. {INSTALL}")
    code, out, err = module.run_command([executable, *arguments])
    if code not in ok or (needs and not out.strip()):
        module.fail_json(msg=fault(module, executable, code, err), rc=code)
    return code, out


def fault(module, executable, code, err):
    """Return the error in a sentence. A wirespeed without the command is too old."""
    if "No such command" in err or "No such option" in err:
        version = module.run_command([executable, "--version"])[1].strip() or "wirespeed"
        return f"{executable} is {version}, which is older than this collection. {INSTALL}"
    lines = [line for line in err.splitlines() if line.strip()]
    said = " ".join(lines).replace("wirespeed: ", "", 1) if lines else f"exit code {code}"
    return f"{executable}: {said}"


def document(module, out):
    """Return the JSON that the command printed."""
    try:
        return json.loads(out)
    except ValueError:
        module.fail_json(msg=f"{module.params['executable']} printed no JSON: {out[:200]!r}")

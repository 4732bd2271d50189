# SPDX-License-Identifier: Apache-2.0
"""Ends everything when the tests are killed. Argument: the directory of their files.

Reads the process groups that the tests start, one a line, from standard input. When that ends
before the line `done`, whoever wrote has died: the groups are killed and the directory removed.
"""

import contextlib
import os
import shutil
import signal
import sys

if __name__ == "__main__":
    groups = []
    for line in sys.stdin:
        if line == "done\n":
            sys.exit()
        groups.append(int(line))
    for group in groups:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(group, signal.SIGKILL)
    shutil.rmtree(sys.argv[1], ignore_errors=True)

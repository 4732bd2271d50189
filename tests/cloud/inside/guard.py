# SPDX-License-Identifier: Apache-2.0
"""End everything when the tests are killed. Argument: the directory of their files.

The process groups that the tests start arrive on standard input, one a line. If the input ends
before the line `done`, the tests have died: kill the groups and remove the directory.
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

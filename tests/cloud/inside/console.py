# SPDX-License-Identifier: Apache-2.0
"""Run a console entry point by its name, for packages whose script is in another package.

Arguments: module:function, the program's name, its arguments.
"""

import importlib
import sys

if __name__ == "__main__":
    module, _, function = sys.argv[1].partition(":")
    sys.argv = sys.argv[2:]
    sys.exit(getattr(importlib.import_module(module), function)())

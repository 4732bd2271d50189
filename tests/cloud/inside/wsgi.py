# SPDX-License-Identifier: Apache-2.0
"""Serve a WSGI application with waitress on loopback. Arguments: module:function, port."""

import importlib
import sys

import waitress

if __name__ == "__main__":
    module, _, function = sys.argv[1].partition(":")
    port = int(sys.argv[2])
    sys.argv = sys.argv[:1]
    application = getattr(importlib.import_module(module), function)()
    waitress.serve(application, host="127.0.0.1", port=port, threads=8)

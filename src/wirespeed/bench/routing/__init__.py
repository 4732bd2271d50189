# SPDX-License-Identifier: Apache-2.0
"""Give the routers of a bench their generated routes, from files or by routing daemons."""

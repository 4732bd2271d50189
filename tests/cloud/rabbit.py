# SPDX-License-Identifier: Apache-2.0
"""Run a private RabbitMQ with its own epmd; it uses neither /etc/rabbitmq nor /var."""

from __future__ import annotations

from tests.cloud.processes import Processes, Program, listens
from tests.cloud.site import USER, Site

_LOOPBACK = "127.0.0.1"


def start(site: Site, processes: Processes) -> None:
    """Start both programs; clients wait until the server listens."""
    home = site.folder("rabbit")
    cookie = site.write("rabbit/.erlang.cookie", site.cookie)
    cookie.chmod(0o400)
    site.write("rabbit/enabled_plugins", "[].\n")
    settings = site.write(
        "rabbit/rabbitmq.conf",
        f"default_user = {USER}\ndefault_pass = {site.password}\n"
        "log.console = true\nlog.console.level = warning\nlog.file = false\n"
        "vm_memory_high_watermark.absolute = 512MB\ndisk_free_limit.absolute = 50MB\n",
    )
    epmd = str(site.ports["epmd"])
    environ = {
        "HOME": str(home),
        "ERL_EPMD_ADDRESS": _LOOPBACK,
        "ERL_EPMD_PORT": epmd,
        "RABBITMQ_CONF_ENV_FILE": "/dev/null",
        "RABBITMQ_CONFIG_FILE": str(settings),
        "RABBITMQ_NODENAME": "os@localhost",
        "RABBITMQ_NODE_IP_ADDRESS": _LOOPBACK,
        "RABBITMQ_NODE_PORT": str(site.ports["rabbit"]),
        "RABBITMQ_DIST_PORT": str(site.ports["rabbit-peers"]),
        "RABBITMQ_MNESIA_BASE": str(home / "mnesia"),
        "RABBITMQ_LOG_BASE": str(home),
        "RABBITMQ_LOGS": "-",
        "RABBITMQ_PID_FILE": str(home / "pid"),
        "RABBITMQ_ENABLED_PLUGINS_FILE": str(home / "enabled_plugins"),
        "RABBITMQ_GENERATED_CONFIG_DIR": str(home / "generated"),
        "RABBITMQ_SCHEMA_DIR": str(home / "schema"),
        "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS":
            "-kernel inet_dist_use_interface {127,0,0,1} +S 1:1 +sbwt none",
    }  # fmt: skip
    if not listens(site.ports["epmd"]):
        processes.start(Program("epmd", ("epmd", "-address", _LOOPBACK, "-port", epmd), environ))
        processes.wait("epmd", lambda: listens(site.ports["epmd"]))
    processes.start(Program("rabbitmq", ("/usr/lib/rabbitmq/bin/rabbitmq-server",), environ))


def wait(site: Site, processes: Processes) -> None:
    processes.wait("RabbitMQ", lambda: listens(site.ports["rabbit"]))

# SPDX-License-Identifier: Apache-2.0
"""Read the nftables rules of a network namespace by nft(8), without their counters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from wirespeed.bench.host.network import inside
from wirespeed.bench.interface import BenchError
from wirespeed.remote.interface import Runner

_LOADED, _MODULE = "/sys/module/nf_tables", "/lib/modules/*/kernel/net/netfilter/nf_tables.ko*"
# Exit status of nsenter(1) where the program is not installed.
_NOT_INSTALLED = 127
# Elements of such a set come and go with the traffic.
_BY_TRAFFIC = ("dynamic", "timeout")


def rules(runner: Runner, namespace: str) -> Mapping[str, str] | None:
    """Return the tables with their chains, rules and sets, by readable name.

    A rule's value is the rule before it, so that another order differs, too. Returns None where nft
    is not installed. Raises BenchError where it does not list them.
    """
    if not runner.glob(_LOADED) and runner.glob(_MODULE):
        return {}  # Nobody has rules, and nft would load the module.
    words = [*inside(namespace), "nft", "--stateless", "list", "ruleset"]
    done = runner.run(words, check=False)
    if done.exit_code == _NOT_INSTALLED:
        return None
    if done.exit_code:
        if "not supported" in done.stderr:
            return {}  # a kernel without nftables
        raise BenchError(f"nft does not list the rules of {namespace}: {done.stderr.strip()}")
    return parse(done.stdout)


def parse(listed: str) -> Mapping[str, str]:
    """Parse the output of `nft --stateless list ruleset`, which indents by tabs."""
    found: dict[str, str] = {}
    for name, value in _settings(listed):
        found[name] = f"{found[name]}; {value}" if name in found else value
    return found


def _settings(listed: str) -> Iterator[tuple[str, str]]:
    table, block, lines = "", "", list[str]()
    for line in listed.splitlines():
        text, depth = line.strip(), len(line) - len(line.lstrip("\t"))
        if depth == 0 and text.startswith("table "):
            table = text.removeprefix("table ").removesuffix("{").strip()
            yield f"nftables table {table}", "there"
        elif depth == 1 and text.endswith("{"):
            block, lines = text.removesuffix("{").strip(), []
        elif depth == 1 and text == "}":
            yield from _of_block(block, table, lines)
        elif depth == 1 and text:
            yield f"nftables table {table}, {text}", "set"
        elif depth > 1 and text:
            lines.append(text)


def _of_block(block: str, table: str, lines: list[str]) -> Iterator[tuple[str, str]]:
    """Yield a chain with its rules, or a set, map, counter or another object of a table."""
    name = f"nftables {block} of {table}"
    if not block.startswith("chain "):
        yield name, _lasting(" ".join(lines)) or "empty"
        return
    hook = [line for line in lines if line.startswith("type ") and " hook " in line]
    yield name, " ".join(hook) or "no hook"
    before = "first"
    for rule in lines:
        if rule not in hook:
            yield f"{name}: {rule}", before
            before = f"after {rule}"


def _lasting(text: str) -> str:
    """Return the text of a set without the elements that traffic adds."""
    by_traffic = any(word in text for word in _BY_TRAFFIC)
    return text.partition("elements = ")[0].strip() if by_traffic else text

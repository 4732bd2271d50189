# SPDX-License-Identifier: Apache-2.0
"""Types of the texts in documents and of the texts that hosts and clouds answer.

Each type is a `str` with a Form: characters, length, and what errors call it. Documents enforce it
when they are read, `fits` does so elsewhere. Texts that people write freely are Line or Prose: they
have no control characters, and are escaped wherever they leave.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

# Python's, Rust's and ECMAScript's regular expressions all read this class. C0, DEL and C1 steer
# terminals; the line and paragraph separators end a line; the others reorder what is shown.
_CONTROLS = r"\u0000-\u001f\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069"
_CONTROL = re.compile(f"[{_CONTROLS}]")
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Form:
    """What a text must look like. `pattern` covers the whole text, in the syntax that Python, Rust
    and JSON Schema share; `longest` counts characters; `wanted` completes "must be ..."."""

    name: str
    wanted: str
    pattern: str
    longest: int

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self.pattern)

    def fits(self, value: object) -> bool:
        """Whether the value is a text of this form."""
        return (
            isinstance(value, str)
            and len(value) <= self.longest
            and self._compiled.fullmatch(value) is not None
            and _SURROGATE.search(value) is None
        )

    def __repr__(self) -> str:
        """The name alone: pydantic names the definitions of generic types in schemas by it."""
        return self.name

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        """What pydantic asks of a type's metadata. Its schemas are dictionaries, so that this
        package needs nothing of it."""
        anchored = {"pattern": f"^(?:{self.pattern})$", "max_length": self.longest}
        return {
            "type": "custom-error",
            "schema": handler(source) | anchored,
            "custom_error_type": "text_form",
            "custom_error_message": f"must be {self.wanted}, at most {self.longest} characters",
        }


def printable(text: str, longest: int | None = None) -> str:
    """The text on one line without control characters: each is written as its escape, e.g. \\x1b.

    longest: in characters; what is beyond is replaced by "...".
    """
    shown = _CONTROL.sub(lambda found: _escape(found[0]), text)
    shown = _SURROGATE.sub(lambda found: _escape(found[0]), shown)
    if longest is None or len(shown) <= longest:
        return shown
    return shown[: longest - 3] + "..."


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


# Spaces are in names of OpenStack only.
_WORD = r"[A-Za-z0-9][A-Za-z0-9._-]*"
_NAMES = "begins with a letter or digit; then letters, digits, '.', '_' and '-'"
_PCI = r"[0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7]"

LINE = Form("Line", "one line without control characters", f"[^{_CONTROLS}]*", 16384)
PROSE = Form(
    "Prose",
    "text whose only control characters are tabs and newlines",
    rf"(?:[^{_CONTROLS}]|[\t\r\n])*",
    65536,
)
FILE_PATH = Form("FilePath", "a path without control characters", f"[^{_CONTROLS}]+", 4096)
PCI_ADDRESS = Form("PciAddress", "a PCI address, as 0000:3b:00.0", _PCI, 17)
VF_ADDRESS = Form("VfAddress", "a PCI address, or its VF to come, as 0000:3b:00.0/vf1",
                  rf"{_PCI}(?:/vf[0-9]+)?", 25)  # fmt: skip
# Of what the kernel takes (dev_valid_name), nothing that a device string or an option begins with.
INTERFACE = Form("InterfaceName", "an interface's name: letters, digits, '_', '.' and '-'",
                 r"[A-Za-z0-9_][A-Za-z0-9_.-]*", 15)  # fmt: skip
HOST = Form("HostName", f"a host name: it {_NAMES}", _WORD, 253)
KERNEL_WORD = Form("KernelWord", "a word of the kernel command line: letters, digits, _.,:=/@%+*-",
                   r"[A-Za-z0-9_.,:=/@%+*-]+", 2048)  # fmt: skip
NAME = Form("Name", f"a name: it {_NAMES}", _WORD, 63)
OPTIONAL_NAME = Form("OptionalName", f"{NAME.wanted}; or empty", f"(?:{_WORD})?", 63)
# A guest's is its function's and a number.
GUEST_NAME = Form("GuestName", NAME.wanted, _WORD, 71)
# Open vSwitch and libvirt also name ports that are no interface of the kernel.
PORT_NAME = Form("PortName", "a port's name: letters, digits, _.:@+-",
                 r"[A-Za-z0-9_][A-Za-z0-9_.:@+-]*", 63)  # fmt: skip
LABEL = Form(
    "Label",
    "a name: it begins with a letter or digit; then letters, digits, spaces, _.:+@()-",
    r"[A-Za-z0-9][A-Za-z0-9 _.:+@()-]*",
    255,
)
OPTIONAL_LABEL = Form("OptionalLabel", f"{LABEL.wanted}; or empty", f"(?:{LABEL.pattern})?", 255)
WORD = Form("Word", "a word: letters, digits, _.,:+/@=-, not '-' first",
            r"(?:[A-Za-z0-9_.,:+/@=][A-Za-z0-9_.,:+/@=-]*)?", 255)  # fmt: skip
DEVICE = Form("Device", "a PCI address or a DPDK device: letters, digits, _.,:+/@=-",
              r"[A-Za-z0-9_][A-Za-z0-9_.,:+/@=-]*", 4096)  # fmt: skip
HEX_ID = Form("HexId", "a PCI id in hexadecimal, as 8086", r"(?:(?:0x)?[0-9a-fA-F]{1,8})?", 10)
ALIAS_TYPE = Form("AliasType", "type-PCI, type-PF or type-VF", "type-(?:PCI|PF|VF)", 8)
MAC = Form("Mac", "a MAC address, as 52:54:00:12:34:56", r"[0-9a-fA-F]{2}(?::[0-9a-fA-F]{2}){5}",
           17)  # fmt: skip
CIDR = Form("Cidr", "a network, as 10.0.0.0/24 or fd00::/64", r"[0-9a-fA-F:.]+/[0-9]{1,3}", 49)
# "" where nobody said.
ADDRESS = Form("Address", "a host name or an IP address",
               r"(?:[A-Za-z0-9_:][A-Za-z0-9_.:%-]*)?", 253)  # fmt: skip
# Of hosts, interfaces and PCI addresses, in the shell's syntax.
GLOB = Form("Glob", "a name or a pattern of names: letters, digits, _.:- and *?[]!",
            r"[A-Za-z0-9_.:*?!\[\]-]+", 253)  # fmt: skip

Line = Annotated[str, LINE]
Prose = Annotated[str, PROSE]
PciAddress = Annotated[str, PCI_ADDRESS]
VfAddress = Annotated[str, VF_ADDRESS]
InterfaceName = Annotated[str, INTERFACE]
HostName = Annotated[str, HOST]
KernelWord = Annotated[str, KERNEL_WORD]
Name = Annotated[str, NAME]
OptionalName = Annotated[str, OPTIONAL_NAME]
PortName = Annotated[str, PORT_NAME]
Label = Annotated[str, LABEL]
OptionalLabel = Annotated[str, OPTIONAL_LABEL]
GuestName = Annotated[str, GUEST_NAME]
AliasType = Annotated[str, ALIAS_TYPE]
Address = Annotated[str, ADDRESS]
Device = Annotated[str, DEVICE]
Word = Annotated[str, WORD]
HexId = Annotated[str, HEX_ID]
Mac = Annotated[str, MAC]
Cidr = Annotated[str, CIDR]
Glob = Annotated[str, GLOB]
FilePath = Annotated[str, FILE_PATH]

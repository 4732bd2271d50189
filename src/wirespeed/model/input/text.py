# SPDX-License-Identifier: Apache-2.0
"""Define types for the texts in documents and in the answers of hosts and clouds.

Each type is a `str` with a Form: characters, length, and its name in errors. Documents enforce the
form when they are read; `fits` checks it elsewhere. Free texts of people are Line or Prose: they
have no control characters, and are escaped on output.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

# The regular expressions of Python, Rust and ECMAScript all support this class. C0, DEL and C1
# control terminals. The line and paragraph separators end a line. The others reorder text.
_CONTROLS = r"\u0000-\u001f\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069"
_CONTROL = re.compile(f"[{_CONTROLS}]")
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Form:
    """Required form of a text."""

    name: str
    wanted: str
    """Completes "must be ..."."""
    pattern: str
    """Covers the whole text, in the syntax that Python, Rust and JSON Schema share."""
    longest: int
    """Largest length in characters."""

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self.pattern)

    def fits(self, value: object) -> bool:
        """Return whether the value is a text of this form."""
        return (
            isinstance(value, str)
            and len(value) <= self.longest
            and self._compiled.fullmatch(value) is not None
            and _SURROGATE.search(value) is None
        )

    def __repr__(self) -> str:
        """Return the name alone, because pydantic names the definitions in schemas by it."""
        return self.name

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        """Return the core schema that pydantic requests of a type's metadata.

        The schema is a plain dictionary, so this package does not import pydantic.
        """
        anchored = {"pattern": f"^(?:{self.pattern})$", "max_length": self.longest}
        return {
            "type": "custom-error",
            "schema": handler(source) | anchored,
            "custom_error_type": "text_form",
            "custom_error_message": f"must be {self.wanted}, at most {self.longest} characters",
        }


def printable(text: str, longest: int | None = None) -> str:
    r"""Return the text on one line, with control characters as escapes, e.g. \x1b.

    longest: largest length in characters; a longer text ends with "...".
    """
    # No escape is shorter than its character. Megabytes that are cut again are not looked through.
    text = text if longest is None else text[: longest + 1]
    shown = _CONTROL.sub(lambda found: _escape(found[0]), text)
    shown = _SURROGATE.sub(lambda found: _escape(found[0]), shown)
    if longest is None or len(shown) <= longest:
        return shown
    return shown[: longest - 3] + "..."


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


# Only names of OpenStack contain spaces.
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
# Stricter than the kernel's dev_valid_name: no name begins like a device string or an option.
INTERFACE = Form("InterfaceName", "an interface's name: letters, digits, '_', '.' and '-'",
                 r"[A-Za-z0-9_][A-Za-z0-9_.-]*", 15)  # fmt: skip
HOST = Form("HostName", f"a host name: it {_NAMES}", _WORD, 253)
KERNEL_WORD = Form("KernelWord", "a word of the kernel command line: letters, digits, _.,:=/@%+*-",
                   r"[A-Za-z0-9_.,:=/@%+*-]+", 2048)  # fmt: skip
NAME = Form("Name", f"a name: it {_NAMES}", _WORD, 63)
OPTIONAL_NAME = Form("OptionalName", f"{NAME.wanted}; or empty", f"(?:{_WORD})?", 63)
# Name of its function and a number.
GUEST_NAME = Form("GuestName", NAME.wanted, _WORD, 71)
# Open vSwitch and libvirt also name ports that are not kernel interfaces.
PORT_NAME = Form("PortName", "a port's name: letters, digits, _.:@+-",
                 r"[A-Za-z0-9_][A-Za-z0-9_.:@+-]*", 63)  # fmt: skip
LABEL = Form(
    "Label",
    "a name: it begins with a letter or digit; then letters, digits, spaces, _.:+@()-",
    r"[A-Za-z0-9][A-Za-z0-9 _.:+@()-]*",
    255,
)
IMAGE = Form(
    "ImageName",
    "a container image, as registry.example/vnf:1",
    r"[A-Za-z0-9][A-Za-z0-9._:/@-]*",
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
# "" if unknown.
ADDRESS = Form("Address", "a host name or an IP address",
               r"(?:[A-Za-z0-9_:][A-Za-z0-9_.:%-]*)?", 253)  # fmt: skip
# Hosts, interfaces and PCI addresses, in the shell's pattern syntax.
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
ImageName = Annotated[str, IMAGE]
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

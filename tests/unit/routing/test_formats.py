# SPDX-License-Identifier: Apache-2.0
"""Check that every format holds the same table."""

from __future__ import annotations

import re

import pytest

from wirespeed.routing.formats import Format, Table, hop_text, lines, prefix_text
from wirespeed.routing.generate import Route

TABLE = Table(
    (Route(4, 0x01000000, 8, 0), Route(4, 0x01020300, 24, 2)),
    (Route(6, 0x2400_0001 << 96, 32, 1),),
    next_hops=3,
    outputs=2,
)
EXPECTED = {
    Format.BIRD: [
        "protocol static wirespeed4 {",
        "\tipv4;",
        "\troute 1.0.0.0/8 via 198.18.0.2;",
        "\troute 1.2.3.0/24 via 198.18.0.4;",
        "}",
        "protocol static wirespeed6 {",
        "\tipv6;",
        "\troute 2400:1::/32 via 2001:2::3;",
        "}",
    ],
    Format.FRR: [
        "ip route 1.0.0.0/8 198.18.0.2",
        "ip route 1.2.3.0/24 198.18.0.4",
        "ipv6 route 2400:1::/32 2001:2::3",
    ],
    Format.IP: [
        "route add 1.0.0.0/8 via 198.18.0.2",
        "route add 1.2.3.0/24 via 198.18.0.4",
        "route add 2400:1::/32 via 2001:2::3",
    ],
    Format.EXABGP: [
        "announce route 1.0.0.0/8 next-hop 198.18.0.2",
        "announce route 1.2.3.0/24 next-hop 198.18.0.4",
        "announce route 2400:1::/32 next-hop 2001:2::3",
    ],
    Format.WSDP: [
        "wirespeed-routes 1",
        "hop 0 0 02:01:00:00:00:00 02:02:00:00:00:00",
        "hop 1 1 02:01:00:00:00:01 02:02:00:00:00:01",
        "hop 2 0 02:01:00:00:00:00 02:02:00:00:00:02",
        "route 1.0.0.0/8 0",
        "route 1.2.3.0/24 2",
        "route 2400:1::/32 1",
    ],
}


@pytest.mark.parametrize("target", Format)
def test_lines_of_each_format(target: Format) -> None:
    assert list(lines(TABLE, target)) == EXPECTED[target]


@pytest.mark.parametrize("target", Format)
def test_lines_without_routes_of_a_version_name_none(target: Format) -> None:
    text = "\n".join(lines(Table((), TABLE.ipv6, 3), target))
    assert prefix_text(TABLE.ipv6[0]) in text
    assert "198.18." not in text
    assert not re.search(r"\broute \d+\.", text)


def test_hop_text_counts_up() -> None:
    assert hop_text(4, 4095) == "198.18.16.1"
    assert hop_text(6, 4095) == "2001:2::1001"

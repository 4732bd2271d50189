# SPDX-License-Identifier: Apache-2.0
"""Send frames by one interface and print what leaves another, inside a network namespace.

Frames are hexadecimal, as a list in JSON. Ends when as many have come as were sent, or none more in
a while.
"""

from __future__ import annotations

import json
import socket
import struct
import sys

ETH_P_ALL, SOL_PACKET, PACKET_AUXDATA = 3, 263, 8
# struct tpacket_auxdata (linux/if_packet.h): status, lengths and offsets, tag, its Ethertype.
AUXDATA = struct.Struct("IIIHHHH")
TAG_VALID, ETHERTYPE_VALID = 1 << 4, 1 << 6
OUTGOING = 4
QUIET_S = 10.0


def main(into: str, out_of: str) -> None:
    frames = [bytes.fromhex(text) for text in json.load(sys.stdin)]
    family, kind = socket.AF_PACKET, socket.SOCK_RAW
    with (
        socket.socket(family, kind) as sender,
        socket.socket(family, kind, socket.htons(ETH_P_ALL)) as receiver,
    ):
        receiver.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
        receiver.bind((out_of, ETH_P_ALL))
        receiver.settimeout(QUIET_S)
        sender.bind((into, 0))
        for frame in frames:
            sender.send(frame)
        came: list[str] = []
        while len(came) < len(frames):
            try:
                data, extra, _, address = receiver.recvmsg(16_384, 256)
            except TimeoutError:
                break
            if address[2] != OUTGOING:
                came.append(tagged(data, extra).hex())
    json.dump(came, sys.stdout)


def tagged(data: bytes, extra: list[tuple[int, int, bytes]]) -> bytes:
    """Return the frame with its VLAN tag, which the kernel keeps separately."""
    for _, kind, content in extra:
        if kind == PACKET_AUXDATA:
            status, *_, tag, ethertype = AUXDATA.unpack(content[: AUXDATA.size])
            if status & TAG_VALID:
                known = ethertype if status & ETHERTYPE_VALID else 0x8100
                return data[:12] + struct.pack("!HH", known, tag) + data[12:]
    return data


if __name__ == "__main__":
    main(*sys.argv[1:])

# SPDX-License-Identifier: Apache-2.0
"""A blocking HTTP/2 client around the h2 library, which sees every frame that the server sends."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import TracebackType

from h2.config import H2Configuration
from h2.connection import ConnectionState, H2Connection
from h2.events import (
    ConnectionTerminated,
    DataReceived,
    Event,
    ResponseReceived,
    StreamEnded,
    StreamReset,
)

from .certificates import Certificate
from .conftest import PATIENCE_S

WINDOW = 1 << 24


@dataclass
class Answer:
    """Answer on one stream, as far as it has come."""

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    body_bytes: int = 0
    body: bytes = b""
    reset: int | None = None
    ended: bool = False


class H2Client:
    """One connection; `read_until` takes frames until a condition holds."""

    def __init__(self, port: int, trusted: Certificate) -> None:
        link = socket.create_connection(("127.0.0.1", port), PATIENCE_S)
        context: ssl.SSLContext = trusted.trusting("h2")
        self.socket = context.wrap_socket(link, server_hostname="127.0.0.1")
        assert self.socket.selected_alpn_protocol() == "h2"
        self.port = port
        self.machine = H2Connection(H2Configuration(header_encoding="utf-8"))
        self.machine.initiate_connection()
        self.machine.increment_flow_control_window(WINDOW)
        self.answers: dict[int, Answer] = {}
        self.closed = False
        self.ended_by = "the end of the stream"
        self.send()

    def __enter__(self) -> H2Client:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.socket.close()

    def send(self) -> None:
        try:
            self.socket.sendall(self.machine.data_to_send())
        except (ssl.SSLError, ConnectionError) as error:
            self.closed, self.ended_by = True, repr(error)

    def ask(self, method: str, path: str, *more: tuple[str, str], with_body: bool = False) -> int:
        """Send a request's head; return its stream."""
        stream = self.machine.get_next_available_stream_id()
        head = [
            (":method", method),
            (":path", path),
            (":scheme", "https"),
            (":authority", f"127.0.0.1:{self.port}"),
        ]
        self.answers[stream] = Answer()
        self.machine.send_headers(stream, [*head, *more], end_stream=not with_body)
        self.machine.increment_flow_control_window(WINDOW, stream)
        self.send()
        return stream

    def upload(self, stream: int, body: bytes) -> None:
        """Send the rest of a body as fast as the server's windows allow."""
        self.upload_some(stream, body, end=True)

    def upload_some(self, stream: int, body: bytes, end: bool = False) -> None:
        left = memoryview(body)
        while left:
            window = self.machine.local_flow_control_window(stream)
            if window == 0:
                self.read()
                continue
            size = min(window, self.machine.max_outbound_frame_size, len(left))
            self.machine.send_data(stream, left[:size], end_stream=end and size == len(left))
            left = left[size:]
            self.send()

    def read(self) -> None:
        """Read what has arrived; note the end of the connection."""
        try:
            received = self.socket.recv(1 << 16)
        except ConnectionError as error:
            received, self.ended_by = b"", repr(error)
        if not received:
            self.closed = True
            return
        for event in self.machine.receive_data(received):
            self.take(event)
        self.send()

    def take(self, event: Event) -> None:
        if isinstance(event, ResponseReceived):
            answer = self.answers[event.stream_id]
            fields = {str(name): str(value) for name, value in event.headers}
            answer.status, answer.headers = int(fields.pop(":status")), fields
        elif isinstance(event, DataReceived):
            answer = self.answers[event.stream_id]
            answer.body_bytes += len(event.data)
            if answer.body_bytes < 1 << 16:
                answer.body += event.data
            self.machine.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
        elif isinstance(event, ConnectionTerminated):
            self.ended_by = repr(event)
        elif isinstance(event, StreamReset):
            self.answers[event.stream_id].reset = int(event.error_code)
            self.answers[event.stream_id].ended = True
        elif isinstance(event, StreamEnded):
            self.answers[event.stream_id].ended = True

    def answer(self, stream: int) -> Answer:
        """Read until the stream ends; return its answer."""
        while not self.answers[stream].ended:
            assert not self.closed, f"the server closed the connection: {self.ended_by}"
            self.read()
        return self.answers[stream]

    def until_closed(self) -> Iterator[None]:
        """Read until the server has closed; yield after each read while frames may be sent."""
        while not self.closed:
            self.read()
            if self.machine.state_machine.state is not ConnectionState.CLOSED:
                yield

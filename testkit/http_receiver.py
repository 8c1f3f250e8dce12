"""A real HTTP server on loopback that records what it is sent and answers as it is told."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Received:
    """One request."""

    path: str
    headers: dict[str, str]
    """Names in lower case."""
    body: bytes


@dataclass
class Receiver:
    """What came in, and what is answered: `answers` one by one, then 200 for ever."""

    url: str = ""
    requests: list[Received] = field(default_factory=list)
    answers: list[tuple[int, dict[str, str]]] = field(default_factory=list)
    """(status, headers) of the next answers."""
    respond: Callable[[Received], tuple[int, bytes]] | None = None
    """Status and body of the answer to a request, in place of `answers`."""
    echo: bool = False
    """True: every answer's body is the request's."""
    release: threading.Event = field(default_factory=threading.Event)
    """Answers wait for it; set from the start unless a test clears it."""

    @property
    def exports(self) -> list[Received]:
        """The exported spans: the collector also asks an HTTP backend whether it is a Phoenix."""
        return [request for request in self.requests if request.path == "/v1/traces"]


@contextmanager
def http_receiver(port: int = 0) -> Iterator[Receiver]:
    """Serve on loopback, on a free port by default, until the block ends."""
    receiver = Receiver()
    receiver.release.set()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            received = Received(self.path, headers, body)
            receiver.requests.append(received)
            receiver.release.wait(30)
            answer = body if receiver.echo else b""
            if receiver.respond is not None:
                status, answer = receiver.respond(received)
                answer_headers: dict[str, str] = {}
            else:
                status, answer_headers = receiver.answers.pop(0) if receiver.answers else (200, {})
            self.send_response(status)
            for name, value in {**answer_headers, "Content-Length": str(len(answer))}.items():
                self.send_header(name, value)
            self.end_headers()
            if answer:
                self.wfile.write(answer)

        do_GET = do_PUT = do_POST  # noqa: N815 - the names that the standard library looks for

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    receiver.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield receiver
    finally:
        receiver.release.set()
        server.shutdown()
        server.server_close()
        thread.join()

"""A local page that shows the alerts that it receives, as a chat tool or a pager would: a small server of its own."""

from __future__ import annotations

import html
import json
import threading
from collections import deque
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from rag_otel.alerts.channels.webhook import verify

HEAD = (
    "<!doctype html><meta charset=utf-8><meta http-equiv=refresh content=3><title>Alerts</title>"
    "<style>body{font:16px/1.5 system-ui;max-width:44rem;margin:1rem auto;padding:0 1rem}"
    "article{border-left:3px solid #c62828;padding:0 1rem;margin:1rem 0;overflow-wrap:anywhere}</style><h1>Alerts</h1>"
)


class AlertPage:
    """Takes signed webhooks at its address and shows the newest first. Use as a context manager."""

    def __init__(self, key: str, port: int = 0) -> None:
        """`key`: the webhook's secret (`whsec_...`). `port` 0 is any free one. Raises OSError where it is taken."""
        alerts: deque[Mapping[str, Any]] = deque(maxlen=50)

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                signed = verify(key, dict(self.headers), body)
                if signed:
                    alerts.appendleft(json.loads(body))
                self.send_response(204 if signed else 401)
                self.end_headers()

            def do_GET(self) -> None:
                page = (HEAD + "".join(map(_shown, alerts))).encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.send_header("Content-Length", str(len(page)))
                self.end_headers()
                self.wfile.write(page)

            def log_message(self, *_: object) -> None:
                """The terminal belongs to the application."""

        self._server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.address = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, name="alert-page", daemon=True)

    def __enter__(self) -> AlertPage:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def _shown(alert: Mapping[str, Any]) -> str:
    claims = "".join(f"<li>{html.escape(claim['text'])}" for claim in alert.get("unsupported_claims") or [])
    link = f"<p><a href='{html.escape(alert['link'])}'>trace</a>" if alert.get("link") else ""
    lines = (alert.get("headline") or alert.get("text"), alert.get("question"), alert.get("response"))
    texts = "".join(f"<p>{html.escape(line)}" for line in lines if line)
    return f"<article><p><strong>{html.escape(alert['state'])}</strong>{texts}<ul>{claims}</ul>{link}</article>"

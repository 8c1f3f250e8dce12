"""A receiver of alerts that prints them: rag-otel's signed webhook and Alertmanager's, one line an alert.

python docker/alert_sink/alert_sink.py --port 9095 --secret-file docker/secrets/alert_webhook_secret
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from rag_otel.alerts.channels.webhook import verify


def lines(path: str, message: Mapping[str, Any]) -> list[str]:
    """What a message says, to read in a log."""
    if path.startswith("/alertmanager"):
        return [
            f"{alert['status']} {alert['labels'].get('alertname')}: {alert['annotations'].get('summary')}"
            f" - {alert['annotations'].get('phoenix', alert['annotations'].get('runbook_url'))}"
            for alert in message["alerts"]
        ]
    return [f"{message.get('state', 'firing')} {message.get('name')}: {message.get('text')}"]


def main() -> None:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(description="Prints the alerts that it receives.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=9095)
    parser.add_argument(
        "--secret-file", type=Path, help="the key of rag-otel's signature; without it none is asked for"
    )
    arguments = parser.parse_args()
    secret = arguments.secret_file.read_text("utf-8").strip() if arguments.secret_file else None

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            ours = not self.path.startswith("/alertmanager")
            headers = {name.lower(): value for name, value in self.headers.items()}
            accepted = not (ours and secret) or verify(secret or "", headers, body)
            if accepted:
                for line in lines(self.path, json.loads(body)):
                    print(line, flush=True)
            self.send_response(204 if accepted else 401)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    ThreadingHTTPServer((arguments.host, arguments.port), Handler).serve_forever()


if __name__ == "__main__":
    main()

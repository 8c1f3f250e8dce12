"""Starts the chat with everything around it: the model, Phoenix, the web application. Ctrl-C ends all of it.

make chat                                   # from the repository: makes an environment of its own first
python examples/chat/start.py --port 8000   # where the requirements are installed
"""

from __future__ import annotations

import argparse
import base64
import os
import secrets
from contextlib import ExitStack
from pathlib import Path

import uvicorn
from alert_page import AlertPage
from app import PROJECT, chat_app, watch
from model import chat_model, serve_model

import rag_otel
from rag_otel.cli.demo.phoenix_server import DEFAULT_PORT, free_port, start_phoenix

FOLDER = Path(".demo/chat")


def main() -> None:
    """Runs until Ctrl-C."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=8000, help="of the chat; the alerts' is one higher; default: 8000")
    parser.add_argument("--phoenix", help="address of a Phoenix that runs already; default: one is started")
    arguments = parser.parse_args()
    os.environ.setdefault("OTEL_SERVICE_NAME", "harbour-bikes")
    key = "whsec_" + base64.b64encode(secrets.token_bytes(24)).decode()
    print("Starting the model and Phoenix ...", flush=True)
    server = serve_model()
    with ExitStack() as running:
        page = running.enter_context(AlertPage(key, arguments.port + 1))
        phoenix = arguments.phoenix
        if phoenix is None:
            phoenix = running.enter_context(start_phoenix(FOLDER, port=free_port(DEFAULT_PORT))).base_url
        watch(phoenix, alerts=page.address, alert_key=key)
        running.callback(rag_otel.uninstrument)
        print(f"\n  chat     http://127.0.0.1:{arguments.port}\n  alerts   {page.address}")
        print(f"  Phoenix  {phoenix}, project {PROJECT}\n", flush=True)
        uvicorn.run(
            chat_app(chat_model(server.listening_address)), host="127.0.0.1", port=arguments.port, log_level="warning"
        )


if __name__ == "__main__":
    main()

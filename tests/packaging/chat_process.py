"""One question to the chat example with a model that answers wrongly; prints what came back and the alert page.

A process of its own: the example sets the global tracer provider and instruments LangChain for good.
Arguments: the example's folder, the address of Phoenix.
"""

from __future__ import annotations

import base64
import json
import secrets
import sys

import httpx

import rag_otel
from testkit.polling import eventually

WRONG = "The deposit for a city bike is 90 euros."


def main(folder: str, phoenix: str) -> None:
    sys.path.insert(0, folder)
    from alert_page import AlertPage  # type: ignore[import-not-found]
    from app import chat_app, watch  # type: ignore[import-not-found]
    from fastapi.testclient import TestClient
    from langchain_core.language_models.fake_chat_models import FakeListChatModel

    key = "whsec_" + base64.b64encode(secrets.token_bytes(24)).decode()
    with AlertPage(key) as page:
        watch(phoenix, alerts=page.address, alert_key=key)
        try:
            client = TestClient(chat_app(FakeListChatModel(responses=[WRONG])))
            question = {"question": "What is the deposit for a city bike?", "session": "s-1"}
            lines = client.get("/ask", params=question).text.splitlines()
            *pieces, last = [json.loads(line.removeprefix("data: ")) for line in lines if line]
            thumb = client.post("/thumb", json={"trace_id": last["trace_id"], "up": False}).json()["status"]
            home = client.get("/").text
            alerts = eventually(lambda: text if WRONG in (text := httpx.get(page.address).text) else None)
        finally:
            rag_otel.uninstrument()
    print(json.dumps({"pieces": [each["text"] for each in pieces], "thumb": thumb, "home": home, "alerts": alerts}))


if __name__ == "__main__":
    main(*sys.argv[1:])

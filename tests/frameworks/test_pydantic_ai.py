"""Pydantic-AI with its own instrumentation: tools that retrieve, history, structured results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from pydantic import BaseModel

from testkit.when_used import WhenUsed
from tests.frameworks.kit import ANSWER, QUESTION, TEXTS, Run, running, told

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage
    from pydantic_ai.messages import ModelResponse as Response
    from pydantic_ai.models.function import AgentInfo

Agent = WhenUsed("pydantic_ai", "Agent")
ModelResponse = WhenUsed("pydantic_ai.messages", "ModelResponse")
TextPart = WhenUsed("pydantic_ai.messages", "TextPart")
ToolCallPart = WhenUsed("pydantic_ai.messages", "ToolCallPart")
FunctionModel = WhenUsed("pydantic_ai.models.function", "FunctionModel")
InstrumentationSettings = WhenUsed("pydantic_ai.models.instrumented", "InstrumentationSettings")

CHUNKS = list(TEXTS.values())


def scripted(messages: list[ModelMessage], info: AgentInfo) -> Response:
    """Searches first, then answers, by a result tool where there is one."""
    parts = [part for message in messages[-2:] for part in message.parts]
    if not any(part.part_kind == "tool-return" for part in parts):
        return ModelResponse(parts=[ToolCallPart("retrieve", {"query": "capital of France"})])
    if info.output_tools:
        return ModelResponse(parts=[ToolCallPart(info.output_tools[0].name, {"answer": ANSWER})])
    return ModelResponse(parts=[TextPart(ANSWER)])


def agent(run: Run, found: Any, **options: Any) -> Any:
    """An agent whose one tool returns `found`."""
    made = Agent(FunctionModel(scripted), name="a", **options)
    made.instrument = InstrumentationSettings(tracer_provider=run.provider)

    @made.tool_plain
    def retrieve(query: str) -> Any:
        return found

    return made


@pytest.mark.parametrize(
    "found",
    [[{"id": chunk_id, "content": text} for chunk_id, text in TEXTS.items()], CHUNKS],
    ids=["objects", "texts"],
)
async def test_tool_that_retrieves(found: Any) -> None:
    """The agent's span is scored by what its tool returned."""
    with running() as run:
        await agent(run, found).run(QUESTION)
        trace = run.read_one()
        assert told(trace) == ("pydantic_ai", QUESTION, CHUNKS, ANSWER, None)
        assert trace.session_id is not None
        assert run.statuses() == {"invoke_agent a": ("evaluated", None, 1.0)}


async def test_question_after_a_history() -> None:
    """Of a longer conversation the question is what the user said last, not first."""
    with running() as run:
        before = await agent(run, CHUNKS).run("What is the capital of Spain?")
        await agent(run, CHUNKS).run(QUESTION, message_history=before.all_messages())
        assert [trace.question for trace in run.read()] == ["What is the capital of Spain?", QUESTION]


async def test_structured_result() -> None:
    """The text is found in the fields of the result."""

    class Result(BaseModel):
        answer: str

    with running() as run:
        await agent(run, CHUNKS, output_type=Result).run(QUESTION)
        assert told(run.read_one()) == ("pydantic_ai", QUESTION, CHUNKS, ANSWER, None)

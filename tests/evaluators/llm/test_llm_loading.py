"""When litellm is loaded, and what it leaves behind. Each in a process of its own.

What the first import of litellm does is looked at in fresh processes, each of which takes five seconds of CPU. What we
do to a litellm that the application has imported is looked at in forked ones.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from testkit.warm_python import warm_python

pytestmark = pytest.mark.server


_ROOT = Path(__file__).parents[3]
_PATH = (
    f"import sys, json; sys.path[:0] = [{str(_ROOT)!r}, {str(_ROOT / 'evaluators')!r}, {str(_ROOT / 'collectors')!r}]\n"
)


def run(code: str, cwd: Path, python: str = sys.executable) -> Any:
    """What `code` prints last, as JSON; anything else on stdout or stderr fails the test."""
    done = subprocess.run([python, "-c", _PATH + code], capture_output=True, text=True, cwd=cwd)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    (line,) = done.stdout.splitlines()
    return json.loads(line)


def test_everything_but_one_module_works_without_litellm(tmp_path: Path) -> None:
    """Client, parsing, limits and the judges over them import neither litellm nor OpenAI's client."""
    code = """
import rag_otel_evaluators.llm.client, rag_otel_evaluators.llm.modes, rag_otel_evaluators.llm.structured
print(json.dumps(sorted({name.partition('.')[0] for name in sys.modules} & {'litellm', 'openai', 'httpx', 'numpy'})))
"""
    assert run(code, tmp_path) == []


@pytest.fixture(scope="module")
def first_import(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A process that imports litellm by us, makes models, warms it up, calls: what it looked up and imported."""
    code = """
import asyncio, socket
looked_up = []
resolve = socket.getaddrinfo
socket.getaddrinfo = lambda host, *more, **named: looked_up.append(host) or resolve(host, *more, **named)
from rag_otel_evaluators.judges.litellm_library import token_prices, warm_up
from rag_otel_evaluators.judges.llm import llm_model
priced = token_prices("openai/gpt-4o-mini")
prices = {"priced": priced is not None and min(priced) > 0, "looked_up": sorted(set(map(str, looked_up)))}

from pydantic import BaseModel
from rag_otel.delivery.retry import RetryPolicy
from rag_otel_evaluators.llm.structured import Message
from testkit.judge_server import ClosedConnection, JudgeServer, RateLimited, ServerError, Hang

class Answer(BaseModel):
    a: int

async def ask(model):
    return (await model.complete([Message(role="user", content="Is it so?")], Answer)).value.a

with JudgeServer(answer=lambda request: {"a": 1}) as server:
    at = {"api_base": server.url, "api_key": "k", "timeout_s": 1, "retry": RetryPolicy(base_s=0)}
    models = [llm_model("openai/gpt-4o-mini", direct=direct, **at) for direct in (True, False)]
    warm_up("openai/gpt-4o-mini")
    before = set(sys.modules)
    for model in models:
        for fault in (None, RateLimited(), ServerError(), ClosedConnection(), Hang()):
            server.fail_next(fault)
            assert asyncio.run(ask(model)) == 1
print(json.dumps({"prices": prices, "imported": sorted(set(sys.modules) - before)}))
"""
    found: dict[str, Any] = run(code, tmp_path_factory.mktemp("first-import"))
    return found


@pytest.mark.slow(reason="litellm is imported in a fresh process")
def test_after_warming_up_neither_a_call_nor_a_failure_imports_anything(first_import: dict[str, Any]) -> None:
    """Imports belong to start-up, not to traffic; and a failed call prints nothing."""
    assert first_import["imported"] == []


def test_prices_are_those_that_litellm_brings(first_import: dict[str, Any]) -> None:
    """Where litellm is imported by us, it reads its own file: nothing is fetched while the application starts."""
    assert first_import["prices"] == {"priced": True, "looked_up": []}


def test_litellm_is_left_as_the_application_has_set_it(tmp_path: Path) -> None:
    """No callback, cache or retry of ours stays in its globals; no logging callback of the application's sees a call.

    litellm's worker logs in order, so what the application's own last call logged comes after anything of ours.
    """
    code = """
import asyncio, os
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
import litellm
from pydantic import BaseModel

class Answer(BaseModel):
    a: int

logged = []
class Spy(litellm.integrations.custom_logger.CustomLogger):
    def log_success_event(self, kwargs, *_, **__): logged.append(kwargs["model"])
    def log_failure_event(self, kwargs, *_, **__): logged.append(kwargs["model"])
    async def async_log_success_event(self, kwargs, *_, **__): logged.append(kwargs["model"])
    async def async_log_failure_event(self, kwargs, *_, **__): logged.append(kwargs["model"])

names = ["callbacks", "success_callback", "failure_callback", "input_callback", "_async_success_callback",
         "_async_failure_callback", "service_callback", "num_retries", "drop_params", "api_base", "api_key"]
def state(): return {name: str(getattr(litellm, name)) for name in names}

async def application_calls(model):
    await litellm.acompletion(f"openai/{model}", [{"role": "user", "content": "?"}], mock_response="hi")
    async with asyncio.timeout(20):
        while model not in logged:
            await asyncio.sleep(0.01)

litellm.callbacks = [Spy()]
litellm.cache = litellm.Cache(type="local")
asyncio.run(application_calls("first"))
before = state()

from rag_otel.errors import PermanentError
from rag_otel_evaluators.judges.litellm_library import warm_up
from rag_otel_evaluators.judges.llm import llm_model
from rag_otel_evaluators.llm.structured import Message
from testkit.judge_server import JudgeServer, ServerError
import pytest

async def judge_calls(server):
    model = llm_model("openai/judge", api_base=server.url, api_key="k", direct=False)
    for _ in range(2):
        assert (await model.complete([Message(role="user", content="?")], Answer)).value.a == 1
    server.fail_next(ServerError(422))
    try:
        await model.complete([Message(role="user", content="?")], Answer)
    except PermanentError:
        pass
    await application_calls("last")

warm_up("openai/judge")
with JudgeServer(answer=lambda request: {"a": 1}) as server:
    asyncio.run(judge_calls(server))
    calls = len(server.requests)
changed = {name: (before[name], value) for name, value in state().items() if before[name] != value}
print(json.dumps({"changed": changed, "logged": sorted(set(logged)), "calls": calls}))
"""
    assert run(code, tmp_path, warm_python(with_litellm=True)) == {
        "changed": {},
        "logged": ["first", "last"],
        "calls": 3,
    }


def test_prices_stay_as_the_application_has_set_them(tmp_path: Path) -> None:
    """Where it imported litellm first, its own list of prices is used, and nothing is fetched in its place."""
    code = """
import os, socket
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
import litellm
litellm.model_cost = {"openai/ours": {"input_cost_per_token": 1e-6, "output_cost_per_token": 4e-6,
                                      "litellm_provider": "openai", "mode": "chat"}}
before, listed = litellm.model_cost, dict(litellm.model_cost)
looked_up = []
resolve = socket.getaddrinfo
socket.getaddrinfo = lambda host, *more, **named: looked_up.append(host) or resolve(host, *more, **named)
from rag_otel_evaluators.judges.litellm_library import token_prices, warm_up
warm_up("openai/ours")
print(json.dumps({"same": litellm.model_cost is before and litellm.model_cost == listed,
                  "price": token_prices("openai/ours"), "looked_up": sorted(set(map(str, looked_up)) - {"127.0.0.1"})}))
"""
    assert run(code, tmp_path, warm_python(with_litellm=True)) == {"same": True, "price": [1.0, 4.0], "looked_up": []}


@pytest.mark.slow(reason="litellm is imported in a fresh process")
def test_a_judge_is_loaded_while_the_application_starts(tmp_path: Path) -> None:
    """On a thread of its own; the first evaluation waits for it; no log line of a library comes of it."""
    code = """
import logging, threading
import rag_otel
from opentelemetry.sdk.trace import TracerProvider
from rag_otel.writers.memory import MemoryWriter
from testkit.judge_server import JudgeServer

threads, logged, memory = [], [], MemoryWriter()

class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == "litellm":
            threads.append(threading.current_thread().name)

class Kept(logging.Handler):
    def emit(self, record):
        if not record.name.startswith("rag_otel"):
            logged.append(f"{record.name}: {record.getMessage()}")

logging.basicConfig(level=logging.INFO, handlers=[Kept()])
rag_otel.instrument  # its own modules are no part of this
with JudgeServer(answer=lambda request: {"claims": [], "verdicts": []}) as server:
    from rag_otel.safety.extras import installed
    assert installed("litellm")
    sys.meta_path.insert(0, Finder)
    threads.clear()
    judge = rag_otel.JudgeSettings(model="openai/judge", api_base=server.url)
    rag_otel.instrument(TracerProvider(), judge=judge, evaluations_per_minute=60, writers=[memory])

    @rag_otel.observe
    def answer(question):
        return {"answer": "Paris is the capital of France.", "chunks": ["Paris is the capital of France."]}

    answer("What is the capital of France?")
    assert rag_otel.flush(timeout=120)
    asked = len(server.requests)
names = set(threads) - {"MainThread"}  # looked for on the main thread, imported on the other
print(json.dumps({"imported": sorted(names), "logged": logged, "asked": asked > 0, "results": len(memory.results)}))
"""
    assert run(code, tmp_path) == {"imported": ["rag-otel-imports"], "logged": [], "asked": True, "results": 1}

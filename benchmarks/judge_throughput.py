"""How near evaluation comes to what a judge's latency allows, what a call costs in CPU, and what faults do to it.

    python benchmarks/judge_throughput.py

A local server of its own process takes 200 ms for every answer. Ideal is concurrency / latency; the share of it is
what a run reaches over the rows of examples/data: in Python straight over HTTP (the default for a server of one's own),
in Python through litellm, by `rag-otel evaluate` (its start-up counts), and for comparison bare calls of litellm. CPU
is the asking process's own; where other work shares the machine it tells more than the share. With faults, a fifth of
the answers are 429, 500, a hang, a closed connection, truncated JSON or evidence ids that do not exist: every row must
end with a score or an honest reason.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from rag_otel.cli.terminal import table
from rag_otel.delivery.retry import RetryPolicy
from rag_otel.errors import RagOtelError
from rag_otel.model import Evaluation
from rag_otel_evaluators.judges.litellm_library import warm_up
from rag_otel_evaluators.judges.llm import llm_model
from rag_otel_evaluators.judges.llm_faithfulness import LlmJudge
from rag_otel_evaluators.llm.rate_limits import RateLimits
from rag_otel_evaluators.metrics.faithfulness import Faithfulness

ROOT = Path(__file__).parents[1]
DATA = ROOT / "examples" / "data" / "ragtruth_qa_dev.jsonl"
MODEL = "openai/gpt-4o-mini"
"""Only the name: litellm knows it, as it does most judges that are paid for."""
LATENCY_S = 0.2
Result = TypeVar("Result")
TARGETS = {20: 0.90, 50: 0.70}
"""Concurrency -> share of the ideal throughput to reach."""
SECONDS = 6.0
"""What a run would take ideally."""
ROUNDS = 3
ROWS_AHEAD = 5
"""Rows in preparation beside those that wait for the judge."""
FAULTS = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Took:
    """Seconds of one run."""

    wall_s: float
    cpu_s: float


@contextmanager
def server(faults: float = 0.0) -> Iterator[str]:
    """The address of a judge in a process of its own."""
    command = [
        sys.executable,
        "-m",
        "testkit.judge_server",
        "--answer",
        "testkit.word_overlap_judge:quick_answer",
    ]
    command += ["--latency", str(LATENCY_S), "--faults", str(faults)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.wait()


async def run(
    url: str, rows: list[dict[str, Any]], concurrency: int, timeout_s: float = 60.0, *, direct: bool = True
) -> tuple[Took, list[Evaluation | RagOtelError]]:
    """Seconds for all rows, so many at a time, and what became of each."""
    model = llm_model(
        MODEL,
        api_base=url,
        api_key="none",
        timeout_s=timeout_s,
        limits=RateLimits(concurrency=concurrency),
        retry=RetryPolicy(base_s=0.1, deadline_s=30),
        direct=direct,
    )
    metric = Faithfulness(judge=LlmJudge(model=model))

    async def evaluate(row: dict[str, Any]) -> Evaluation | RagOtelError:
        try:
            return await metric.evaluate(question=row["question"], chunks=row["contexts"], response=row["response"])
        except RagOtelError as error:
            return error

    return await _timed(evaluate, rows, concurrency + ROWS_AHEAD)


def in_python(url: str, rows: list[dict[str, Any]], concurrency: int) -> Took:
    return asyncio.run(run(url, rows, concurrency))[0]


def through_litellm(url: str, rows: list[dict[str, Any]], concurrency: int) -> Took:
    return asyncio.run(run(url, rows, concurrency, direct=False))[0]


def run_bare(url: str, rows: list[dict[str, Any]], concurrency: int) -> Took:
    return asyncio.run(_run_bare(url, rows, concurrency))


async def _run_bare(url: str, rows: list[dict[str, Any]], concurrency: int) -> Took:
    """Seconds for as many calls of litellm alone, of about the same length: the machine's own limit."""
    import litellm  # not before litellm_library, which keeps it from the network

    parameters = {"model": MODEL, "api_base": url, "api_key": "none", "max_retries": 0, "temperature": 0}

    async def ask(row: dict[str, Any]) -> None:
        text = f"<chunks>\n[c0.s0] {row['contexts']}\n</chunks>\n<claims>\n[0] {row['response']}\n</claims>"
        await litellm.acompletion(messages=[{"role": "user", "content": text}], **parameters)

    return (await _timed(ask, rows, concurrency))[0]


async def _timed(
    work: Callable[[dict[str, Any]], Awaitable[Result]], rows: list[dict[str, Any]], at_once: int
) -> tuple[Took, list[Result]]:
    """Do all rows, `at_once` at a time, after a first round that opens the connections."""

    async def worker(rows_left: Iterator[dict[str, Any]]) -> list[Result]:
        return [await work(row) for row in rows_left]

    await asyncio.gather(*(work(row) for row in rows[:at_once]))
    rows_left = iter(rows)
    started, worked = time.perf_counter(), time.process_time()
    done = await asyncio.gather(*(worker(rows_left) for _ in range(at_once)))
    took = Took(wall_s=time.perf_counter() - started, cpu_s=time.process_time() - worked)
    return took, [result for results in done for result in results]


def run_command(url: str, rows: list[dict[str, Any]], concurrency: int) -> Took:
    """Seconds of `rag-otel evaluate` over a file of these rows, from its start to its end."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "rows.jsonl"
        # Answers are kept by their content: no two rows may be the same.
        numbered = ({**row, "question": f"{row['question']} ({number})"} for number, row in enumerate(rows))
        source.write_text("\n".join(map(json.dumps, numbered)), encoding="utf-8")
        command = [sys.executable, "-m", "rag_otel.cli.main", "evaluate", str(source), "--judge", MODEL]
        command += ["--api-base", url, "--concurrency", str(concurrency), "--output", str(Path(folder) / "out.jsonl")]
        before, started = os.times(), time.perf_counter()
        subprocess.run(command, check=True, capture_output=True, env={**os.environ, "OPENAI_API_KEY": "none"})
        after = os.times()
        spent = after.children_user - before.children_user + after.children_system - before.children_system
        return Took(wall_s=time.perf_counter() - started, cpu_s=spent)


def throughput(rows: list[dict[str, Any]]) -> bool:
    """The table of shares of the ideal; best of the rounds, because the machine has other things to do."""
    lines, reached = [], True
    with server() as url:
        for concurrency, target in TARGETS.items():
            ideal = concurrency / LATENCY_S
            asked = list(itertools.islice(itertools.cycle(rows), int(ideal * SECONDS)))
            ways: dict[str, Callable[[str, list[dict[str, Any]], int], Took]] = {
                "evaluate in Python": in_python,
                "the same through litellm": through_litellm,
                "rag-otel evaluate": run_command,
                "litellm alone": run_bare,
            }
            for name, way in ways.items():
                runs = [way(url, asked, concurrency) for _ in range(ROUNDS)]
                share = len(asked) / min(each.wall_s for each in runs) / ideal
                cpu_ms = min(each.cpu_s for each in runs) / len(asked) * 1_000
                wanted = target if name == "evaluate in Python" else None
                reached &= wanted is None or share >= wanted
                shown = "" if wanted is None else f"{wanted:.2f}"
                lines.append([str(concurrency), name, f"{share * ideal:.0f}", f"{share:.2f}", shown, f"{cpu_ms:.2f}"])
    print(table(lines, header=["concurrency", "way", "rows/s", "share of ideal", "target", "CPU ms a row"]))
    return reached


def under_faults(rows: list[dict[str, Any]]) -> bool:
    """Every row with a score or a reason, in how long."""
    with server(FAULTS) as url:
        took, results = asyncio.run(run(url, rows, 20, timeout_s=2.0))
    outcomes: Counter[str] = Counter()
    for result in results:
        if isinstance(result, RagOtelError):
            outcomes[f"error: {type(result).__name__}"] += 1
        elif result.score is not None:
            outcomes["score" if result.reason_code is None else f"score, {result.reason_code}"] += 1
        else:
            outcomes[f"null: {result.reason_code}"] += 1
    honest = all(
        isinstance(result, RagOtelError) or result.score is not None or result.reason_code for result in results
    )
    print(
        f"\n{FAULTS:.0%} faults: {len(results)} rows in {took.wall_s:.1f} s; "
        + ", ".join(map(": ".join, _text(outcomes)))
    )
    return honest


def _text(outcomes: Counter[str]) -> list[tuple[str, str]]:
    return [(name, str(count)) for name, count in outcomes.most_common()]


def main() -> int:
    """Print the figures; 1 when a target is missed."""
    warm_up(MODEL)
    rows = [json.loads(line) for line in DATA.read_text(encoding="utf-8").splitlines()]
    fast = throughput(rows)
    honest = under_faults(rows)
    return 0 if fast and honest else 1


if __name__ == "__main__":
    sys.exit(main())

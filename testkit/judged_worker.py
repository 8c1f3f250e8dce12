"""`rag-otel work` with an evaluator that asks a judge server and imports nothing large.

`python -m testkit.judged_worker JUDGE_URL [options of rag-otel work]`
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from rag_otel.cli import work
from rag_otel.delivery.http import post
from rag_otel.model import Chunk, Evaluation

ENDS_WORKER = "This ends the worker."
"""An answer that begins like this kills the worker that has judged it."""


class AsksServer:
    """Every answer that the server has an opinion of is faithful."""

    name = "faithfulness"
    version = "1"
    judge_name = "server"

    def __init__(self, url: str) -> None:
        self._url = f"{url}/chat/completions"
        self._threads = ThreadPoolExecutor(64)

    async def evaluate(
        self, *, question: str | None, chunks: Sequence[Chunk | str], response: str, reference: str | None = None
    ) -> Evaluation:
        body = json.dumps({"model": "judge", "messages": [{"role": "user", "content": response}]}).encode()
        await asyncio.get_running_loop().run_in_executor(self._threads, post, self._url, body)
        if response.startswith(ENDS_WORKER):
            os.kill(os.getpid(), signal.SIGKILL)
        return Evaluation(name=self.name, score=1.0, evaluator="AsksServer", version=self.version, judge="server")


def main() -> int:
    parser = argparse.ArgumentParser()
    work.configure(parser)
    arguments = parser.parse_args([*sys.argv[2:], "--set", "metrics=", "--set", "evaluations_per_minute=inf"])
    return work.run(arguments, [AsksServer(sys.argv[1])])


if __name__ == "__main__":
    sys.exit(main())

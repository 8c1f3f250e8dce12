"""The path of one answer: the files and functions of ours that a decorated call runs through, thread by thread.

    python -m pytest -s tests/contract/test_path.py

prints it, in the order in which files and functions are first reached. The answer is wrong, so it is annotated in a
Phoenix and reported to a Slack. A right one goes before it, because the first call of a process also imports and
compiles what later ones use.
"""

from __future__ import annotations

import json
import sys
import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, Final

import pytest

import rag_otel
from testkit.http_receiver import Receiver, http_receiver
from testkit.polling import eventually

ROOT: Final = Path(__file__).parents[2]
OURS: Final = tuple(f"{ROOT / each}/" for each in ("rag_otel", "collectors", "evaluators"))
REQUEST: Final = "the request's own thread"
FILES_ON_THE_REQUEST: Final = 19
"""What holds today. To be lowered with every file less."""
FILES_IN_ALL: Final = 97
QUESTION: Final = "How large is the tank?"
CHUNKS: Final = ("The tank of this boiler holds eighty litres.", "The heating element was renewed in 2019.")
RIGHT: Final = "The tank of this boiler holds eighty litres."
WRONG: Final = "The tank of this boiler holds three hundred litres."


class Recorder:
    """Notes the calls of our functions while it is `on`: of this thread inside `recording`, of threads that are started
    after `begin` all the time."""

    def __init__(self) -> None:
        self.on = False
        self.threads: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        """Thread -> file -> functions."""
        self.switches = 0
        """How often the request goes on in another file of ours."""
        self._request = threading.current_thread()
        self._file = ""

    def begin(self) -> None:
        threading.setprofile(self._called)

    def end(self) -> None:
        self.on = False
        threading.setprofile(None)

    @contextmanager
    def recording(self) -> Iterator[None]:
        self.on = True
        sys.setprofile(self._called)
        try:
            yield
        finally:
            sys.setprofile(None)

    @property
    def files(self) -> set[str]:
        return {file for files in self.threads.values() for file in files}

    def text(self) -> str:
        """The path as a newcomer reads it."""
        request = self.threads[REQUEST]
        lines = [f"{len(request)} files with {self.switches} switches on the request, {len(self.files)} files in all"]
        for thread, files in self.threads.items():
            lines.append(f"\n{thread}: {len(files)} files")
            lines += [f"  {file}\n      {', '.join(functions)}" for file, functions in files.items()]
        return "\n".join(lines)

    def _called(self, frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        if not self.on or event != "call" or not code.co_filename.startswith(OURS):
            return
        thread, file = threading.current_thread(), code.co_filename.removeprefix(f"{ROOT}/")
        if thread is self._request:
            self.switches += file != self._file
            self._file = file
        functions = self.threads[REQUEST if thread is self._request else thread.name][file]
        if code.co_qualname not in functions:
            functions.append(code.co_qualname)


@pytest.fixture
def path() -> Iterator[Recorder]:
    recorder = Recorder()
    recorder.begin()
    yield recorder
    recorder.end()


def _annotated(phoenix: Receiver, label: str) -> bool:
    annotations = (each for each in phoenix.requests if each.path.startswith("/v1/span_annotations"))
    return any(label in json.dumps(json.loads(each.body)) for each in annotations)


@pytest.mark.usefixtures("uninstrumented")
def test_the_path_of_one_answer(path: Recorder, capsys: pytest.CaptureFixture[str]) -> None:
    with http_receiver() as phoenix, http_receiver() as slack:
        alerts = rag_otel.AlertSettings(slack_url=f"{slack.url}/services/hook", digest=0, precision=1)
        rag_otel.instrument(phoenix_endpoint=phoenix.url, alerts=alerts)

        @rag_otel.observe
        def answer(question: str, text: str) -> dict[str, Any]:
            return {"answer": text, "chunks": list(CHUNKS)}

        answer(QUESTION, RIGHT)
        assert rag_otel.flush()
        assert eventually(lambda: _annotated(phoenix, '"faithful"'))
        with path.recording():
            answer(QUESTION, WRONG)
        assert rag_otel.flush()
        assert eventually(lambda: _annotated(phoenix, '"unfaithful"'))
        assert eventually(lambda: slack.requests)
        path.end()
        rag_otel.uninstrument()
    with capsys.disabled():
        print(f"\n{path.text()}")
    assert len(path.threads[REQUEST]) <= FILES_ON_THE_REQUEST
    assert len(path.files) <= FILES_IN_ALL

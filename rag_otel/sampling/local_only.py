"""Traces that only local judges may see: what is confidential by its route, tenant or service stays on the machine.

    LocalOnly(["support*", "tenant:acme", "service:payroll-*"])

A pattern without a prefix is one of routes; any other prefix is a tag of the trace. Patterns are those of a shell
(`*`, `?`, `[...]`), and case does not matter.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Final

from rag_otel.errors import ConfigurationError
from rag_otel.model import RagTrace
from rag_otel.protocols import Evaluator

_LOCAL: Final = frozenset(
    {"", "embedded", "function", "hashed-ngrams-1024", "hhem", "hhem-2.1-open", "lexical", "local", "overlap"}
)
"""Judges in this process, by the part of their name before the first `:`, `@` or `/`."""
_COMBINED: Final = re.compile(r"(?:cascade|statements)\((.*)\)")


def is_local(judge: str) -> bool:
    """Whether a judge, by its name, sends nothing to another process. A combined judge (`cascade(embedded,...)`,
    `model+embedder`) is local if all its parts are; a name that is not known is not."""
    combined = _COMBINED.fullmatch(judge)
    if combined:
        return all(map(is_local, combined[1].split(",")))
    return all(re.split(r"[:@/]", part, maxsplit=1)[0] in _LOCAL for part in judge.split("+"))


class LocalOnly:
    """Says which evaluators may see a trace."""

    def __init__(self, patterns: Iterable[str]) -> None:
        """Raises ConfigurationError for an empty pattern."""
        self._patterns: list[tuple[str, str]] = []
        for each in patterns:
            name, separator, pattern = each.strip().partition(":")
            part, pattern = (name.strip(), pattern.strip()) if separator else ("route", name.strip())
            if not part or not pattern:
                raise ConfigurationError(f"judge_local_only: {each!r} names nothing; write `route*` or `tenant:acme`")
            self._patterns.append((part.lower(), pattern.lower()))

    def covers(self, trace: RagTrace) -> bool:
        """Whether one of the patterns names the trace."""
        return any(
            fnmatchcase(value.lower(), pattern) for part, pattern in self._patterns for value in _of(trace, part)
        )

    def allowed(self, trace: RagTrace, evaluators: Iterable[Evaluator]) -> list[Evaluator]:
        """Those of the evaluators that may see the trace."""
        if not self.covers(trace):
            return list(evaluators)
        return [each for each in evaluators if is_local(each.judge_name)]


def _of(trace: RagTrace, part: str) -> list[str]:
    own = {"route": trace.route, "service": trace.service, "session": trace.session_id, "user": trace.user_id}
    tags = [value for key, value in trace.tags.items() if key.lower() == part]
    return [value for value in (own.get(part), *tags) if value]

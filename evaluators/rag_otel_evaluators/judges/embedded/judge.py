"""The judge that is always there: no key, no download, no network, pure Python, a fraction of a millisecond a claim.

It knows words, not meaning: it sees that a name, a number or a phrase of the answer is nowhere in the chunks, that a
date, number, name or unit differs from the one beside the same words, that a "not" or an opposite word was put in. It
does not see known words put together in a new way ("the dog bit the man"), nor two things compared the wrong way round,
and it does not judge an answer in another language than its chunks: those claims are `unjudged`, with the reason
`language_mismatch`.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING, Final

from rag_otel.model import Chunk, Claim
from rag_otel_evaluators.cooperative import cooperatively
from rag_otel_evaluators.judges.judge import Judgement

if TYPE_CHECKING:
    from rag_otel_evaluators.judges.embedded.evidence import PassageMemory
    from rag_otel_evaluators.judges.embedded.verdicts import Coefficients

REMEMBERED_CHARACTERS: Final = 500_000
"""Text of chunks that a judge remembers by default: up to 30 MB with all that was found out about it."""


class EmbeddedJudge:
    """A `Judge` by overlap with the evidence. Stateless once built: one may serve many threads."""

    def __init__(
        self, coefficients: Coefficients | None = None, *, remembered_characters: int = REMEMBERED_CHARACTERS
    ) -> None:
        """`coefficients`: what was learned; the shipped ones by default. `remembered_characters`: of how much text of
        chunks the judge keeps in memory what it read there, because chunks come again; 0 for none."""
        self._coefficients = coefficients
        self._remembered_characters = remembered_characters
        self._memory: PassageMemory | None = None

    @property
    def name(self) -> str:
        return "embedded"

    @property
    def version(self) -> str:
        return "7"

    @property
    def coefficients(self) -> Coefficients:
        """What the judge has learned."""
        from rag_otel_evaluators.judges.embedded.verdicts import shipped_coefficients

        return shipped_coefficients() if self._coefficients is None else self._coefficients

    def prepare(self) -> None:
        """Load the tables, patterns and coefficients; see `rag_otel.protocols.Prepares`."""
        from rag_otel_evaluators.judges.embedded.verdicts import shipped_coefficients

        shipped_coefficients()

    async def judge(
        self, *, question: str | None, chunks: Sequence[Chunk], response: str, claims: Sequence[Claim]
    ) -> Judgement:
        """See `Judge.judge`; never raises on odd text."""
        return await cooperatively(self.steps(question=question, chunks=chunks, response=response, claims=claims))

    def steps(
        self, *, question: str | None, chunks: Sequence[Chunk], response: str, claims: Sequence[Claim]
    ) -> Generator[None, None, Judgement]:
        """The work of `judge` as a generator that yields at cooperative points, for callers without an event loop."""
        # Tables and patterns come with the first answer, on the thread that judges: no start waits for them.
        from rag_otel_evaluators.judges.embedded.evidence import PassageMemory
        from rag_otel_evaluators.judges.embedded.verdicts import judge_steps

        if self._memory is None:
            self._memory = PassageMemory(self._remembered_characters)
        return (
            yield from judge_steps(
                self.coefficients, self._memory, question=question, chunks=chunks, response=response, claims=claims
            )
        )

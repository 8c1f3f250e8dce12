"""A language model says what an answer states, a classifier says whether the chunks support it.

    Faithfulness(judge=StatementsJudge(model=llm_model("openai/gpt-4o-mini"), classifier=hhem_judge()))

The third strategy beside `single` and `two_step` of `llm_faithfulness`: one call that writes short statements without
pronouns, then verdicts that cost nothing more and depend on nobody's mood. A classifier reads a claim by itself, so
"It opened in 1889" says more to it as "The Eiffel Tower opened in 1889". Source: "Faithfulness with HHEM-2.1-Open" in
RAGAS, docs.ragas.io; there a sentence without statements is lost, here it stands for itself.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from rag_otel.evaluation.current_evaluation import add_usage
from rag_otel.model import Chunk, Claim, ClaimVerdict
from rag_otel_evaluators.judges.decomposition import decompose
from rag_otel_evaluators.judges.judge import Judge, Judgement, most_calls_of
from rag_otel_evaluators.llm.metered import MeteredModel
from rag_otel_evaluators.llm.structured import CALLS_A_STEP, StructuredModel
from rag_otel_evaluators.prompts import Prompt
from rag_otel_evaluators.prompts.library import choose_prompts

_REVISION: Final = "4"
_PROMPT: Final = "faithfulness_statements"


class StatementsJudge:
    """A `Judge` of two: `model` writes the statements, `classifier` judges them."""

    def __init__(
        self,
        *,
        model: StructuredModel,
        classifier: Judge,
        language: str = "en",
        prompts: Sequence[Prompt] = (),
        prompt_folder: Path | str | None = None,
    ) -> None:
        """`classifier` is any judge of claims: the embedded one, HHEM. `prompts` may replace `faithfulness_statements`.

        Raises ConfigurationError for a language or a prompt that does not exist.
        """
        self.model = model
        self.classifier = classifier
        (self.prompt,) = choose_prompts([_PROMPT], prompts, language, prompt_folder)

    @property
    def name(self) -> str:
        return f"statements({self.model.name},{self.classifier.name})"

    @property
    def version(self) -> str:
        """`classifier-<revision>+<hash of the prompt>+<version of the classifier>`."""
        return f"classifier-{_REVISION}+{self.prompt.hash[:8]}+{self.classifier.version}"

    @property
    def most_calls(self) -> int:
        """Calls that one answer can cost, at most, whatever comes back."""
        return CALLS_A_STEP + most_calls_of(self.classifier)

    async def judge(
        self, *, question: str | None, chunks: Sequence[Chunk], response: str, claims: Sequence[Claim]
    ) -> Judgement:
        """See `Judge.judge`. Errors of either are raised, but for the model's while it is asked again: what it had left
        out then stands for itself. The risk is the classifier's own, over the statements."""
        model = MeteredModel(self.model, most_calls=CALLS_A_STEP)
        parts = await decompose(model, self.prompt, question=question, response=response, claims=claims)
        text, statements = _as_answer(parts.claims)
        judged = await self.classifier.judge(question=question, chunks=chunks, response=text, claims=statements)
        return dataclasses.replace(
            judged,
            verdicts=tuple(_in_its_sentence(verdict, parts.claims) for verdict in judged.verdicts),
            usage=add_usage(model.usage, judged.usage),
            prompts=(self.prompt.reference, *judged.prompts),
            problems=(*parts.problems, *judged.problems),
        )


def _as_answer(statements: Sequence[Claim]) -> tuple[str, list[Claim]]:
    """The statements as an answer of their own, one a line: a judge may look up what it reads in the answer."""
    claims: list[Claim] = []
    start = 0
    for index, statement in enumerate(statements):
        end = start + len(statement.text)
        claims.append(Claim(text=statement.text, sentence_index=index, start=start, end=end))
        start = end + 1
    return "\n".join(claim.text for claim in claims), claims


def _in_its_sentence(verdict: ClaimVerdict, statements: Sequence[Claim]) -> ClaimVerdict:
    """The verdict back at the sentence that its statement comes from."""
    statement = statements[verdict.claim.sentence_index]
    return dataclasses.replace(verdict, claim=dataclasses.replace(statement, text=verdict.claim.text))

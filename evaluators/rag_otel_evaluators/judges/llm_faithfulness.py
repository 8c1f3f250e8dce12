"""A language model as the judge of faithfulness: `Faithfulness(judge=LlmJudge(model=llm_model("openai/gpt-4o-mini")))`.

Two strategies, one result:

    single     claims, numbered, and evidence, numbered -> verdict, evidence ids, reason         one step
    two_step   sentences -> statements without pronouns; then the same question about those      two steps

(A third, statements with verdicts by a classifier, is `judges/statements.py`.)

`single` judges the claims that segmentation has cut; `two_step` follows RAGAS ("Faithfulness", docs.ragas.io), at
more than one and a half times the tokens. In both, nothing that the model returns is taken on trust: verdicts are
matched by number, and a response with a number that does not fit is not used; doubled ones that disagree, missing ones
and those without evidence that exists are asked about once more; ids are read in any form and checked; quotes are cut
out of the chunks by our code. A step is one call and at most one repeat, whatever comes back (`most_calls`).
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import BaseModel

from rag_otel.errors import ConfigurationError
from rag_otel.model import Chunk, Claim, ClaimVerdict, ReasonCode, Verdict
from rag_otel_evaluators.cooperative import cooperatively
from rag_otel_evaluators.judges.decomposition import decompose
from rag_otel_evaluators.judges.judge import Judgement, likeliest_risk
from rag_otel_evaluators.judges.llm_answers import ClaimAnswer, sampled_answers
from rag_otel_evaluators.judges.llm_evidence import NumberedEvidence, number_evidence
from rag_otel_evaluators.llm.metered import MeteredModel
from rag_otel_evaluators.llm.structured import CALLS_A_STEP, StructuredModel
from rag_otel_evaluators.llm.transport import response_schema
from rag_otel_evaluators.prompts import Prompt
from rag_otel_evaluators.prompts.library import choose_prompts
from rag_otel_evaluators.prompts.numbered_items import AnswerForm, NumberedAnswers, ask_about_each
from rag_otel_evaluators.prompts.prompt import InputField

Strategy = Literal["single", "two_step"]
Strictness = Literal["strict", "lenient"]

_REVISION: Final = "4"
"""Raised when the same answers of a model would lead to other verdicts."""
MOST_CLAIMS: Final = 60
"""Claims of an answer that are judged by default: their verdicts fit the 4,096 tokens that some models write at most,
so that they are one call. More calls would send all evidence again."""
_MOST_LISTED: Final = 250
"""Ids that a schema lists at most: providers refuse longer lists."""
_LEFT_OUT: Final = "The answer has more claims than are judged."
_PROMPT: Final = "faithfulness"
_STATEMENTS_PROMPT: Final = "faithfulness_statements"


class ClaimAnswers(BaseModel):
    """What the model returns."""

    verdicts: list[ClaimAnswer]


class LlmJudge:
    """A `Judge` that asks a `StructuredModel`."""

    def __init__(
        self,
        *,
        model: StructuredModel,
        strategy: Strategy = "single",
        reading: Strictness = "strict",
        samples: int = 1,
        most_claims: int = MOST_CLAIMS,
        language: str = "en",
        prompts: Sequence[Prompt] = (),
        prompt_folder: Path | str | None = None,
    ) -> None:
        """`reading`: `strict` supports only what the chunks state or what follows by necessity, `lenient` also what
        any careful reader takes for granted from them; it stands in the version. `samples`: how often each claim is
        judged, with the examples in another order; above 1 the confidence is the share that agrees, not the model's
        word. `most_claims`: claims that are judged; of more, the first, and the others are `unjudged` (`too_long`).
        `prompts` replace the built-in ones of the same name (`faithfulness`, and `faithfulness_statements` of
        `two_step`).

        Raises ConfigurationError for a language or a prompt that does not exist, and for counts below 1.
        """
        if samples < 1 or most_claims < 1:
            raise ConfigurationError(f"samples and most_claims must be at least 1, not {samples} and {most_claims}")
        names = [_PROMPT] if strategy == "single" else [_STATEMENTS_PROMPT, _PROMPT]
        self.model = model
        self.strategy: Strategy = strategy
        self.reading: Strictness = reading
        self.samples = samples
        self.most_claims = most_claims
        self.prompts = {prompt.name: prompt for prompt in choose_prompts(names, prompts, language, prompt_folder)}
        """Every prompt that is asked, by name."""

    @property
    def name(self) -> str:
        return self.model.name

    @property
    def version(self) -> str:
        """`<strategy>-<reading>-<revision>+<hash of the prompts>`, with `x<samples>` where there are several."""
        hashes = "".join(prompt.hash for prompt in self.prompts.values())
        sampled = f"x{self.samples}" if self.samples > 1 else ""
        return f"{self.strategy}-{self.reading}-{_REVISION}{sampled}+{hashlib.sha256(hashes.encode()).hexdigest()[:8]}"

    @property
    def most_calls(self) -> int:
        """Calls that one answer can cost, at most, whatever comes back."""
        steps_before = CALLS_A_STEP if self.strategy == "two_step" else 0
        return steps_before + self.samples + 1

    async def judge(
        self, *, question: str | None, chunks: Sequence[Chunk], response: str, claims: Sequence[Claim]
    ) -> Judgement:
        """See `Judge.judge`. Errors of the model are raised while no verdict is known; later they cost the missing."""
        model = MeteredModel(self.model, most_calls=self.most_calls)
        evidence = await cooperatively(number_evidence(chunks))
        problems: tuple[str, ...] = ()
        asked, left_out = claims[: self.most_claims], claims[self.most_claims :]
        if self.strategy == "two_step":
            prompt = self.prompts[_STATEMENTS_PROMPT]
            parts = await decompose(model, prompt, question=question, response=response, claims=asked)
            problems = parts.problems
            asked, left_out = parts.claims[: self.most_claims], [*parts.claims[self.most_claims :], *left_out]
        answers = await self._ask(model, question, evidence, asked)
        verdicts = (
            *(_verdict(claim, index, answers, evidence) for index, claim in enumerate(asked)),
            *(ClaimVerdict(claim=claim, verdict=Verdict.UNJUDGED, explanation=_LEFT_OUT) for claim in left_out),
        )
        return Judgement(
            verdicts=verdicts,
            risk=likeliest_risk(verdicts),
            usage=model.usage,
            reason_code=_reason_code(verdicts, left_out=len(left_out)),
            prompts=tuple(prompt.reference for prompt in self.prompts.values()),
            problems=(*problems, *answers.problems),
        )

    async def _ask(
        self, model: StructuredModel, question: str | None, evidence: NumberedEvidence, claims: Sequence[Claim]
    ) -> NumberedAnswers[ClaimAnswer]:
        fields: dict[str, InputField | None] = {
            "reading": self.reading,
            "question": question,
            "chunks": evidence.texts,
            "claims": [claim.text for claim in claims],
        }
        form = AnswerForm(
            response_model=ClaimAnswers,
            answers=lambda response: response.verdicts,
            refers=lambda answers, first: None if evidence.is_counted_from_one(_named(answers)) else answers,
            usable=lambda answer: (
                answer.verdict == Verdict.NOT_ENOUGH_INFO or bool(evidence.find(answer.evidence).chunk_ids)
            ),
            schema=partial(_schema, evidence.ids),
        )
        ask = partial(ask_about_each, model, self.prompts[_PROMPT], fields, items="claims", form=form)
        return await (ask() if self.samples == 1 else sampled_answers(ask, self.samples, len(claims)))


def _named(answers: Sequence[ClaimAnswer]) -> list[str]:
    return [text for answer in answers for text in answer.evidence]


def _schema(ids: Sequence[str], claims: int) -> Mapping[str, Any] | None:
    """The schema of the answer about so many claims, with the ids that exist; None where there are too many to list."""
    if not ids or len(ids) > _MOST_LISTED or claims > _MOST_LISTED:
        return None
    schema = copy.deepcopy(response_schema(ClaimAnswers))
    fields = schema["$defs"][ClaimAnswer.__name__]["properties"]
    fields["evidence"] = {"type": "array", "items": {"type": "string", "enum": list(ids)}}
    fields["claim"] = {"type": "integer", "enum": list(range(claims))}
    return schema


def _verdict(
    claim: Claim, index: int, answers: NumberedAnswers[ClaimAnswer], evidence: NumberedEvidence
) -> ClaimVerdict:
    """The answer with its ids looked up.

    `supported` by nothing that exists, also when asked again, is no verdict: neither the form of an id nor a judge
    that made it up may decide. `contradicted` by nothing that exists is unsupported all the same.
    """
    answer = answers.by_index.get(index) or answers.unusable.get(index)
    if answer is None:
        return ClaimVerdict(claim=claim, verdict=Verdict.UNJUDGED, explanation="The judge gave no verdict.")
    verdict, confidence = Verdict(answer.verdict), answer.confidence
    found = evidence.find(answer.evidence)
    notes = [answer.reason.strip()] if answer.reason.strip() else []
    if verdict is not Verdict.SUPPORTED and (span := _span(answer.unsupported_span, claim.text)):
        notes.append(f"(Unsupported: {span!r}.)")
    if found.unknown:
        notes.append(f"(No such evidence: {', '.join(found.unknown)}.)")
    if verdict is not Verdict.NOT_ENOUGH_INFO and not found.chunk_ids:
        notes.append(f"(The judge said {verdict} and named no evidence that exists.)")
        verdict = Verdict.UNJUDGED if verdict is Verdict.SUPPORTED else Verdict.NOT_ENOUGH_INFO
        confidence = None  # it was in another verdict
    return ClaimVerdict(
        claim=claim,
        verdict=verdict,
        chunk_ids=found.chunk_ids,
        quotes=found.quotes,
        explanation=" ".join(notes) or None,
        support_probability=_support_probability(verdict, confidence),
    )


def _span(words: str, claim: str) -> str | None:
    """The words as they stand in the claim; None where they do not, or are all of it."""
    at = claim.casefold().find(words.strip().casefold())
    found = claim[at : at + len(words.strip())]
    return found if words.strip() and at >= 0 and found != claim else None


def _reason_code(verdicts: Sequence[ClaimVerdict], *, left_out: int) -> str | None:
    unjudged = sum(verdict.verdict is Verdict.UNJUDGED for verdict in verdicts)
    if unjudged == len(verdicts):
        return ReasonCode.PARSE_ERROR
    if unjudged > left_out:
        return ReasonCode.INCOMPLETE
    return ReasonCode.TOO_LONG if left_out else None


def _support_probability(verdict: Verdict, confidence: float | None) -> float | None:
    """The model's confidence in its verdict as the probability that the claim is supported."""
    if confidence is None:
        return None
    certainty = max(0.5, confidence)  # below 0.5 the model would have given another verdict
    return certainty if verdict is Verdict.SUPPORTED else 1.0 - certainty

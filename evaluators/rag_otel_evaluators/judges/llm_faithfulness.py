"""A language model as the judge of faithfulness: `Faithfulness(judge=LlmJudge(model=llm_model("openai/gpt-4o-mini")))`.

Two strategies, one result:

    single     claims, numbered, and evidence, numbered -> verdict, evidence ids, reason         one call
    two_step   sentences -> statements without pronouns; then the same question about those      two calls

(A third, statements with verdicts by a classifier, is `judges/statements.py`.)

`single` judges the claims that segmentation has cut; `two_step` follows RAGAS ("Faithfulness", docs.ragas.io), at
more than one and a half times the tokens. In both, nothing that the model returns is taken on trust: verdicts are
matched by number, doubled ones that disagree and missing ones are asked again once, ids are checked, quotes are cut
out of the chunks by our code.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, BeforeValidator

from rag_otel.errors import RagOtelError
from rag_otel.model import Chunk, Claim, ClaimVerdict, ReasonCode, Verdict
from rag_otel_evaluators.cooperative import cooperatively
from rag_otel_evaluators.judges.judge import Judgement, assumed_support
from rag_otel_evaluators.judges.llm_evidence import NumberedEvidence, number_evidence
from rag_otel_evaluators.judges.llm_statements import decompose
from rag_otel_evaluators.llm.metered import MeteredModel
from rag_otel_evaluators.llm.structured import StructuredModel
from rag_otel_evaluators.prompts import Prompt
from rag_otel_evaluators.prompts.library import choose_prompts
from rag_otel_evaluators.prompts.numbered_items import Answers, ask_about_each

Strategy = Literal["single", "two_step"]
Reading = Literal["strict", "lenient"]

_REVISION: Final = "1"
"""Raised when the same answers of a model would lead to other verdicts."""
_BATCH: Final = 40
"""Claims per call: their answer fits the 4,096 tokens that some models write at most."""
_PROMPT: Final = "faithfulness"
_STATEMENTS_PROMPT: Final = "faithfulness_statements"


def _plain(value: Any) -> Any:
    """`Not enough info` and `NOT-ENOUGH-INFO` as the word that was asked for."""
    return "_".join(value.casefold().replace("-", " ").split()) if isinstance(value, str) else value


def _probability(value: Any) -> Any:
    """None for what is no probability: a malformed confidence must not discard the verdict beside it."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if 0.0 <= number <= 1.0 else None


def _texts(value: Any) -> Any:
    """A lone id as a list of one; null as none."""
    if value is None:
        return []
    return [value] if isinstance(value, str) else value


class ClaimAnswer(BaseModel):
    """What the model says of one claim. The order is the order of writing: evidence and reason before the verdict."""

    claim: int
    evidence: Annotated[list[str], BeforeValidator(_texts)]
    reason: str = ""
    verdict: Annotated[Literal["supported", "contradicted", "not_enough_info"], BeforeValidator(_plain)]
    confidence: Annotated[float | None, BeforeValidator(_probability)] = None
    """The model's own probability that its verdict is right, 0..1."""

    @property
    def index(self) -> int:
        return self.claim

    @property
    def decision(self) -> str:
        return self.verdict


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
        reading: Reading = "strict",
        language: str = "en",
        prompts: Sequence[Prompt] = (),
        prompt_folder: Path | str | None = None,
    ) -> None:
        """`reading`: `strict` supports only what the chunks state or what follows by necessity, `lenient` also what
        any careful reader takes for granted from them; it stands in the version. `prompts` replace the built-in ones of
        the same name (`faithfulness`, and `faithfulness_statements` of `two_step`).

        Raises ConfigurationError for a language or a prompt that does not exist.
        """
        names = [_PROMPT] if strategy == "single" else [_STATEMENTS_PROMPT, _PROMPT]
        self.model = model
        self.strategy: Strategy = strategy
        self.reading: Reading = reading
        self.prompts = {prompt.name: prompt for prompt in choose_prompts(names, prompts, language, prompt_folder)}
        """Every prompt that is asked, by name."""

    @property
    def name(self) -> str:
        return self.model.name

    @property
    def version(self) -> str:
        """`<strategy>-<reading>-<revision>+<hash of the prompts>`."""
        hashes = "".join(prompt.hash for prompt in self.prompts.values())
        return f"{self.strategy}-{self.reading}-{_REVISION}+{hashlib.sha256(hashes.encode()).hexdigest()[:8]}"

    async def judge(
        self, *, question: str | None, chunks: Sequence[Chunk], response: str, claims: Sequence[Claim]
    ) -> Judgement:
        """See `Judge.judge`. Errors of the model are raised while no verdict is known; later they cost the missing."""
        model = MeteredModel(self.model)
        evidence = await cooperatively(number_evidence(chunks))
        problems: tuple[str, ...] = ()
        if self.strategy == "two_step":
            prompt = self.prompts[_STATEMENTS_PROMPT]
            parts = await decompose(model, prompt, question=question, response=response, claims=claims)
            claims, problems = parts.claims, parts.problems
        batches = [claims[start : start + _BATCH] for start in range(0, len(claims), _BATCH)]
        judged: list[Answers[ClaimAnswer]] = []
        for batch in batches:
            try:
                judged.append(await self._ask(model, question, evidence, batch))
            except RagOtelError as error:
                if not any(answers.by_index for answers in judged):
                    raise
                judged.append(Answers(by_index={}, problems=(f"asking about {len(batch)} claims failed: {error}",)))
        verdicts = tuple(
            _verdict(claim, answers.by_index.get(index), evidence)
            for batch, answers in zip(batches, judged, strict=True)
            for index, claim in enumerate(batch)
        )
        return Judgement(
            verdicts=verdicts,
            risk=verdict_risk(verdicts),
            usage=model.usage,
            reason_code=_reason_code(verdicts),
            prompts=tuple(prompt.reference for prompt in self.prompts.values()),
            problems=(*problems, *(problem for answers in judged for problem in answers.problems)),
        )

    async def _ask(
        self, model: StructuredModel, question: str | None, evidence: NumberedEvidence, claims: Sequence[Claim]
    ) -> Answers[ClaimAnswer]:
        return await ask_about_each(
            model,
            self.prompts[_PROMPT],
            {
                "reading": self.reading,
                "question": question,
                "chunks": evidence.texts,
                "claims": [claim.text for claim in claims],
            },
            items="claims",
            response_model=ClaimAnswers,
            answers=lambda response: response.verdicts,
        )


def verdict_risk(verdicts: Sequence[ClaimVerdict]) -> float | None:
    """Probability in 0..1 that at least one judged claim is unsupported: that of the likeliest one; None without any.

    The lower bound of what claims with these probabilities can have in common (Fréchet), and what holds if the judge
    errs on them together. Taken as independent, ten claims that a model calls supported with its usual 0.95 would make
    an answer 40% unfaithful: a model's word for its confidence is too coarse for a product.
    """
    judged = [verdict for verdict in verdicts if verdict.verdict is not Verdict.UNJUDGED]
    return max((1.0 - assumed_support(verdict) for verdict in judged), default=None)


def _verdict(claim: Claim, answer: ClaimAnswer | None, evidence: NumberedEvidence) -> ClaimVerdict:
    """The answer with its ids looked up; a verdict that names no existing evidence is one for lack of it."""
    if answer is None:
        return ClaimVerdict(claim=claim, verdict=Verdict.UNJUDGED, explanation="The judge gave no verdict.")
    verdict, confidence = Verdict(answer.verdict), answer.confidence
    found = evidence.find(answer.evidence)
    notes = [answer.reason.strip()] if answer.reason.strip() else []
    if found.unknown:
        notes.append(f"(No such evidence: {', '.join(found.unknown)}.)")
    if verdict is not Verdict.NOT_ENOUGH_INFO and not found.chunk_ids:
        notes.append(f"(The judge said {verdict} and named no evidence that exists.)")
        verdict, confidence = Verdict.NOT_ENOUGH_INFO, None  # its confidence was in another verdict
    return ClaimVerdict(
        claim=claim,
        verdict=verdict,
        chunk_ids=found.chunk_ids,
        quotes=found.quotes,
        explanation=" ".join(notes) or None,
        support_probability=_support_probability(verdict, confidence),
    )


def _reason_code(verdicts: Sequence[ClaimVerdict]) -> str | None:
    unjudged = sum(verdict.verdict is Verdict.UNJUDGED for verdict in verdicts)
    if unjudged == len(verdicts):
        return ReasonCode.PARSE_ERROR
    return ReasonCode.INCOMPLETE if unjudged else None


def _support_probability(verdict: Verdict, confidence: float | None) -> float | None:
    """The model's confidence in its verdict as the probability that the claim is supported."""
    if confidence is None:
        return None
    certainty = max(0.5, confidence)  # below 0.5 the model would have given another verdict
    return certainty if verdict is Verdict.SUPPORTED else 1.0 - certainty

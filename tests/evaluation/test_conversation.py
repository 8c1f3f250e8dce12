"""Which earlier turns and memory count, under which ids, and which evaluators are given them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from rag_otel.evaluation.conversation import MAX_CHARACTERS, Turn, earlier_turns, named_conversation, turns_before
from rag_otel.evaluation.evaluate import evaluate
from rag_otel.model import NO_CONVERSATION, Chunk, Conversation, Evaluation
from rag_otel_evaluators.metrics.faithfulness import Faithfulness

TURNS = [
    Turn("user", "My order is 4711."),
    Turn("assistant", "It was sent on Monday."),
    Turn("user", "Thanks."),
    Turn("assistant", "You are welcome."),
]
DOCUMENT = Chunk(id="turn-1", text="Parcels take three days.", position=0)


def ids(conversation: Conversation) -> list[str]:
    return [chunk.id for chunk in conversation.evidence]


def test_the_user_counts_first_and_the_assistant_only_if_asked() -> None:
    """An earlier answer may be wrong itself, so it supports nothing unless the application says so."""
    assert earlier_turns(TURNS, counts="none") == NO_CONVERSATION
    users = earlier_turns(TURNS, counts="user")
    assert (ids(users), users.previous_question) == (["turn-1", "turn-2"], "Thanks.")
    assert ids(earlier_turns(TURNS, counts="all")) == ["turn-1", "turn-1-answer", "turn-2", "turn-2-answer"]


def test_ids_of_retrieved_chunks_are_not_taken_twice() -> None:
    """A quote names one chunk."""
    assert ids(earlier_turns(TURNS, counts="user", chunks=[DOCUMENT])) == ["turn-1#", "turn-2"]


def test_a_prompt_with_the_passages_is_not_what_the_user_said() -> None:
    """Some applications put the passages into a user message of their own."""
    prompt = Turn("user", f"Answer from this:\n{DOCUMENT.text}")
    found = earlier_turns([*TURNS[:2], prompt], counts="user", chunks=[DOCUMENT])
    assert (ids(found), found.previous_question) == (["turn-1#"], "My order is 4711.")


def test_old_messages_are_left_out_whole() -> None:
    """Ids count from the first message, also of those that are left out."""
    long = [Turn("user", str(number) * (MAX_CHARACTERS // 2 - 1)) for number in range(1, 6)]
    found = earlier_turns(long, counts="user")
    assert [(chunk.id, chunk.text[:1]) for chunk in found.turns] == [("turn-4", "4"), ("turn-5", "5")]
    many = [Turn("user", f"{number}") for number in range(1, 101)]
    assert ids(earlier_turns(many, counts="user"))[0] == "turn-61"


def test_the_turns_end_before_the_question() -> None:
    """Also where the model call has a prompt around the question, or messages after it."""
    question = Turn("user", "Question: and now?")
    observation = Turn("user", "Observation: found nothing")
    assert turns_before([*TURNS, question], "and now?") == TURNS
    assert turns_before([*TURNS, question, observation], "and now?") == TURNS
    assert turns_before([*TURNS, Turn("user", "rewritten")], "and now?") == TURNS


def test_what_an_observed_call_names_counts_without_the_setting() -> None:
    """Memory stands before the turns; a history may end with the question."""
    given = {"memory": ["Lives in Lyon."], "question": "And now?", "chunks": [DOCUMENT], "counts": "none"}
    named = named_conversation(NO_CONVERSATION, history=[*TURNS, Turn("user", "And now?")], **given)  # type: ignore[arg-type]
    assert ids(named) == ["memory-1", "turn-1#", "turn-2"]
    assert named_conversation(NO_CONVERSATION, history=TURNS, **given) == named  # type: ignore[arg-type]


class Recorded:
    """An evaluator that keeps what it was given."""

    name, version, judge_name = "recorded", "1", "function"

    async def evaluate(
        self, *, question: str | None, chunks: Sequence[Chunk | str], response: str, reference: str | None = None
    ) -> Evaluation:
        self.question, self.chunks = question, [chunk.id for chunk in chunks if isinstance(chunk, Chunk)]
        return Evaluation(name=self.name, score=1.0)


class ReadsChunks(Recorded):
    conversation_as = "chunks"


class ReadsQuestion(Recorded):
    conversation_as = "question"


def test_only_evaluators_that_read_a_conversation_are_given_it() -> None:
    """A retrieval metric sees what was retrieved, and nothing else."""
    conversation = earlier_turns(TURNS, counts="user")
    seen = []
    for evaluator in (Recorded(), ReadsChunks(), ReadsQuestion()):
        chunk = Chunk(id="d1", text="x", position=0)
        asyncio.run(
            evaluate(evaluator, question="And?", chunks=[chunk], response="y", conversation=conversation, timeout_s=60)
        )
        seen.append((evaluator.question, evaluator.chunks))
    assert seen == [("And?", ["d1"]), ("And?", ["d1", "turn-1", "turn-2"]), ("Thanks.\nAnd?", ["d1"])]


def test_a_claim_from_an_earlier_turn_is_supported_with_a_quote_from_it() -> None:
    """What the user said supports; what the assistant said before does not, and a question asserts nothing."""

    def judged(response: str, *turns: Turn) -> Evaluation:
        conversation = earlier_turns(turns, counts="user", chunks=[DOCUMENT])
        return asyncio.run(
            evaluate(
                Faithfulness(),
                question="And now?",
                chunks=[DOCUMENT],
                response=response,
                conversation=conversation,
                timeout_s=60,
            )
        )

    claim = "Your order is 4711."
    (supported,) = judged(claim, *TURNS).claims
    assert (supported.verdict, supported.chunk_ids) == ("supported", ("turn-1#",))
    assert [(quote.chunk_id, quote.text) for quote in supported.quotes][:1] == [("turn-1#", TURNS[0].text)]
    assert judged(claim, Turn("user", "Hello."), Turn("assistant", claim)).score == 0.0
    assert judged(claim, Turn("user", "Is my order 4711?")).score == 0.0

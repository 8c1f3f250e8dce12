"""One observed call while it runs: its span, what is taken out of it, and what is left behind when it ends.

Nothing here raises into the application, and all of it is on the request path, so it is kept short: no parsing,
one `set_attributes`, references to the strings that the application made.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from opentelemetry.context import Context, get_current, set_value
from opentelemetry.trace import INVALID_SPAN, NonRecordingSpan, Span, get_current_span, set_span_in_context

from rag_otel import semconv
from rag_otel.model import Chunk
from rag_otel.observing import tracing
from rag_otel.observing.allowance import Allowance, TooLargeError
from rag_otel.observing.call_snapshot import OBSERVATION_KEY, Snapshot, hand_over
from rag_otel.observing.content import attribute_room, content_attributes, mark_failed
from rag_otel.observing.documents import to_chunks, unique
from rag_otel.observing.plan import Plan
from rag_otel.observing.selectors import Arguments, Extractor
from rag_otel.observing.session import TAGS_KEY, as_tags, turns_in
from rag_otel.observing.shapes import chunks_in, question_in, response_in, served, text_of
from rag_otel.observing.tracing import Call, is_left_out, leaves_out
from rag_otel.safety import privacy
from rag_otel.safety.guard import counters, guarded, logger, report_internal_error

if TYPE_CHECKING:
    from rag_otel.guarding.guarded_call import GuardRecord

_NO_CALL: Final[Arguments] = ((), {})
_NO_LABELS: Final[Mapping[str, Any]] = {}


def begin(plan: Plan, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Call | None:
    """Start the span of a call; None where there is nothing to do. Never raises."""
    try:
        context = get_current()
        tracer = tracing.tracer()
        parent = get_current_span(context)
        if parent is not INVALID_SPAN and is_left_out(parent, tracer):
            return None
        span = tracer.start_span(plan.name, context)
        if span.is_recording():
            return ObservedCall(plan, span, (args, kwargs), context)
        return Call(set_span_in_context(span, context)) if leaves_out(span, parent) else None
    except Exception as error:
        if not report_internal_error("observe.begin", error):
            raise
        return None


def begin_guarded(plan: Plan, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> ObservedCall:
    """`begin` for a call whose answer is judged before it leaves, also where its span records nothing. Never raises."""
    call = begin(plan, args, kwargs)
    if isinstance(call, ObservedCall):
        return call
    context = get_current() if call is None else call.context
    # Never the span around it itself, which this call must not end.
    return ObservedCall(plan, NonRecordingSpan(get_current_span(context).get_span_context()), (args, kwargs), context)


class ObservedCall(Call):
    """A recorded call. It ends once; later endings are ignored.

    Errors of ours stay inside: by `try` on the way that every call takes (which costs nothing), else by `guarded`.
    """

    recording = True
    documents_elsewhere: Mapping[str, Any] | None = None
    outer: ObservedCall | None = None
    guard: GuardRecord | None = None
    """What a guard did, where there was one."""
    _ended = False
    _question: str | None = None
    _response: str | None = None
    _chunks: tuple[Chunk, ...] | None = None
    _recorded: tuple[Chunk, ...] | None = None
    """What `record_chunks` was told."""
    _memory: tuple[str, ...] = ()
    """What `record_memory` was told."""
    _labels: Mapping[str, Any] = _NO_LABELS
    _result_type: str | None = None
    """None until the call has returned."""

    def __init__(self, plan: Plan, span: Span, arguments: Arguments, context: Context) -> None:
        self.context = set_value(OBSERVATION_KEY, self, set_span_in_context(span, context))
        self._plan = plan
        self._span = span
        self._arguments = arguments
        self._outside = context
        self._allowance = Allowance()
        outer = context.get(OBSERVATION_KEY)
        if isinstance(outer, ObservedCall):
            self.outer = outer
        try:  # now, because the function may change its arguments
            if plan.question is not None and not plan.question.needs_result:
                self._find_question(plan.question, None)
            if plan.labels:
                self._read_labels(None, late=False)
        except Exception as problem:
            if not report_internal_error("observe.arguments", problem):
                raise

    @property
    def span(self) -> Span:
        """The call's span."""
        return self._span

    @property
    def ended(self) -> bool:
        return self._ended

    def so_far(self, result: object, response: str | None) -> Snapshot:
        """What is known of a call that goes on, with `response` as its answer. `result` is what it has returned or, of
        a stream, what that has said; None: nothing yet. May be called again and again."""
        if result is not None and self._result_type is None:
            if self._plan.question is not None and self._plan.question.needs_result and self._question is None:
                self._find_question(self._plan.question, result)
            if self._plan.labels:
                self._read_labels(result, late=True)
            if self._recorded is None and self._chunks is None:
                self._find_chunks(result, served(result) if self._plan.chunks is None else None)
        found = self._response if response is None else response
        return self._snapshot(found, incomplete=False, failed=False, allowance=Allowance())

    def answer_in(self, result: object) -> str | None:
        """The answer that a selector finds in what a stream has said; None where there is no selector, or no answer."""
        where = self._plan.response
        if where is None:
            return None
        try:
            return text_of(where.read(self._arguments, result), allowance=Allowance())
        except TooLargeError:
            return None

    def record(self, documents: object) -> bool:
        """Add documents that were retrieved for this call; False where they cannot be read."""
        known = self._recorded or ()
        chunks = to_chunks(documents, start=len(known), allowance=self._allowance)
        if chunks is not None:
            self._recorded = unique(known + chunks)
        return chunks is not None

    def remember(self, memory: object) -> bool:
        """Add what the application remembered for this call; False where it cannot be read."""
        if type(memory) is str:
            self._memory += (self._allowance.chunk_text(memory),)
            return True
        texts = to_chunks(memory, start=len(self._memory), allowance=self._allowance)
        if texts is not None:
            self._memory += tuple([each.text for each in texts])
        return texts is not None

    def returned(self, result: object) -> None:
        if self._result_type is not None:
            return
        self._result_type = type(result).__name__
        plan = self._plan
        try:
            if plan.question is not None and plan.question.needs_result:
                self._find_question(plan.question, result)
            if plan.labels:
                self._read_labels(result, late=True)
            searched = plan.response is None or (plan.chunks is None and self._recorded is None)
            content = served(result) if searched else None  # its attributes may cost something to ask for
            self._find_response(result, content)
            if self._recorded is None:
                self._find_chunks(result, content)
        except Exception as problem:
            if not report_internal_error("observe.result", problem):
                raise

    def complete(self, streamed: str | None = None) -> None:
        if self._response is None or (streamed is not None and self._plan.response is None):
            self._response = streamed
        if self._response is None and not self._chunks and self._result_type not in (None, "NoneType"):
            # A function that found chunks and no answer is a search: nothing is missing in what it returned.
            self._tell_once("observe.no_response", f"no answer found in {self._result_type}")
        try:
            self._end()
        except Exception as problem:
            if not report_internal_error("observe.complete", problem):
                raise

    def fail(self, error: BaseException, streamed: str | None = None) -> None:
        if not isinstance(error, Exception):
            self.abandon(streamed)
            return
        self._response = streamed
        with guarded("observe.fail"):
            self._end(error=error)

    def abandon(self, streamed: str | None = None) -> None:
        self._response = streamed
        with guarded("observe.abandon"):
            self._end(incomplete=True)

    def _end(self, *, incomplete: bool = False, error: Exception | None = None) -> None:
        if self._ended:
            return
        self._ended = True
        try:
            present = len(getattr(self._span, "attributes", None) or ())
            taken = self._snapshot(
                self._response,
                incomplete=incomplete,
                failed=error is not None,
                allowance=self._allowance,
                whole=not present,
            )
            if self.guard is not None:
                taken = self.guard.judged_of(taken)
            hidden = privacy.hidden_now() if self._plan.capture_content else privacy.EVERYTHING_HIDDEN
            room, elsewhere = attribute_room(self._span, present), self.documents_elsewhere
            of_guard = _NO_LABELS if self.guard is None else self.guard.attributes_of(hide_text=hidden.response)
            room = room if room is None else room - len(of_guard)
            attributes = content_attributes(taken, hidden=hidden, elsewhere=elsewhere, room=room)
            left = None if room is None else room - len(attributes)
            attributes.update(hand_over(self._span, taken, left))
            attributes.update(of_guard)
            self._span.set_attributes(attributes)
            if error is not None:
                mark_failed(self._span, error, hide_message=hidden.anything)
        finally:
            self._arguments = _NO_CALL
            self.gate = None
            self.context = self._outside  # its own holds it: a cycle, which only the garbage collector would free
            self._span.end()

    def _snapshot(
        self, response: str | None, *, incomplete: bool, failed: bool, allowance: Allowance, whole: bool = False
    ) -> Snapshot:
        labels, outside = self._labels, self._outside
        before = 0 if allowance is self._allowance else self._allowance.omitted_characters
        tags: Any = outside.get(TAGS_KEY) or _NO_LABELS
        return Snapshot(
            question=self._question and allowance.text(self._question),
            chunks=self._chunks if self._recorded is None else self._recorded,
            response=response and allowance.text(response),
            memory=self._memory,
            history=labels.get("history", ()),
            reference=self._reference(allowance) if labels else None,
            session_id=_identity(labels.get("session_id"), outside.get(semconv.SESSION_ID)),
            user_id=_identity(labels.get("user_id"), outside.get(semconv.USER_ID)),
            tags={**tags, **as_tags(labels["tags"])} if "tags" in labels else tags,
            incomplete=incomplete,
            failed=failed,
            omitted_chunks=self._allowance.omitted_chunks,
            omitted_characters=allowance.omitted_characters + before,  # after all texts
            whole=whole,
            capture_content=self._plan.capture_content,
        )

    def _reference(self, allowance: Allowance) -> str | None:
        try:
            text = text_of(self._labels.get("reference"), allowance=allowance)
        except TooLargeError:
            self._tell_too_large()
            return None
        return text and allowance.text(text)

    # --- what is found: nothing, told once, where looking for it would take too long ----------------------------------

    def _find_question(self, where: Extractor, result: object) -> None:
        try:
            self._question = question_in(where.read(self._arguments, result), self._allowance)
        except TooLargeError:
            self._tell_too_large()

    def _find_response(self, result: object, content: object) -> None:
        """`content`: what the result holds (see `served`), where no selector says where the answer is."""
        where = self._plan.response
        try:
            if where is None:
                self._response = response_in(content, allowance=self._allowance)
            else:
                self._response = text_of(where.read(self._arguments, result), allowance=self._allowance)
        except TooLargeError:
            self._tell_too_large()

    def _find_chunks(self, result: object, content: object) -> None:
        plan, allowance = self._plan, self._allowance
        try:
            if plan.chunks is not None:
                value = plan.chunks.read(self._arguments, result)
                self._chunks = None if value is None else to_chunks(value, allowance=allowance)
                if self._chunks is None and value is not None:
                    problem = f"{type(value).__name__} cannot be read as documents"
                    self._tell_once("observe.chunks_unreadable", problem)
                return
            self._chunks = chunks_in(content, allowance=allowance)
            if self._chunks is None and plan.chunks_argument is not None:
                self._chunks = to_chunks(plan.chunks_argument.read(self._arguments, result), allowance=allowance)
        except TooLargeError:
            self._tell_too_large()

    def _tell_too_large(self) -> None:
        self._tell_once("observe.too_large", "more than is looked through while the call is waited for")

    def _read_labels(self, result: object, *, late: bool) -> None:
        extractors = self._plan.labels.items()
        read = {name: each.read(self._arguments, result) for name, each in extractors if each.needs_result is late}
        if "history" in read:  # now: the application will add the next turn to the same list
            read["history"] = turns_in(read["history"], self._allowance)
        self._labels = {**self._labels, **read}

    def _tell_once(self, counter: str, problem: str) -> None:
        if counters.add(f"{counter}.{self._plan.name}") == 1:
            logger.warning(
                "rag-otel: %s: %s; say where it is: @observe(response=..., chunks=...)", self._plan.name, problem
            )


def _identity(named: object, around: object) -> str | None:
    """The id that the application has named, else the one of the context, as text; "" is none."""
    value = around if named is None or named == "" else named
    return None if value is None or value == "" else str(value)

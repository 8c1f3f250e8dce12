"""Where question, chunks and answer usually stand: the names of parameters, fields, keys and columns.

Each in order of precedence. The names of the first list say it alone, so a column of a data set is known by them; those
of the second (`..._TOO`) mean it in the input or the output of a call, where something must be the question or the
answer.
"""

from __future__ import annotations

from typing import Final

QUESTION: Final = ("question", "user_input", "user_question", "user_query", "query", "query_str", "input")
QUESTION_TOO: Final = (
    *("chat_input", "search_query", "str_or_query_bundle", "user_message", "message", "messages", "prompt", "text"),
    *("inputs", "q"),
)
ANSWER: Final = (
    *("answer", "response", "final_answer", "output", "actual_output", "output_text", "generated_text", "completion"),
    "reply",
)
ANSWER_TOO: Final = (
    *("result", "replies", "answers", "generation", "messages", "message", "content", "text", "choices", "outputs"),
    *("generations", "data"),
)
CHUNKS: Final = (
    *("contexts", "retrieved_contexts", "context", "retrieved_context", "retrieval_context", "documents", "chunks"),
    *("docs", "source_documents", "source_nodes", "retrieved_documents", "retrieved_docs", "retrieved_chunks"),
    "passages",
)
CHUNKS_TOO: Final = ("nodes", "evidence", "sources", "hits", "results")
"""Names under which bare strings are more often links or ids than passages."""
REFERENCE: Final = ("reference", "ground_truth", "expected_output")

TEXT: Final = ("text", "content", "page_content", "long_text", "chunk", "passage", "body", "document", "snippet")
"""Of one chunk, as the following."""
ID: Final = ("id", "_id", "doc_id", "chunk_id", "document_id", "node_id", "id_", "uuid", "key")
SCORE: Final = ("relevance_score", "rerank_score", "score", "_score", "similarity")
METADATA: Final = ("metadata", "meta")

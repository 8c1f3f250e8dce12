"""Evaluates rows in Python: a list of dicts, a data frame or a Hugging Face data set. Needs no arguments."""

from rag_otel_evaluators import evaluate

ROWS = [
    {
        "id": "right",
        "question": "How high is the tower?",
        "hits": [{"text": "The tower is 330 metres high and was finished in 1889."}],
        "answer": "The tower is 330 metres high.",
    },
    {
        "id": "wrong",
        "question": "When was the tower finished?",
        "hits": [{"text": "The tower is 330 metres high and was finished in 1889."}],
        "answer": "The tower was finished in 1925.",
    },
]


def brevity(response: str) -> float:
    """A custom metric: a function whose parameters name the fields that it needs."""
    return min(1.0, 100 / len(response))


results = evaluate(ROWS, metrics=["faithfulness", brevity], columns={"contexts": "hits[*].text"})
for row in results.to_dicts():
    print(row["id"], row["faithfulness"], row["brevity"])
for summary in results.summary():
    print(summary.metric, summary.mean)

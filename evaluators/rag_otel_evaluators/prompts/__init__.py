"""Prompts as versioned files, one folder per language. They can be read, replaced and adapted to other languages.

load_prompt("context_precision", "es")            a built-in prompt
load_prompt("context_precision", folder="mine")   the prompt in the folder `mine` if it exists, else the built-in one
metric = ContextPrecision(model=model, prompt=prompt)
"""

from rag_otel_evaluators.prompts.library import list_prompts, load_prompt, save_prompt
from rag_otel_evaluators.prompts.prompt import Example, Prompt

__all__ = ["Example", "Prompt", "list_prompts", "load_prompt", "save_prompt"]

"""A hook of the documentation site: links to files of the repository outside of `docs/`.

In the repository they lead to the file. The site has no such file, so it shows the path as text, or links to the
repository if `repo_url` is set. A link to a file that does not exist is an error of the build.
"""

from __future__ import annotations

import logging
import re
from pathlib import Path
from typing import Any

_LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(((?:\.\./)+[^)#\s]+)(#[^)\s]*)?\)")
_log = logging.getLogger("mkdocs.hooks.repository_links")


def on_page_markdown(markdown: str, *, page: Any, config: Any, files: Any) -> str:
    """Replaces the links that leave `docs/`."""
    docs = Path(config["docs_dir"]).resolve()
    root = docs.parent

    def replaced(link: re.Match[str]) -> str:
        target = (docs / page.file.src_uri).parent.joinpath(link[2]).resolve()
        if target.is_relative_to(docs):
            return link[0]
        if not target.exists():
            _log.warning("%s: no such file: %s", page.file.src_uri, link[2])
        path = target.relative_to(root).as_posix()
        if config["repo_url"]:
            return f"[{link[1]}]({config['repo_url'].rstrip('/')}/blob/main/{path}{link[3] or ''})"
        return link[1] if path in link[1] else f"{link[1]} (`{path}`)"

    return _LINK.sub(replaced, markdown)

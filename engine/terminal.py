"""The terminal around the REPL: lines, history, Ctrl-C and Ctrl-D, and what Tab offers.

Importing prompt_toolkit takes a tenth of a second, so only `kgq repl` imports this.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import zip_longest
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from rich.console import Console

from kg.errors import KgError

from .repl import ALL, COMMANDS, SETTABLE, Repl, is_program
from .session import Session

OFFERED = 12  # entity names at a time
WORDS = 5  # of a question, taken together as the start of a name
_WORD = re.compile(r"[\w.]*\Z")
_OPEN_TEXT = re.compile(r"""(?:'(?:[^']|'')*'|"(?:[^"]|"")*"|[^'"])*(?P<quote>['"])(?P<text>[^'"]*)\Z""")
_KEYWORDS = (
    "SELECT", "FROM", "WHERE", "JOIN", "GROUP BY", "ORDER BY", "HAVING", "LIMIT", "DISTINCT", "COUNT(", "AVG(", "SUM(",
    "MIN(", "MAX(", "sort(", "eq(", "neq(", "gt(", "ge(", "lt(", "le(", "like(", "between(", "in(", "any(", "not(",
)  # fmt: skip


def run(session: Session, domain: str = "", console: Console | None = None) -> None:
    """Talk until Ctrl-D. Where stdin is no terminal its lines are taken one after the other."""
    repl = Repl(session, console or Console(markup=False, emoji=False, highlight=False), domain)
    if console is None and not sys.stdin.isatty():
        for line in sys.stdin:
            if not repl.handle(line.rstrip("\n")):
                return
        return
    # Tab only: names that come up while one types would hide the question
    terminal: PromptSession[str] = PromptSession(
        history=_history(session.settings.cache / "history"),
        completer=Completions(repl),
        complete_while_typing=False,
        complete_in_thread=True,
    )
    repl.greet()
    while True:
        try:
            if not repl.handle(terminal.prompt("  ... " if repl.pending else "kgq > ")):
                return
        except KeyboardInterrupt:
            repl.cancel()
        except EOFError:
            return


def _history(file: Path) -> History:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch(mode=0o600)
    except OSError:
        return InMemoryHistory()  # a home that cannot be written is no reason not to answer
    return FileHistory(str(file))


class Completions(Completer):
    """Completions for the line of `repl`, of the domain that is chosen there, or of all."""

    def __init__(self, repl: Repl):
        self.repl = repl

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
        text = document.text_before_cursor
        command, space, rest = text.lstrip().partition(" ")
        if command.startswith("\\") and not space:
            yield from _starting(command, COMMANDS)
        elif command in ("\\sql", "\\plan"):
            yield from self._program(rest)
        elif command == "\\set":
            yield from _starting(rest, SETTABLE)
        elif command == "\\d":
            yield from _starting(rest, self._tables)
        elif command == "\\domain":
            yield from _starting(rest, [*self.repl.session.domains, ALL])
        elif command.startswith("\\"):
            return
        elif self.repl.pending or is_program(text) or re.fullmatch(r"\s*(get_\w*|sel\w*)", text, re.I):
            yield from self._program(text)
        else:
            yield from self._question(text)

    @property
    def _tables(self) -> list[str]:
        return list(dict.fromkeys(t for d in self.repl.domains.values() for t in d.by_name))

    def _program(self, text: str) -> Iterator[Completion]:
        """Names within quotes; else tables, columns (of the table before a dot), calls and words of the dialect."""
        if found := _OPEN_TEXT.match(text):
            quote, start = found["quote"], found["text"]
            for name in self._names(start):
                yield Completion(name.replace(quote, quote * 2) + quote, -len(start), display=name)
            return
        match = _WORD.search(text)
        assert match is not None
        word = match[0]
        table, dot, column = word.rpartition(".")
        if dot:
            tables = [d.table(table) for d in self.repl.domains.values() if table in d.by_name]
            yield from _starting(column, dict.fromkeys(c.name for t in tables for c in t.columns))
            return
        if word:
            calls = (f"get_{table}(" for table in self._tables)
            yield from _starting(word, [*self._tables, *self._columns(text), *calls, *_KEYWORDS])

    def _columns(self, text: str) -> list[str]:
        """The columns of the tables that `text` names; of all while it names none."""
        words = set(re.findall(r"\w+", text.lower().replace("get_", "get ")))
        tables = [t for d in self.repl.domains.values() for t in d.tables]
        named = [t for t in tables if t.name in words] or tables
        return list(dict.fromkeys(c.name for t in named for c in t.columns))

    def _question(self, text: str) -> Iterator[Completion]:
        """The names that go on from the last words, the most words that do."""
        starts = [m.start() for m in re.finditer(r"\S+", text)][-WORDS:]
        for start in starts:
            prefix = text[start:]
            if names := self._names(prefix):
                for name in names:
                    yield Completion(name, -len(prefix))
                return

    def _names(self, prefix: str) -> list[str]:
        if len(prefix.strip()) < 2:
            return []
        offered: list[list[str]] = []
        for domain in self.repl.domains:
            with suppress(KgError):  # the source does not answer: asking will say so
                offered.append(self.repl.session.linker(domain).complete(prefix, OFFERED))
        # the best known of each domain first
        mixed = (name for names in zip_longest(*offered) for name in names if name is not None)
        return list(dict.fromkeys(mixed))[:OFFERED]


def _starting(word: str, known: Iterable[str]) -> Iterator[Completion]:
    for name in known:
        if name.lower().startswith(word.lower()):
            yield Completion(name, -len(word))

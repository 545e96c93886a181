"""What comes back from a question: a short text, and everything it rests on."""

from __future__ import annotations

import html
from dataclasses import dataclass, field
from typing import Any, Literal

Reason = Literal[
    "", "not_in_schema", "missing_input", "entity_not_found", "call_failed", "incomplete", "low_confidence", "conflict"
]
IDK = "i don't know"
INVALID = "invalid question"
SHOWN = 10  # rows and requests that `why` lists


@dataclass(frozen=True)
class Evidence:
    """A request that rows came from: the endpoint, its arguments as JSON, when it was answered (ISO, UTC).

    For a table in a file: the file, the table, when the file was last changed.
    """

    endpoint: str
    args: str
    fetched: str

    def __str__(self) -> str:
        return f"{self.endpoint} {self.args}"


@dataclass(frozen=True)
class Answer:
    """A short answer and what it rests on.

    `source` is kg, web or none. `reason` types an "i don't know" (empty otherwise), `detail` says it. `program` is in
    the call spelling where it has one, `sql` the same in SQL. `evidence` has, for each row, the requests it came from.
    `confidence` is 0..1; `timings` are seconds by stage; `trace` is what happened, a line each.
    """

    question: str
    text: str
    source: Literal["kg", "web", "none"]
    program: str = ""
    sql: str = ""
    columns: tuple[str, ...] = ()
    rows: list[tuple[Any, ...]] = field(default_factory=list)
    confidence: float = 0.0
    reason: Reason = ""
    detail: str = ""
    domain: str = ""
    utterance: str = ""
    evidence: list[list[Evidence]] = field(default_factory=list)
    calls: int = 0
    trace: list[str] = field(default_factory=list)
    timings: dict[str, float] = field(default_factory=dict)

    @property
    def known(self) -> bool:
        """Whether this is an answer ("invalid question" is one)."""
        return self.text != IDK

    def why(self) -> str:
        """How the answer came about: program, SQL, rows, and the request each row came from."""
        lines = [self.text + (f"  ({self.reason}: {self.detail})" if self.reason else "")]
        if self.utterance:
            lines.append(f"asked     {self.utterance}  (confidence {self.confidence:.2f})")
        if self.program:
            lines.append("program   " + self.program.replace("\n", "\n          "))
            lines.append(f"sql       {self.sql}")
        for i, row in enumerate(self.rows[:SHOWN]):
            lines.append(f"row       {' | '.join('-' if v is None else str(v) for v in row)}")
            requests = self.evidence[i] if i < len(self.evidence) else []
            lines += [f"          from {e}" for e in requests[:SHOWN]]
            if len(requests) > SHOWN:
                lines.append(f"          and {len(requests) - SHOWN} more requests")
        if len(self.rows) > SHOWN:
            lines.append(f"          and {len(self.rows) - SHOWN} more rows")
        lines += [f"trace     {t}" for t in self.trace]
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        """The answer as a notebook shows it. Everything is escaped: names come from APIs."""
        e = html.escape
        out = [f"<p><b>{e(self.text)}</b> <small>{e(self.source)}, confidence {self.confidence:.2f}</small></p>"]
        if self.reason:
            out.append(f"<p><small>{e(self.reason)}: {e(self.detail)}</small></p>")
        if self.program:
            out.append(f"<details><summary>program</summary><pre>{e(self.program)}\n\n{e(self.sql)}</pre></details>")
        if self.rows:
            head = "".join(f"<th>{e(c)}</th>" for c in self.columns)
            body = "".join(
                "<tr>" + "".join(f"<td>{e('' if v is None else str(v))}</td>" for v in r) + "</tr>"
                for r in self.rows[:SHOWN]
            )
            out.append(f"<table><tr>{head}</tr>{body}</table>")
        return "".join(out)

"""Everything that can go wrong below `engine`, split by what the reader should do about it.

A message is one sentence that names the place, the thing and the way out; the facts are attributes.
"""

from __future__ import annotations


class KgError(Exception):
    """Root of every error this project raises on purpose."""


class DomainError(KgError):
    """A domain file is wrong. `problems` holds every mistake found, each as `file:line: sentence`."""

    def __init__(self, problems: list[str]):
        self.problems = problems
        super().__init__("\n".join(problems))


class QueryError(KgError):
    """A program cannot be run as written. `hint` names what exists, and can be fed back to a model."""

    def __init__(self, message: str, *, hint: str = ""):
        self.hint = hint
        super().__init__(f"{message} {hint}".strip())


class MissingInput(QueryError):
    """A table can only be asked with an input that the program does not bind.

    `table` is the table, `inputs` the columns of which one must be bound (or several: "team and day"), `words` how
    people say those that are missing.
    """

    def __init__(self, table: str, inputs: tuple[str, ...], words: tuple[str, ...] = ()):
        self.table, self.inputs, self.words = table, inputs, words
        said = f"Say which {' or '.join(words)} is meant." if words else ""
        super().__init__(f"{table} can only be looked up by {' or '.join(inputs)}.", hint=said)


class SourceError(KgError):
    """A call failed. `status` is the HTTP status, None if there was no usable reply."""

    def __init__(self, message: str, *, endpoint: str, status: int | None = None, retry: bool = False):
        self.endpoint, self.status, self.retry = endpoint, status, retry
        super().__init__(f"{endpoint}: {message}")


class BadReply(SourceError):
    """A reply came, but not in the declared shape. `path` is the JSON path that was not as declared."""

    def __init__(self, message: str, *, endpoint: str, path: str = "$", status: int | None = None):
        self.path = path
        super().__init__(f"{message} (at {path})", endpoint=endpoint, status=status)


class DeadlineExceeded(SourceError):
    """The time allowed for the whole question ran out before the call was answered."""


class BudgetExceeded(QueryError):
    """A query needs more calls than one question may make. `needed` and `allowed` are numbers of calls."""

    def __init__(self, table: str, needed: int, allowed: int):
        self.table, self.needed, self.allowed = table, needed, allowed
        super().__init__(
            f"This needs {needed:,} calls for {table}, and {allowed:,} are allowed for one question.",
            hint="Bind a name, an id or a single year, or raise KGQ_MAX_CALLS.",
        )


class StoreError(KgError):
    """The store file cannot be opened or written."""

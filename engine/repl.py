"""Questions and programs, one after the other, on one session.

`Repl.handle` takes a line and writes to a console; `engine.terminal` is the terminal around it. Nothing a user types
ends the loop: what went wrong is one sentence, and Ctrl-C gives up the line or the question, never the store.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import replace

from rich.console import Console, RenderableType
from rich.text import Text

from kg.dialect.calls import did_you_mean
from kg.domain import Domain
from kg.errors import KgError, QueryError
from kg.graph import Result

from . import show
from .answers import Answer
from .belongs import domain_named, domain_of, domain_with
from .clock import moment_of
from .interrupt import ctrl_c
from .session import Session
from .settings import Settings

SHOWN = 50  # rows of a program
ALL = "all"  # no domain is called so: asks about all of them
_PROGRAM = re.compile(
    r"[\s(]*(?:select\b|from\s+\w+\s+select\b|with\b.*?\b(?:select|as\s*\()|(?:all\s*\(?\s*)?get_\w+\s*\(|(?:all\s+)?sort\s*\(|"
    r"(?:avg|sum|min|max|len|count|median|years_between|days_between|percent)\s*\()",
    re.I | re.S,
)
_PIECE = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|[(\[]|[)\]]""")

# command -> what it takes, what it does
COMMANDS = {
    "\\sql": ("[program]", "the SQL of a program, or of the last answer"),
    "\\plan": ("[program]", "the calls a program needs, or those of the last answer; makes none"),
    "\\why": ("", "where the last answer comes from"),
    "\\rows": ("[n]", "the rows behind the last answer"),
    "\\schema": ("", "the tables"),
    "\\d": ("TABLE", "the columns of a table, and by what it can be looked up"),
    "\\domain": ("[name]", "the domains, or ask only about one; all widens again"),
    "\\set": ("[name value]", "the settings of this session, or change one"),
    "\\help": ("", "this list"),
    "\\q": ("", "leave; so does Ctrl-D"),
}
# what \set changes -> what it does
SETTABLE = {
    "query_time": "when questions are asked, as 2024-03-10T23:19, or now",
    "seconds": "seconds one question may take",
    "min_confidence": 'confidence under which the answer is "i don\'t know" (0 to 1)',
    "min_covered": "share of the question's words that a program must account for (0 to 1)",
    "rows": "rows a program shows at most",
    "timing": "whether calls and seconds are shown (on or off)",
    "traceback": "whether a bug shows where it is (on or off)",
}
_CHANGED: dict[str, Callable[[Settings, float], Settings]] = {
    "seconds": lambda s, number: replace(s, seconds=number),
    "min_confidence": lambda s, number: replace(s, min_confidence=number),
    "min_covered": lambda s, number: replace(s, min_covered=number),
}


def is_program(text: str) -> bool:
    """Whether `text` is a program; anything else is a question.

    >>> is_program("SELECT title FROM movie"), is_program("with whom did Al Pacino play in Heat?")
    (True, False)
    """
    return _PROGRAM.match(text) is not None


def goes_on(text: str) -> bool:
    """Whether a program is not finished: it ends in a backslash, or a bracket is open."""
    if text.rstrip().endswith("\\"):
        return True
    depth = 0
    for piece in _PIECE.findall(text):
        depth += (piece in "([") - (piece in ")]")
    return depth > 0


class Repl:
    """A conversation on `session`, shown on `console`. `pending` are the lines of a program that goes on."""

    def __init__(self, session: Session, console: Console, domain: str = ""):
        self.session, self.console = session, console
        self.domain = domain  # the one all is about; "" for all of them
        self.pending: list[str] = []
        self.query_time = ""
        self.rows = SHOWN
        self.timing, self.traceback = True, False
        self._program, self._at = "", ""  # the last program, and its domain
        self._answer: Answer | None = None
        self._result: Result | None = None
        self._commands: dict[str, Callable[[str], None]] = {
            "\\sql": self._sql,
            "\\plan": self._plan,
            "\\why": self._why,
            "\\rows": self._rows,
            "\\schema": self._schema,
            "\\d": self._table,
            "\\domain": self._domain,
            "\\set": self._set,
            "\\help": self._help,
        }

    @property
    def domains(self) -> dict[str, Domain]:
        """The domain that is chosen, or all of them."""
        known = self.session.domains
        return {self.domain: known[self.domain]} if self.domain else known

    def handle(self, line: str) -> bool:
        """Do what `line` says. Returns whether to go on; never raises."""
        try:
            with ctrl_c(self.session.store):
                return self._handle(line)
        except KeyboardInterrupt:
            self._say("Cancelled.", "dim")
        except KgError as e:
            self._say(str(e), "red")
        except Exception as e:  # noqa: BLE001 - the loop must outlive a bug
            if self.traceback:
                self.console.print_exception()
            hint = "" if self.traceback else " \\set traceback on shows where."
            self._say(f"{type(e).__name__}: {' '.join(str(e).split())} (This is a bug of kgq.{hint})", "red")
        return True

    def greet(self) -> None:
        """Say what can be done here, and that the store is in use elsewhere if it is."""
        *some, last = self.domains
        about = f"{', '.join(some)} or {last}" if some else last
        self._say(f"Ask a question about {about}, or write a program. \\help lists the commands.", "dim")
        if self.session.store.notice:
            self._say(self.session.store.notice, "yellow")

    def cancel(self) -> None:
        """Forget the lines of an unfinished program."""
        self.pending.clear()

    def _handle(self, line: str) -> bool:
        text = "\n".join([*self.pending, line])
        command, _, rest = text.strip().partition(" ")
        is_command = command.startswith("\\") and command != "\\"
        program = rest if is_command and command in ("\\sql", "\\plan") else "" if is_command else text
        # an empty line ends a program that is not finished
        if (self.pending or is_program(program)) and line.strip() and goes_on(program):
            self.pending.append(line.rstrip().removesuffix("\\").rstrip())
            return True
        self.cancel()
        if command in ("\\q", "\\quit", "exit", "quit"):
            return False
        if is_command or text.strip() == "help":
            self._command(command if is_command else "\\help", rest.strip())
        elif is_program(text):
            self._run(text)
        elif text.strip():
            self._ask(text.strip())
        return True

    def _command(self, command: str, rest: str) -> None:
        if command not in self._commands:
            hint = did_you_mean(command, COMMANDS) or "\\help lists the commands."
            raise QueryError(f"There is no command {command}.", hint=hint)
        self._commands[command](rest)

    # -- questions and programs ------------------------------------------------------------------------------

    def _ask(self, question: str) -> None:
        answer = self.session.answer(question, query_time=self.query_time or None, domain=self.domain)
        self._answer, self._result = answer, None
        self._program, self._at = answer.program, answer.domain
        self._say(answer.text, "bold")
        if answer.reason:
            self._say(show.doubt(answer), "dim")
        if answer.program:
            self._say(answer.program, "cyan")
            if answer.sql != answer.program:
                self._say(answer.sql, "dim")
        self._spent(answer.calls, answer.timings.get("total", 0.0))

    def _run(self, program: str) -> None:
        started = time.perf_counter()
        domain = domain_of(program, self.domains)
        result = self.session.run(program, domain, max_rows=self.rows)
        self._answer, self._result = None, result
        self._program, self._at = program, domain
        self._print(show.grid(result.columns, result.rows))
        self._say(show.counted(len(result.rows), "row"), "dim")
        for note in show.notes(result, "\\set rows N shows more"):
            self._say(note, "yellow")
        self._spent(len(result.filled.made), time.perf_counter() - started)

    def _spent(self, calls: int, seconds: float) -> None:
        if self.timing:
            self._say(f"{show.counted(calls, 'call')}, {seconds:.2f} s", "dim")

    # -- commands --------------------------------------------------------------------------------------------

    def _last(self, program: str) -> tuple[str, str]:
        """The program to speak of, and its domain."""
        if program:
            return program, domain_of(program, self.domains)
        if not self._program:
            raise QueryError("There is no program yet.", hint="Ask a question, or write one behind the command.")
        return self._program, self._at

    def _sql(self, program: str) -> None:
        program, domain = self._last(program)
        graph = self.session.graph(domain)
        self._say(show.program_text(graph, graph.prepare(program)), "cyan")

    def _plan(self, program: str) -> None:
        self._say(show.plan_text(self.session.explain(*self._last(program))))

    def _why(self, _: str) -> None:
        if self._answer is not None:
            self._say(self._answer.why())
        elif self._result is not None:
            for line in show.requests(self.session.graph(self._at), self._result):
                self._say(line)
        else:
            raise QueryError("There is no answer yet.", hint="Ask a question first.")

    def _rows(self, count: str) -> None:
        if self._answer is None and self._result is None:
            raise QueryError("There is no answer yet.", hint="Ask a question first.")
        most = int(_number("\\rows", count, whole=True)) if count else None
        found = self._answer or self._result
        assert found is not None
        self._print(show.grid(found.columns, found.rows[:most]))
        self._say(f"{len(found.rows[:most]):,} of {show.counted(len(found.rows), 'row')}", "dim")

    def _schema(self, _: str) -> None:
        for i, domain in enumerate(self.domains.values()):
            self._say(f"{chr(10) if i else ''}{domain.name}", "bold")
            self._print(show.tables_grid(domain))

    def _table(self, name: str) -> None:
        if not name:
            raise QueryError("Say which table.", hint="\\schema lists them.")
        domain = domain_with(name, self.domains)
        self._say(domain.table(name).about)
        self._print(show.columns_grid(domain.table(name)))
        self._say("looked up by\n  " + "\n  ".join(show.lookups(domain, domain.table(name))), "dim")

    def _domain(self, name: str) -> None:
        if not name:
            for domain in self.session.domains.values():
                self._say(f"{'*' if domain.name in self.domains else ' '} {domain.name}: {domain.about}")
            return
        self.domain = "" if name == ALL else domain_named(name, self.session.domains).name
        self._program, self._answer, self._result = "", None, None

    def _set(self, text: str) -> None:
        name, _, value = text.partition(" ")
        value = value.strip()
        if not name:
            self._print(
                show.grid(("setting", "value", "what it does"), [(n, self._value(n), a) for n, a in SETTABLE.items()])
            )
        elif name not in SETTABLE:
            raise QueryError(
                f"There is no setting '{name}' here.",
                hint=did_you_mean(name, SETTABLE) or f"There are: {', '.join(SETTABLE)}.",
            )
        elif not value:
            self._say(self._value(name))
        elif name == "query_time":
            self.query_time = "" if value == "now" else moment_of(value).isoformat()
        elif name in ("timing", "traceback"):
            if value not in ("on", "off"):
                raise QueryError(f"{name} is on or off, not '{value}'.")
            setattr(self, name, value == "on")
        elif name == "rows":
            self.rows = max(1, int(_number(name, value, whole=True)))
        else:
            self.session.settings = _CHANGED[name](self.session.settings, _number(name, value))

    def _value(self, name: str) -> str:
        if name == "query_time":
            return self.query_time or "now"
        if name in ("timing", "traceback"):
            return "on" if getattr(self, name) else "off"
        return str(self.rows if name == "rows" else getattr(self.session.settings, name))

    def _help(self, _: str) -> None:
        self._say(
            "A question, or a program that starts with SELECT, WITH, get_, ALL, sort( or a function such as avg(."
        )
        self._say("An open bracket or a \\ at the end goes on in the next line.\n")
        width = max(len(f"{name} {takes}") for name, (takes, _) in COMMANDS.items())
        for name, (takes, about) in COMMANDS.items():
            self._say(f"{f'{name} {takes}':{width}}  {about}")

    # -- output ----------------------------------------------------------------------------------------------

    def _say(self, text: str, style: str = "") -> None:
        self.console.print(Text(show.plain(text), style=style), soft_wrap=True)

    def _print(self, what: RenderableType) -> None:
        self.console.print(what)


def _number(name: str, text: str, *, whole: bool = False) -> float:
    try:
        number = int(text) if whole else float(text)
    except ValueError as e:
        raise QueryError(f"{name} takes a {'whole ' if whole else ''}number, not '{text}'.") from e
    if not 0 <= number < float("inf"):
        raise QueryError(f"{name} must not be negative or endless.")
    return number

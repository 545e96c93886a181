"""The dialect: one program a question, in the call spelling, in SQL, or both; always ONE sqlglot query.

    get_movie_person_crew(NONE, "walt becker", eq(job, "Director"))
    sort(NONE, -release_date)[title]

and `SELECT movie.title FROM movie JOIN crew ON ... ORDER BY movie.release_date DESC LIMIT 1` are the same program.
A tree is kept in the form that printing and reading again leaves alone, so the round trip holds by construction.
What is read here is not safe to run yet: that is `kg.check`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sqlglot import exp, parse_one
from sqlglot.errors import ErrorLevel, SqlglotError

from kg.dialect import calls, lower, spell
from kg.dialect.grammar import grammar
from kg.dialect.names import identifier
from kg.domain import Domain
from kg.errors import QueryError

__all__ = ["MAX_LENGTH", "grammar", "parse", "to_calls", "to_sql"]

MAX_LENGTH = 20_000
MAX_NESTING = 60

_CALL = re.compile(r"\s*(?:all\s+)?(?:get_\w*|sort)\s*\(", re.I)
_SQL = re.compile(
    r"""(?:[\s(]|--[^\n]*\n|/\*.*?\*/)*+(select|with|from|values|insert|update|delete|merge|drop|create|alter|truncate|copy|attach|detach|use|set|
    reset|pragma|install|load|call|export|import|explain|describe|show|summarize|pivot|unpivot|begin|commit|rollback|
    vacuum|checkpoint|prepare|execute|deallocate|grant|revoke|comment|analyze|table)\b(?!\s*\.)""",
    re.I | re.X | re.S,
)
_PERCENT = re.compile(r"""('(?:[^']|'')*'|"(?:[^"]|"")*")|\bpercent\s*\(""", re.I)
_PIECE = re.compile(
    r"""(?P<skip>'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|/\*.*?\*/) | (?P<hash>\#[^\n]*) | (?P<open>[(\[{]) |
    (?P<close>[)\]}]) | (?P<semicolon>;) | (?P<newline>\n\s*)""",
    re.X | re.S,
)


def parse(text: str, domain: Domain) -> exp.Query:
    """Return the one query that the program `text` means. Raises QueryError with a hint.

    >>> from kg.domain import Column, Domain, Table
    >>> film = Table("film", "", ("id",), (Column("id", "BIGINT", ""), Column("title", "TEXT", "")), label="title")
    >>> to_sql(parse('get_film("alien")[id]', Domain("films", "", "", (film,))))
    "SELECT film.id FROM film WHERE film.title = 'alien' LIMIT 1"
    """
    if len(text) > MAX_LENGTH:
        raise QueryError(f"The program has {len(text):,} characters; {MAX_LENGTH:,} are allowed.")
    if "\0" in text:
        raise QueryError("The program contains a zero byte.")
    if any("\ud800" <= c <= "\udfff" for c in text):
        raise QueryError("The program contains half of a surrogate pair, which is no text.")
    try:
        lines: list[lower.Line] = []
        for number, line in enumerate(_lines(text)):
            if _SQL.match(line):
                lines.append(_read(line))
            else:
                lines.append(calls.parse_line(line, domain, number))
        if not lines:
            raise QueryError("The program is empty.", hint='For example: get_movie("titanic")[release_date].')
        if len(lines) > 1 and sum(isinstance(line, exp.Query) for line in lines) > 1:
            raise QueryError("A program is one query, not several.", hint="Use a subquery, a WITH, or calls with *.")
        return _settled(normalised(lower.lower(lines, domain)))
    except RecursionError as e:
        raise QueryError("The program is nested too deeply.") from e


def to_sql(tree: exp.Query, *, pretty: bool = False) -> str:
    """Return the SQL spelling."""
    return tree.sql(dialect="duckdb", pretty=pretty, comments=False, unsupported_level=ErrorLevel.IGNORE)


def to_calls(tree: exp.Query, domain: Domain) -> str:
    """Return the call spelling where there is one that means exactly `tree`, else the SQL spelling."""
    for text in spell.spellings(tree, domain):
        try:
            if parse(text, domain) == tree:
                return text
        except QueryError:
            continue
    return to_sql(tree)


def _lines(text: str) -> Iterator[str]:
    """The lines of a program. SQL may run over several; brackets keep a call together; # starts a comment."""
    start = position = depth = 0
    sql = bool(_SQL.match(text))
    spaces: list[tuple[int, int]] = []

    def line(end: int) -> str:
        out, at = [], start
        for a, b in spaces:
            out.append(text[at:a])
            at = b
        return "".join([*out, text[at:end]]).strip()

    while match := _PIECE.search(text, position):
        kind, position = match.lastgroup, match.end()
        ends = False
        if kind == "open":
            depth += 1
            if depth > MAX_NESTING:
                raise QueryError("The program is nested too deeply.", hint="Use several lines; * is the line before.")
        elif kind == "close":
            depth = max(0, depth - 1)
        elif (kind == "hash" and not sql) or (kind == "skip" and not sql and match[0].startswith(("--", "/*"))):
            spaces.append(match.span())
        elif kind == "semicolon":
            ends, depth = True, 0
        elif kind == "newline":
            # a statement goes on over newlines, until a call starts a line
            ends = depth == 0 and (not sql or _CALL.match(text, position) is not None)
        if ends:
            if found := line(match.start()):
                yield found
            start, spaces = position, []
            sql = bool(_SQL.match(text, position))
    if found := line(len(text)):
        yield found


def _read(text: str) -> exp.Query:
    """The query that a SQL text is. Raises QueryError for anything else."""
    found = _SQL.match(text)
    if found is None:  # nonsense that the parser took, printed
        raise QueryError("This is not valid SQL.", hint="Write a SELECT or a get_ call.")
    first = found[1].upper()
    if first not in ("SELECT", "WITH", "FROM", "VALUES"):
        raise QueryError(f"{first} is not allowed: a program only reads.", hint="Write a SELECT or a get_ call.")
    # PERCENT is a word of LIMIT to sqlglot; quoted it is a name
    text = _PERCENT.sub(lambda m: m[1] or '"percent"(', text)
    try:
        tree = parse_one(text, dialect="duckdb")
    except (SqlglotError, ValueError) as e:
        raise QueryError(f"This is not valid SQL: {_reason(e)}") from e
    while isinstance(tree, exp.Subquery) and {k for k, v in tree.args.items() if v} == {"this"}:
        tree = tree.this
    if not isinstance(tree, exp.Select | exp.SetOperation):
        raise QueryError("Only a SELECT, or several joined by UNION, INTERSECT or EXCEPT, can be asked.")
    if tree.find(exp.Into):
        raise QueryError("SELECT INTO is not allowed: a program only reads.")
    return normalised(tree)


def _settled(tree: exp.Query) -> exp.Query:
    """`tree` in the form that printing and reading leaves alone."""
    for _ in range(4):
        before, tree = tree, _read(to_sql(tree))
        if tree == before:
            return tree
    raise QueryError("This SQL has no stable form.", hint="Write it more plainly.")


def _reason(error: Exception) -> str:
    """The first line of the parser's message, without its terminal colours."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error)).strip().splitlines()
    return (text[0] if text else "it cannot be read").rstrip(".") + "."


def normalised(tree: exp.Query) -> exp.Query:
    """`tree` with lower-case names, quotes only where names need them, and texts that stand for dates as dates."""
    for node in list(tree.walk()):
        node.comments = None
        if isinstance(node, exp.Identifier):
            plain = identifier(node.name.lower())
            node.set("this", plain.this)
            node.set("quoted", plain.args["quoted"])
        elif isinstance(node, exp.Ordered) and not node.args.get("desc"):
            node.set("desc", None)
        elif isinstance(node, exp.Anonymous):
            _settle_function(node)
    return tree


def _settle_function(node: exp.Anonymous) -> None:
    """Lower-case the name of a function; a date that years_between or days_between is given as text becomes one."""
    node.set("this", node.name.lower())
    if node.this in ("years_between", "days_between"):
        for arg in list(node.expressions):
            if isinstance(arg, exp.Literal) and arg.is_string:
                arg.replace(exp.cast(arg.copy(), exp.DataType.Type.DATE))

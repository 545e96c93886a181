"""The command `kgq`. An answer or a table goes to stdout, everything said about it to stderr.

What a user or an API did wrong is one sentence and exit code 1. Commands import what only they need when they run:
a question from the shell should be answered before anybody notices a start.
"""

from __future__ import annotations

import io
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields, replace
from importlib import metadata
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from kg.dialect import grammar
from kg.errors import KgError, QueryError
from kg.sources import SAMPLE

from . import show
from .belongs import domain_named, domain_with
from .console import put as _print
from .console import say as _say
from .domains_cli import domains
from .interrupt import ctrl_c
from .session import Session
from .settings import VARIABLES, Settings, help_of


class _Commands(TyperGroup):
    """The commands; an error of ours that leaves one is a sentence and exit code 1."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KgError as e:
            _say(str(e), dim=False)
            raise typer.Exit(1) from e


app = typer.Typer(
    cls=_Commands,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

app.add_typer(domains, name="domain")

DomainName = Annotated[
    str, typer.Option("--domain", help="Domain; found by what the question or program names, if not given.")
]
Program = Annotated[str, typer.Argument(help="A program in SQL or in calls; - reads it from stdin.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a title in Thai must not end a program on an ASCII terminal
    app()


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"kgq {metadata.version('kgq')}")
        raise typer.Exit


def _option(name: str) -> str:
    about = help_of(name)
    return f"{about[0].upper()}{about[1:]} ({VARIABLES[name]})."


@app.callback(invoke_without_command=True)
def start(
    ctx: typer.Context,
    base: Annotated[Path | None, typer.Option(help=_option("base"))] = None,
    server: Annotated[str, typer.Option(help=_option("server"))] = "",
    store: Annotated[Path | None, typer.Option(help=_option("store"))] = None,
    schemas: Annotated[Path | None, typer.Option(help=_option("schemas"))] = None,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Answers questions from APIs, with the SQL and the calls behind every answer."""
    if base is not None and server:
        raise typer.BadParameter("give --base or --server, not both")
    settings = Settings.from_env()
    if base is not None:
        settings = replace(settings, base=base, server="")
    if server:
        settings = replace(settings, base=None, server=server)
    if store is not None:
        settings = replace(settings, store=store)
    if schemas is not None:
        settings = replace(settings, schemas=schemas)
    ctx.obj = settings
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())


@app.command()
def ask(
    ctx: typer.Context,
    question: Annotated[list[str], typer.Argument(help="The question.", metavar="QUESTION")],
    query_time: Annotated[
        str | None, typer.Option(help="When it is asked, as 2024-03-10T23:19; now if not given.")
    ] = None,
    why: Annotated[
        bool, typer.Option("--why", help="Print also the program, the rows and where they came from.")
    ] = False,
    as_json: AsJson = False,
    domain: DomainName = "",
) -> None:
    """Answer a question."""
    with _session(ctx, domain) as session:
        answer = session.answer(" ".join(question), query_time=query_time)
        if as_json:
            typer.echo(show.json_text(answer))
            return
        typer.echo(show.plain(answer.why() if why else answer.text))
        if answer.reason and not why:
            _say(show.doubt(answer))


@app.command()
def sql(
    ctx: typer.Context,
    program: Program,
    domain: DomainName = "",
    as_json: AsJson = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False,
    max_rows: Annotated[int, typer.Option(min=1, help="Rows to print at most.")] = 1000,
) -> None:
    """Run a program and print its rows."""
    if as_json and as_csv:
        raise typer.BadParameter("give --json or --csv, not both")
    with _session(ctx, domain) as session:
        result = session.run(_read(program), domain, max_rows=max_rows)
        if as_json:
            made, covered = len(result.filled.made), result.filled.covered
            found = {
                "columns": result.columns,
                "rows": result.rows,
                "complete": result.complete,
                "cut_off": result.cut_off,
            }
            extra = {
                "gaps": [str(g) for g in result.gaps],
                "sql": result.prepared.sql,
                "calls": made,
                "covered": covered,
            }
            typer.echo(show.json_text(found | extra, indent=None))
        elif as_csv:
            typer.echo(show.csv_text(result.columns, result.rows), nl=False)
        else:
            _print(show.grid(result.columns, result.rows))
        for note in show.notes(result, "--max-rows N shows more"):
            _say(note)


@app.command()
def explain(ctx: typer.Context, program: Program, domain: DomainName = "") -> None:
    """Print a program in both spellings, and the calls it needs. Makes none."""
    with _session(ctx, domain) as session:
        text = _read(program)
        name = domain or session.domain_of(text)
        steps, graph = session.explain(text, name), session.graph(name)
        typer.echo(show.program_text(graph, graph.prepare(text)))
        typer.echo()
        typer.echo(show.plan_text(steps))


@app.command()
def schema(
    ctx: typer.Context,
    table: Annotated[str, typer.Argument(help="Table; all if not given.")] = "",
    domain: DomainName = "",
    with_grammar: Annotated[bool, typer.Option("--grammar", help="Print the grammar of programs instead.")] = False,
) -> None:
    """Print the tables of the domains, or the columns of a table."""
    with _session(ctx, domain) as session:
        if table:
            shown = domain_with(table, session.domains)
            typer.echo(show.plain(f"{table}: {shown.table(table).about}\n"))
            _print(show.columns_grid(shown.table(table)))
            typer.echo("\nlooked up by")
            for way in show.lookups(shown, shown.table(table)):
                typer.echo(f"  {show.plain(way)}")
        elif with_grammar:
            if len(session.domains) > 1:
                raise QueryError("A grammar is one domain's.", hint=f"Give --domain: {', '.join(session.domains)}.")
            typer.echo(grammar(*session.domains.values()))
        else:
            for i, shown in enumerate(session.domains.values()):
                typer.echo(show.plain(f"{chr(10) if i else ''}{shown.name}: {shown.about}\n"))
                _print(show.tables_grid(shown))


@app.command("eval")
def evaluate(
    ctx: typer.Context,
    file: Annotated[
        Path, typer.Argument(exists=True, dir_okay=False, metavar="FILE", help="Questions, .jsonl or .jsonl.bz2.")
    ],
    out: Annotated[Path, typer.Option(help="Predictions, .jsonl; what it holds already is not asked again.")],
    domain: Annotated[str, typer.Option(help="Only the questions that the file says are of this domain.")] = "",
    workers: Annotated[int, typer.Option(min=1, help="Questions at a time.")] = 1,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first so many questions.")] = None,
) -> None:
    """Answer a file of questions in CRAG's format. Goes on where it was stopped."""
    from .evaluate import Evaluation, Prediction, read_questions, summary

    problems, stopped = 0, False
    with _session(ctx) as session, Evaluation(session, out) as run:
        try:
            with _bar(file, limit) as step:
                for found in run.run(read_questions(file), domain=domain, limit=limit, workers=workers):
                    if not isinstance(found, Prediction):
                        problems += 1
                        _say(f"{file.name}, {found}", dim=False)
                    step()
        except KeyboardInterrupt:
            stopped = True
        typer.echo(summary(run.predictions) + (f" ({run.kept} from before)" if run.kept else ""))
    if stopped:
        _say("Stopped. The same command goes on from here.", dim=False)
        raise typer.Exit(130)
    if problems:
        _say(f"{show.counted(problems, 'line')} skipped.", dim=False)
        raise typer.Exit(1)


@app.command("serve-api")
def serve_api(
    ctx: typer.Context,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65_535, help="Port to listen on.")] = 8000,
) -> None:
    """Serve the data directory, or the sample, as CRAG's mock API."""
    from kg.crag_api.server import serve

    base = _settings(ctx).base
    if base is not None and not base.is_dir():
        raise KgError(f"There is no directory {base}.")
    serve(SAMPLE if base is None else base, host, port)


@app.command()
def repl(ctx: typer.Context, domain: DomainName = "") -> None:
    """Ask questions and run programs, one after the other."""
    from .terminal import run

    with _session(ctx, domain) as session:
        run(session, domain)


@app.command()
def settings(ctx: typer.Context) -> None:
    """Print every setting, its environment variable and its value."""
    now = _settings(ctx)
    rows = [(f.name, VARIABLES[f.name], _setting(getattr(now, f.name)), help_of(f.name)) for f in fields(now)]
    _print(show.grid(("setting", "variable", "value", "what it does"), rows))


# -- what the commands share ---------------------------------------------------------------------------------------


def _settings(ctx: typer.Context) -> Settings:
    assert isinstance(ctx.obj, Settings)
    return ctx.obj


@contextmanager
def _session(ctx: typer.Context, domain: str = "") -> Iterator[Session]:
    """A session for one command. With `domain` it knows no other one."""
    with _progress() as tell, Session(_settings(ctx), tell=tell) as session, ctrl_c(session.store):
        if domain:
            session.domains = {domain: domain_named(domain, session.domains)}
        if session.store.notice:
            _say(session.store.notice)
        yield session


@contextmanager
def _progress() -> Iterator[Callable[[str], None]]:
    """Call what comes with what takes long: a line on stderr while it does, if somebody looks."""
    if not sys.stderr.isatty():
        yield lambda text: None
        return
    from rich.console import Console

    line = Console(stderr=True).status("")

    def tell(text: str) -> None:
        if threading.current_thread() is not threading.main_thread():
            return  # Tab offers names: the prompt is on the screen
        line.update(f"[dim]{text}")
        line.start() if text else line.stop()

    try:
        yield tell
    finally:
        line.stop()


def _read(program: str) -> str:
    return sys.stdin.read() if program == "-" else program


def _setting(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "not set" if value is None or value == "" else str(value)


@contextmanager
def _bar(file: Path, limit: int | None) -> Iterator[Any]:
    """A progress bar on stderr while the block runs, none if nobody looks; call what comes for each question."""
    if not sys.stderr.isatty():
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    total = limit
    if file.suffix != ".bz2":  # unpacking a file only to count its lines would take minutes
        with file.open("rb") as lines:
            count = sum(1 for _ in lines)
        total = count if limit is None else min(count, limit)
    with Progress(BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), console=Console(stderr=True)) as progress:
        task = progress.add_task("", total=total)
        yield lambda: progress.advance(task)


if __name__ == "__main__":
    main()

"""`kgq domain`: domain files are made, checked against themselves and their API, and shown."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Annotated, Any

import httpx
import typer
import yaml

from kg.domain import Api, Domain
from kg.errors import DomainError, KgError, SourceError
from kg.load import BUILT_IN, load_domain, load_domains
from kg.sources import open_source

from . import show
from .console import put, say
from .settings import Settings

MAX_DOCUMENT = 20_000_000  # bytes of an OpenAPI description
SECONDS = 30.0  # to fetch one

domains = typer.Typer(
    help="Write, check and show domain files.", no_args_is_help=True, rich_markup_mode=None, add_completion=False
)
_File = Annotated[Path, typer.Argument(exists=True, dir_okay=False, metavar="FILE", help="A domain file.")]
_Out = Annotated[Path | None, typer.Option(help="File to write; stdout if not given. Never one that exists.")]


@domains.command()
def new(
    openapi: Annotated[str, typer.Option(help="OpenAPI 3 description, JSON or YAML: a file or a URL.")],
    name: Annotated[str, typer.Option(help="Name of the domain; from the description's title if not given.")] = "",
    out: _Out = None,
) -> None:
    """Make a domain file from the OpenAPI description of an API."""
    from kg.draft.openapi import draft_of

    is_url = openapi.startswith(("http://", "https://"))
    document = _parsed(_fetched(openapi) if is_url else _read(Path(openapi)), openapi)
    _write(draft_of(document, name=name, at=openapi if is_url else "").yaml(), out)


@domains.command()
def infer(
    reply: Annotated[Path, typer.Argument(exists=True, dir_okay=False, metavar="REPLY.json", help="A reply, as JSON.")],
    name: Annotated[str, typer.Option(help="Name of the domain; that of the file if not given.")] = "",
    out: _Out = None,
) -> None:
    """Make the skeleton of a domain file from a recorded reply."""
    from kg.draft.infer import draft_of_reply

    try:
        value = json.loads(_read(reply))
    except (ValueError, RecursionError) as e:
        raise DomainError([f"{reply}: this is not JSON ({e})."]) from e
    _write(draft_of_reply(value, name or reply.stem).yaml(), out)


@domains.command()
def lint(
    file: _File,
    probe: Annotated[bool, typer.Option("--probe", help="Also make one call of each fetch, and compare.")] = False,
    given: Annotated[
        list[str] | None, typer.Option("--with", metavar="ARG=VALUE", help="With --probe: an example of an argument.")
    ] = None,
) -> None:
    """Print all mistakes in a domain file, each with its line."""
    domain = load_domain(file)
    built_in = load_domains([BUILT_IN])
    if domain.name in built_in and file.resolve().parent != BUILT_IN:
        raise DomainError([f"{file}:1: a domain '{domain.name}' is built in. Give this one another name."])
    calls = show.counted(len(domain.fetches), "call")
    typer.echo(f"{domain.name}: {show.counted(len(domain.tables), 'table')}, {calls}. No mistakes.")
    if probe and not _probe(domain, given or []):
        raise typer.Exit(1)


@domains.command("show")
def show_domain(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of a domain, or a domain file.")],
) -> None:
    """Print a domain as a page: its tables, their columns, and by what they can be looked up."""
    settings = ctx.find_object(Settings) or Settings.from_env()
    if Path(name).suffix in (".yaml", ".yml"):
        domain = load_domain(Path(name))
    else:
        known = load_domains([BUILT_IN, *([settings.schemas] if settings.schemas else [])])
        if name not in known:
            raise DomainError([f"There is no domain '{name}'. There are: {', '.join(known)}."])
        domain = known[name]
    typer.echo(show.plain(f"{domain.name}: {domain.about}"))
    typer.echo(show.plain(f"source: {_source(domain)}"))
    for table in domain.tables:
        typer.echo(show.plain(f"\n{table.name}: {table.about}"))
        put(show.columns_grid(table))
        ways = list(show.lookups(domain, table))
        typer.echo("looked up by" if ways else "no call looks it up")
        for way in ways:
            typer.echo(f"  {show.plain(way)}")


def _source(domain: Domain) -> str:
    source = domain.source
    if not isinstance(source, Api):
        return str(source)
    key = f", with the key in {source.key.env}" if source.key else ""
    pace = f", at most {source.rate:g} calls a second" if source.rate else ""
    return f"{source.url}{key}{pace}"


def _probe(domain: Domain, given: list[str]) -> bool:
    """Print what came of one call of each fetch; whether all of it was as declared."""
    import os

    from kg.draft.probe import probe

    wrong = [g for g in given if "=" not in g]
    if wrong:
        raise typer.BadParameter(f"--with takes ARG=VALUE, not {wrong[0]}")
    settings = Settings.from_env()
    source = open_source(domain, base=settings.base, server=settings.server or None, env=os.environ)
    fine = True
    try:
        for found in probe(domain, source, dict(g.split("=", 1) for g in given)):
            args = ", ".join(f"{k}={v!r}" for k, v in found.args.items())
            said = "as declared" if not found.problems else "; ".join(found.problems)
            typer.echo(show.plain(f"{found.fetch}({args}): {show.counted(found.objects, 'object')}; {said}"))
            fine = fine and not found.problems
    finally:
        source.close()
    return fine


# -- files -------------------------------------------------------------------------------------------------------------


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as e:
        raise DomainError([f"{path}: the file cannot be read: {e.strerror}."]) from e


def _fetched(url: str) -> bytes:
    from kg.sources.exchange import Exchange, Request

    exchange = Exchange(url, connections=1, max_reply_bytes=MAX_DOCUMENT)
    try:
        headers = {"accept": "application/json, application/yaml;q=0.9, */*;q=0.5"}
        return exchange.ask(Request("GET", httpx.URL(url), url, headers=headers), time.monotonic() + SECONDS).raw
    except httpx.InvalidURL as e:
        raise SourceError(f"this is not an address ({e}).", endpoint=url) from e
    finally:
        exchange.close()


def _parsed(text: bytes, where: str) -> Any:
    if len(text) > MAX_DOCUMENT:
        raise DomainError([f"{where}: this has {len(text):,} bytes; {MAX_DOCUMENT:,} are allowed."])
    try:
        if text.lstrip()[:1] == b"{":
            return json.loads(text)
        return yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (ValueError, RecursionError, yaml.YAMLError) as e:
        first = str(e).splitlines()[0]
        raise DomainError([f"{where}: this is neither JSON nor YAML ({first})."]) from e


def _write(text: str, out: Path | None) -> None:
    if out is None:
        typer.echo(text, nl=False)
        return
    try:
        with out.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as e:
        raise KgError(f"{out} exists already; nothing was written.") from e
    except OSError as e:
        raise KgError(f"{out} cannot be written: {e.strerror}.") from e
    load_domain(out)
    say(f"{out} was written. `kgq domain lint --probe {out}` compares it with the API.")

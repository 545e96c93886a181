"""A small public-style REST API of books, as its owners would write it: pages, a key, and faults on demand."""

from __future__ import annotations

import datetime as dt
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Annotated, Any

import uvicorn
from fastapi import Depends, FastAPI, HTTPException, Query, Request, Response
from fastapi.responses import JSONResponse
from fastapi.security import APIKeyHeader
from pydantic import BaseModel, Field

KEY = "lib-4711-secret-key"

_key = APIKeyHeader(name="X-Api-Key")
Page = Annotated[int, Query(ge=1, description="number of the page")]
PerPage = Annotated[int, Query(ge=1, le=5, description="rows of a page")]


class Author(BaseModel):
    """A person who wrote books."""

    author_id: int = Field(description="the author's number")
    name: str = Field(description="the name they write under")
    born: dt.date | None = Field(None, description="day of birth")
    died: dt.date | None = Field(None, description="day of death")
    country: str | None = Field(None, description="where they come from")


class Book(BaseModel):
    """A book, in its first edition."""

    book_id: int = Field(description="the book's number")
    title: str = Field(description="title in English")
    author_id: int = Field(description="who wrote it")
    published: dt.date = Field(description="first published")
    pages: int | None = Field(None, description="number of pages")
    language: str = Field(description="language it was written in")


class BookPage(BaseModel):
    items: list[Book]
    total: int = Field(description="how many there are on all pages")


class AuthorPage(BaseModel):
    items: list[Author]
    total: int


def _author(author_id: int, name: str, born: str, died: str | None, country: str) -> Author:
    ends = dt.date.fromisoformat(died) if died else None
    return Author(author_id=author_id, name=name, born=dt.date.fromisoformat(born), died=ends, country=country)


AUTHORS = [
    _author(1, "Jane Austen", "1775-12-16", "1817-07-18", "England"),
    _author(2, "Leo Tolstoy", "1828-09-09", "1910-11-20", "Russia"),
    _author(3, "Mary Shelley", "1797-08-30", "1851-02-01", "England"),
    _author(4, "Franz Kafka", "1883-07-03", "1924-06-03", "Bohemia"),
    _author(5, "Virginia Woolf", "1882-01-25", "1941-03-28", "England"),
]
_BOOKS = [
    ("Sense and Sensibility", 1, "1811-10-30", 409, "English"),
    ("Pride and Prejudice", 1, "1813-01-28", 432, "English"),
    ("Mansfield Park", 1, "1814-07-09", 480, "English"),
    ("Emma", 1, "1815-12-23", 474, "English"),
    ("Northanger Abbey", 1, "1817-12-20", 254, "English"),
    ("Persuasion", 1, "1817-12-20", 249, "English"),
    ("War and Peace", 2, "1869-01-01", 1225, "Russian"),
    ("Anna Karenina", 2, "1878-01-01", 864, "Russian"),
    ("The Death of Ivan Ilyich", 2, "1886-01-01", None, "Russian"),
    ("Frankenstein", 3, "1818-01-01", 280, "English"),
    ("The Last Man", 3, "1826-02-01", 479, "English"),
    ("The Trial", 4, "1925-04-26", 255, "German"),
    ("The Castle", 4, "1926-01-01", 352, "German"),
    ("Mrs Dalloway", 5, "1925-05-14", 194, "English"),
    ("To the Lighthouse", 5, "1927-05-05", 209, "English"),
    ("Orlando", 5, "1928-10-11", 329, "English"),
]
BOOKS = [
    Book(book_id=100 + i, title=t, author_id=a, published=dt.date.fromisoformat(d), pages=p, language=lang)
    for i, (t, a, d, p, lang) in enumerate(_BOOKS)
]


@dataclass
class Faults:
    """What goes wrong. `busy`: so many requests are first refused with 429; `broken`: so many with 503."""

    busy: int = 0
    broken: int = 0
    renamed: dict[str, str] = field(default_factory=dict)  # fields of replies that have another name today
    seen: list[str] = field(default_factory=list)  # the paths and queries asked for


def make_app(faults: Faults) -> FastAPI:
    """Return the API; `faults` may be changed while it runs."""
    app = FastAPI(title="The Library", version="1.0", description="Books and who wrote them.")

    def allowed(given: Annotated[str, Depends(_key)]) -> None:
        if given != KEY:
            raise HTTPException(403, f"the key {given} is not known")

    @app.middleware("http")
    async def fail(request: Request, call_next: Any) -> Response:
        if request.url.path.startswith("/v1/"):
            faults.seen.append(request.url.path + (f"?{request.url.query}" if request.url.query else ""))
            if faults.busy:
                faults.busy -= 1
                return JSONResponse({"detail": "slow down"}, 429, {"Retry-After": "0"})
            if faults.broken:
                faults.broken -= 1
                return JSONResponse({"detail": "try later"}, 503)
        return await call_next(request)  # type: ignore[no-any-return]

    def changed(found: BaseModel) -> Any:
        text = found.model_dump_json()
        for old, new in faults.renamed.items():
            text = text.replace(f'"{old}":', f'"{new}":')
        return Response(text, media_type="application/json")

    def cut(found: list[Any], page: int, per_page: int) -> list[Any]:
        return found[(page - 1) * per_page : page * per_page]

    @app.get("/v1/authors", response_model=AuthorPage, dependencies=[Depends(allowed)])
    def search_authors(q: str = "", page: Page = 1, per_page: PerPage = 5) -> Any:
        """Search authors by name."""
        found = [a for a in AUTHORS if q.lower() in a.name.lower()]
        return changed(AuthorPage(items=cut(found, page, per_page), total=len(found)))

    @app.get("/v1/authors/{author_id}", response_model=Author, dependencies=[Depends(allowed)])
    def get_author(author_id: int) -> Any:
        """One author."""
        for author in AUTHORS:
            if author.author_id == author_id:
                return changed(author)
        raise HTTPException(404, "no such author")

    @app.get("/v1/authors/{author_id}/books", response_model=BookPage, dependencies=[Depends(allowed)])
    def books_of_author(author_id: int, page: Page = 1, per_page: PerPage = 5) -> Any:
        """All books of an author."""
        found = [b for b in BOOKS if b.author_id == author_id]
        return changed(BookPage(items=cut(found, page, per_page), total=len(found)))

    @app.get("/v1/books", response_model=BookPage, dependencies=[Depends(allowed)])
    def search_books(q: str = "", page: Page = 1, per_page: PerPage = 5) -> Any:
        """Search books by title."""
        found = [b for b in BOOKS if q.lower() in b.title.lower()]
        return changed(BookPage(items=cut(found, page, per_page), total=len(found)))

    @app.get("/v1/books/{book_id}", response_model=Book, dependencies=[Depends(allowed)])
    def get_book(book_id: int) -> Any:
        """One book."""
        for book in BOOKS:
            if book.book_id == book_id:
                return changed(book)
        raise HTTPException(404, "no such book")

    return app


@contextmanager
def running(app: FastAPI) -> Iterator[str]:
    """The address of `app` while the block runs."""
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="error", lifespan="off", ws="none"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    limit = time.monotonic() + 10
    while not server.started and time.monotonic() < limit:
        time.sleep(0.01)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join(10)

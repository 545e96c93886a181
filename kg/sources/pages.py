"""Replies that come in pages, joined into one. It ends, whatever the API does: see `joined`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from kg.domain import Fetch, Pages
from kg.errors import BadReply, SourceError

_STEP = re.compile(r"[\w@:-]+")


@dataclass(frozen=True)
class Page:
    """One page as it came, and the link to the next in its headers, if there is one."""

    body: Any
    link: str = ""


# More arguments, and the link that replaces address and arguments ("": none) -> the page; None: not found.
Ask = Callable[[Mapping[str, Any], str], Page | None]


def joined(fetch: Fetch, pages: Pages, ask: Ask) -> Any:
    """Return the first page with its list continued by those of all others; None if nothing was found.

    Numbered pages end with one that is empty, not found, or shorter than the first; or with the row that `total`
    names. A search ends where it is cut off. Raises BadReply for a page, cursor or link that comes again, and for
    an empty page that is not the last; SourceError after `pages.max` pages.
    """
    args: dict[str, Any] = dict([pages.size] if pages.size else [])
    turn = _Turn(fetch, pages)
    first: Page | None = None
    items: list[Any] = []
    for number in range(1, pages.max + 1):
        page = ask(args | turn.args, turn.link)
        if page is None:
            break
        first = first or page
        rows = _list_at(page.body, pages, fetch)
        items += rows
        if (fetch.search and len(items) >= fetch.search) or not turn.go_on(page, rows, number, len(items)):
            break
    else:
        raise SourceError(
            f"there are more than {pages.max:,} pages; pages.max of {fetch.name} allows more.", endpoint=fetch.endpoint
        )
    return None if first is None else _with_list(first.body, pages.items, items)


class _Turn:
    """What the next page is asked with: `args`, or the address `link`."""

    def __init__(self, fetch: Fetch, pages: Pages):
        self.fetch, self.pages, self.link = fetch, pages, ""
        counter = pages.page or pages.offset
        self.args: dict[str, Any] = {counter: pages.first} if counter else {}
        self._seen: set[str] = set()
        self._rows: list[Any] = []
        self._length = 0  # of the first page

    def go_on(self, page: Page, rows: list[Any], number: int, so_far: int) -> bool:
        """Whether there is a next page after page `number`; from then on it is the one that is asked for."""
        if self.pages.page or self.pages.offset:
            return self._count_on(page, rows, number, so_far)
        if self.pages.next == "link":
            mark: Any = page.link
        else:
            mark = value_at(page.body, self.pages.next or self.pages.begins)
        if mark in (None, "", False):
            return False
        what = "cursor" if self.pages.cursor else "link"
        if isinstance(mark, (dict, list)) or (what == "link" and not isinstance(mark, str)):
            raise self._bad(f"the {what} to the next page is not a text")
        if str(mark) in self._seen:
            raise self._bad(f"the {what} to the next page came before: page {number} leads back")
        if not rows:
            raise self._bad(f"page {number} is empty, and yet promises another", self.pages.items)
        self._seen.add(str(mark))
        if what == "cursor":
            self.args = {self.pages.cursor: mark}
        else:
            self.args, self.link = {}, mark
        return True

    def _count_on(self, page: Page, rows: list[Any], number: int, so_far: int) -> bool:
        total = value_at(page.body, self.pages.total) if self.pages.total else None
        left = total - so_far if type(total) is int else None
        if left is not None and left <= 0:
            return False
        if not rows:
            if left is None:
                return False
            raise self._bad(f"page {number} is empty, and yet {left:,} more are promised", self.pages.items)
        if rows == self._rows:
            counter = self.pages.page or self.pages.offset
            raise self._bad(f"page {number} is the same as the one before; does '{counter}' count?", self.pages.items)
        self._length = self._length or len(rows)
        if left is None and len(rows) < self._length:
            return False
        self._rows = rows
        self.args = {self.pages.page: self.pages.first + number} if self.pages.page else {self.pages.offset: so_far}
        return True

    def _bad(self, message: str, path: str = "") -> BadReply:
        path = path or self.pages.next or self.pages.begins
        return BadReply(message, endpoint=self.fetch.endpoint, path="$" if path == "link" else path)


def value_at(body: Any, path: str) -> Any:
    """Return what is at a path without [*]; None where it leads nowhere.

    >>> value_at({"meta": {"next": 7}}, "$.meta.next")
    7
    """
    for name in _STEP.findall(path.removeprefix("$")):
        body = body.get(name) if isinstance(body, dict) else None
    return body


def check_rows(body: Any, path: str, endpoint: str) -> None:
    """Raise BadReply if a reply has no field where its rows should be: then it has another shape than was declared.

    A field that is null, or in something that is, has no rows; so has an empty object.
    """
    walked = "$"
    for name in _STEP.findall(path.partition("[")[0].removeprefix("$")):
        if not isinstance(body, dict) or not body:
            return  # what else it is, the reader of the rows says
        walked += f".{name}"
        if name not in body:
            raise BadReply(f"the reply has no '{name}', but {listed(body)}", endpoint=endpoint, path=walked)
        body = body[name]


def listed(fields: Iterable[str], most: int = 8) -> str:
    """Return the names of a few fields.

    >>> listed({"a": 1, "b": 2})
    'a, b'
    """
    names = [str(f)[:40] for f in fields]
    return ", ".join(names[:most]) + (", ..." if len(names) > most else "")


def _list_at(body: Any, pages: Pages, fetch: Fetch) -> list[Any]:
    if pages.total and value_at(body, pages.total) == 0:
        return []  # some leave the list out where it is empty
    check_rows(body, pages.items, fetch.endpoint)
    rows = value_at(body, pages.items)
    if rows is None:
        return []
    if not isinstance(rows, list):
        raise BadReply("a list was expected, something else came", endpoint=fetch.endpoint, path=pages.items or "$")
    return rows


def _with_list(body: Any, path: str, items: list[Any]) -> Any:
    """A copy of `body` that has `items` at `path`, if it had a list there."""
    names = _STEP.findall(path.removeprefix("$"))
    if value_at(body, path) is None:
        return body
    for depth in range(len(names), 0, -1):
        parent = value_at(body, ".".join(names[: depth - 1]))
        items = {**parent, names[depth - 1]: items}  # type: ignore[assignment]
    return items

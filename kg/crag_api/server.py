"""The same API as a server, in the wire format of CRAG's: POST {"query": ...}, get {"result": ...}.

Beside CRAG's endpoints it has two of our own below /kgq, so that a client knows all names, as it would in process.

FastAPI and uvicorn are imported when they are used: answering questions does not need them (extra `serve`).
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from kg.crag_api import CragApi
from kg.crag_api.endpoints import Endpoint
from kg.errors import KgError, SourceError

if TYPE_CHECKING:
    from fastapi import FastAPI, Response

PAGE = 20_000  # names in one reply: about a megabyte
_NEEDED = 'Serving needs FastAPI and uvicorn: pip install "kgq[serve]".'


def make_app(base: Path) -> FastAPI:
    """Return the ASGI app over the data directory `base`; /docs describes the endpoints.

    What is not found is a 200 with null or an empty list, as in the original. An error is {"detail": sentence}.
    Raises KgError if FastAPI is not installed.
    """
    try:
        from fastapi import FastAPI
    except ImportError as e:
        raise KgError(_NEEDED) from e

    api = CragApi(base)
    app = FastAPI(title="CRAG API", description="CRAG's mock API over a data directory, served by kgq.")

    @app.get("/")
    def root() -> dict[str, str]:
        return {"message": "The CRAG API service is running"}

    for endpoint in api.endpoints.values():
        app.add_api_route(
            endpoint.path,
            _handler(api, endpoint),
            methods=["POST"],
            summary=endpoint.path.rpartition("/")[2].replace("_", " ").capitalize(),
            description=endpoint.about,
            response_description='{"result": ...}',
            response_model=None,
        )
    _add_lists(app, api)
    return app


def serve(base: Path, host: str, port: int) -> None:
    """Serve until interrupted. Raises KgError if FastAPI or uvicorn is not installed."""
    try:
        import uvicorn
    except ImportError as e:
        raise KgError(_NEEDED) from e

    uvicorn.run(make_app(base), host=host, port=port)


def _handler(api: CragApi, endpoint: Endpoint) -> Any:
    from pydantic import BaseModel, Field, create_model

    if not endpoint.params:  # CRAG's client then sends no body at all
        return lambda: _reply(lambda: api.call(endpoint.path, {}))
    fields: dict[str, Any] = {}
    for name, param in endpoint.params.items():
        optional = param.type == (str | None)
        fields[name] = (param.type, Field(None if optional else ..., examples=[param.example]))
    model = create_model(endpoint.path.rpartition("/")[2], **fields)

    def handle(body: BaseModel) -> Any:  # a plain function: FastAPI runs it in a thread
        return _reply(lambda: api.call(endpoint.path, body.model_dump()))

    handle.__annotations__["body"] = model
    return handle


def _add_lists(app: FastAPI, api: CragApi) -> None:
    from fastapi import Query

    listed: dict[str, list[tuple[str, Any, float]]] = {}

    def page(table: str, start: int) -> list[tuple[str, Any, float]]:
        names = listed.get(table) or [
            # a file may hold a number that JSON cannot say
            (text, key, weight if math.isfinite(weight) else 0.0)
            for text, key, weight in api.names(table)
            if isinstance(key, (int, str))
        ]
        if names:
            listed[table] = names
        return names[start : start + PAGE]

    @app.get("/kgq/fingerprint", response_description='{"result": text}', response_model=None)
    def fingerprint() -> Any:
        """A text that changes when the data do."""
        return _reply(api.fingerprint)

    @app.get("/kgq/names/{table}", response_description='{"result": [[name, key, weight], ...]}', response_model=None)
    def names(table: str, start: int = Query(0, ge=0)) -> Any:
        """The names of a table from number `start` on, some at a time; an empty list after the last."""
        return _reply(lambda: page(table, start))


def _reply(result: Callable[[], Any]) -> Response:
    from fastapi import Response

    def written(content: dict[str, Any], status: int) -> Response:
        return Response(_encoded(content), status, media_type="application/json")

    try:
        return written({"result": result()}, 200)
    except SourceError as e:
        return written({"detail": str(e).removeprefix(f"{e.endpoint}: ")}, 500 if e.status is None else e.status)


def _encoded(content: dict[str, Any]) -> bytes:
    try:
        return orjson.dumps(content)
    except TypeError:
        # halves of surrogate pairs, which real files contain, and numbers of more than 64 bits
        return json.dumps(content, separators=(",", ":"), allow_nan=False).encode()

"""The same API as a server, in the wire format of CRAG's: POST {"query": ...}, get {"result": ...}.

FastAPI and uvicorn are imported when they are used: answering questions does not need them (extra `serve`).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kg.crag_api import CragApi
from kg.crag_api.endpoints import Endpoint
from kg.errors import KgError, SourceError

if TYPE_CHECKING:
    from fastapi import FastAPI

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
    return app


def serve(base: Path, host: str, port: int) -> None:
    """Serve until interrupted. Raises KgError if FastAPI or uvicorn is not installed."""
    try:
        import uvicorn
    except ImportError as e:
        raise KgError(_NEEDED) from e

    uvicorn.run(make_app(base), host=host, port=port)


def _handler(api: CragApi, endpoint: Endpoint) -> Any:
    from fastapi import Response
    from pydantic import BaseModel, Field, create_model

    fields: dict[str, Any] = {}
    for name, param in endpoint.params.items():
        optional = param.type == (str | None)
        fields[name] = (param.type, Field(None if optional else ..., examples=[param.example]))
    model = create_model(endpoint.path.rpartition("/")[2], **fields)

    def reply(content: dict[str, Any], status: int) -> Response:
        # ASCII escapes also carry the halves of surrogate pairs that real files contain.
        return Response(json.dumps(content, allow_nan=False), status, media_type="application/json")

    def handle(body: BaseModel) -> Response:  # a plain function: FastAPI runs it in a thread
        try:
            return reply({"result": api.call(endpoint.path, body.model_dump())}, 200)
        except SourceError as e:
            status = e.status if e.status is not None else 500
            return reply({"detail": str(e).removeprefix(f"{e.endpoint}: ")}, status)

    handle.__annotations__["body"] = model
    return handle

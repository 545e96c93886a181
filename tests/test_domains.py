"""The built-in domains against the API they are about: every endpoint is used, and answers as it is declared."""

from __future__ import annotations

import pytest

from kg import shapes
from kg.crag_api import CragApi
from kg.domain import Domain, Fetch
from kg.load import BUILT_IN, load_domains
from kg.sources import SAMPLE

API = CragApi(SAMPLE)
DOMAINS = load_domains([BUILT_IN])
FETCHES = [
    pytest.param(domain, fetch, id=f"{domain.name}-{fetch.name}")
    for domain in DOMAINS.values()
    for fetch in domain.fetches
]


@pytest.mark.parametrize("endpoint", sorted(API.endpoints))
def test_every_endpoint_fills_some_table(endpoint: str) -> None:
    asked = {fetch.endpoint for domain in DOMAINS.values() for fetch in domain.fetches}
    assert endpoint in asked


@pytest.mark.parametrize("domain, fetch", FETCHES)
def test_replies_of_the_sample_are_as_declared(domain: Domain, fetch: Fetch) -> None:
    params = API.endpoints[fetch.endpoint].params
    wanted = {arg: params[arg].example for arg, _ in fetch.args} | dict(fetch.fixed)
    args = {k: v[0] if k in fetch.as_list else v for k, v in wanted.items()}
    reply = API.call(fetch.endpoint, wanted)
    found = shapes.objects(reply, fetch, domain, args)
    stored = shapes.columns(found, [1] * len(found), fetch, domain)
    for fill in domain.object_by_name[fetch.gives].fills:
        rows = stored[f"{fill.table}__{fetch.gives}"]
        assert len(rows) == len(domain.table(fill.table).columns) + 1
        assert len({len(column) for column in rows}) == 1

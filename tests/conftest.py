"""What holds for every test: no settings from outside and nothing written to the home directory.

Sockets other than loopback are refused by pytest-socket (options in pyproject.toml).
"""

from __future__ import annotations

import gc
import os
from pathlib import Path

import pytest

os.environ["HF_HUB_OFFLINE"] = "1"  # huggingface_hub reads it when it is imported, before any fixture runs

_OURS = ("KGQ_", "XDG_")
_OTHERS = ("KG_BASE_DIRECTORY", "CRAG_SERVER", "OPENAI_API_KEY", "OPENAI_BASE_URL")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="rewrite the expected answers in tests/golden/")


def pytest_sessionfinish() -> None:
    # connections that only a reference cycle holds would be reported as leaks when the process ends
    gc.collect()


@pytest.fixture(autouse=True)
def home(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """The home directory of the test; caches and configuration land below it."""
    for name in list(os.environ):
        if name.startswith(_OURS) or name in _OTHERS:
            monkeypatch.delenv(name)
    if "encoder" not in request.keywords:
        # seconds to load, and never needed for the right answer
        monkeypatch.setattr("engine.translate.encoder.installed", lambda: False)
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("KGQ_CACHE_DIR", str(home / "cache"))
    for name in ("CACHE", "CONFIG", "DATA", "STATE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(home / name.lower()))
    return home

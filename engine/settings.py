"""Everything that can be set, in one frozen value made from the environment and passed down."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, get_type_hints

import platformdirs

from kg.errors import KgError


class SettingsError(KgError):
    """A setting has a value that cannot be used."""


@dataclass(frozen=True)
class Settings:
    """How a session works. Each field can be given as an environment variable; `help_of` tells what it does."""

    base: Path | None = None
    server: str = ""
    store: Path | None = None
    cache: Path = Path(platformdirs.user_cache_dir("kgq"))
    max_calls: int = 20_000
    seconds: float = 30.0
    encoder: bool = True
    min_confidence: float = 0.3
    min_covered: float = 0.6
    min_invalid: float = 0.5
    schemas: Path | None = None

    @classmethod
    def from_env(cls, env: Mapping[str, str] = os.environ) -> Settings:
        """Return the settings that `env` gives. Raises SettingsError naming the variable."""
        kinds = get_type_hints(cls)
        given: dict[str, Any] = {}
        for f in fields(cls):
            text = env.get(VARIABLES[f.name], "")
            if text:
                given[f.name] = _read(VARIABLES[f.name], text, kinds[f.name])
        own = Path(platformdirs.user_config_dir("kgq")) / "schemas"
        if any(own.glob("*.y*ml")):
            given.setdefault("schemas", own)
        return cls(**given)


# field -> (environment variable, what it does)
_ABOUT = {
    "base": ("KG_BASE_DIRECTORY", "directory in the layout of CRAG's mock API; the bundled sample if not set"),
    "server": ("CRAG_SERVER", "base URL of a server of the mock API; asked instead of files"),
    "store": ("KGQ_STORE", "DuckDB file in which fetched tables are kept; in memory if not set"),
    "cache": ("KGQ_CACHE_DIR", "where indexes of names and embeddings are kept"),
    "max_calls": ("KGQ_MAX_CALLS", "API calls one question may make"),
    "seconds": ("KGQ_SECONDS", "seconds one question may take"),
    "encoder": ("KGQ_ENCODER", "whether the sentence encoder may be used (yes or no)"),
    "min_confidence": ("KGQ_MIN_CONFIDENCE", 'confidence under which the answer is "i don\'t know" (0 to 1)'),
    "min_covered": ("KGQ_MIN_COVERED", "share of the question's words that a program must account for (0 to 1)"),
    "min_invalid": ("KGQ_MIN_INVALID", "confidence under which a question is not called invalid (0 to 1)"),
    "schemas": (
        "KGQ_SCHEMAS",
        "directory with domain files of your own; if not set, schemas/ in your configuration",
    ),
}
VARIABLES = {name: variable for name, (variable, _) in _ABOUT.items()}


def help_of(name: str) -> str:
    """What a setting does, in a line."""
    return _ABOUT[name][1]


def _read(variable: str, text: str, kind: Any) -> Any:
    if kind in (int, float):
        try:
            number = kind(text)
        except ValueError as e:
            raise SettingsError(f"{variable} must be a number, not '{text}'.") from e
        if not math.isfinite(number):
            raise SettingsError(f"{variable} must be a number, not '{text}'.")
        if number < 0:
            raise SettingsError(f"{variable} must not be negative.")
        return number
    if kind is bool:
        if text.lower() not in ("yes", "no", "true", "false", "1", "0"):
            raise SettingsError(f"{variable} must be yes or no, not '{text}'.")
        return text.lower() in ("yes", "true", "1")
    if kind is str:
        return text
    return Path(text)

"""Settings from the environment."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from engine.settings import VARIABLES, Settings, SettingsError, help_of


def test_every_setting_has_a_variable_and_a_line_of_help() -> None:
    assert set(VARIABLES) == {f.name for f in fields(Settings)}
    assert len(set(VARIABLES.values())) == len(VARIABLES)
    assert all(help_of(name) for name in VARIABLES)


@pytest.mark.parametrize(
    "variable, text, field, value",
    [
        ("KG_BASE_DIRECTORY", "data", "base", Path("data")),
        ("CRAG_SERVER", "http://127.0.0.1:8000", "server", "http://127.0.0.1:8000"),
        ("KGQ_MAX_CALLS", "5", "max_calls", 5),
        ("KGQ_SECONDS", "2.5", "seconds", 2.5),
        ("KGQ_ENCODER", "no", "encoder", False),
        ("KGQ_STORE", "", "store", None),
    ],
)
def test_the_environment_sets(variable: str, text: str, field: str, value: object) -> None:
    assert getattr(Settings.from_env({variable: text}), field) == value


@pytest.mark.parametrize(
    "variable, text", [("KGQ_MAX_CALLS", "many"), ("KGQ_SECONDS", "-1"), ("KGQ_ENCODER", "perhaps")]
)
def test_a_bad_value_names_its_variable(variable: str, text: str) -> None:
    with pytest.raises(SettingsError, match=variable):
        Settings.from_env({variable: text})

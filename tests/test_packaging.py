"""What a user gets from `pip install kgq`: the wheel alone, with the core dependencies and none of ours."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = {"kg", "schemas", "sql_templates", "web_rag", "engine"}
CONFIG = tomllib.loads((ROOT / "pyproject.toml").read_text())


def run(*command: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(c) for c in command], cwd=cwd, capture_output=True, text=True, timeout=500, check=False)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("dist")
    done = run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", out, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = out.glob("kgq-*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bin directory of a fresh environment that has the wheel and what it depends on, and nothing else."""
    env = tmp_path_factory.mktemp("alone") / "env"
    done = run(sys.executable, "-m", "venv", "--without-pip", env, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    pip = (sys.executable, "-m", "pip", "--python", env / "bin" / "python", "--disable-pip-version-check")
    done = run(*pip, "install", "--quiet", "--constraint", ROOT / "constraints.txt", wheel, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return env / "bin"


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A working directory whose own files have the names of our packages."""
    (tmp_path / "engine.py").write_text("raise SystemExit('the stray engine.py was imported')\n")
    (tmp_path / "schemas").mkdir()
    (tmp_path / "schemas" / "movie.yaml").write_text("nonsense: [\n")
    return tmp_path


@pytest.mark.slow
def test_the_wheel_holds_the_five_packages_with_their_data_and_no_tests(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert {n.split("/")[0] for n in names if ".dist-info/" not in n} == PACKAGES
    assert {"schemas/movie.yaml", "schemas/__init__.py", "sql_templates/__init__.py"} <= set(names)
    assert [n for n in names if n.endswith("licenses/LICENSE")]


@pytest.mark.slow
def test_a_question_is_answered_by_the_wheel_alone(installed, hostile):
    done = run(installed / "kgq", "ask", "who directed titanic?", cwd=hostile)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "james cameron" in done.stdout.lower()


@pytest.mark.slow
def test_the_core_does_not_bring_torch_along(installed, hostile):
    done = run(installed / "python", "-c", "import importlib.util as u; print(u.find_spec('torch'))", cwd=hostile)
    assert done.stdout.strip() == "None", done.stderr


@pytest.mark.parametrize("module", ["kg", "engine", "engine.cli", "web_rag"])
def test_torch_is_not_loaded_by_importing(module, tmp_path):
    heavy = "{'torch', 'transformers', 'sentence_transformers', 'vllm'}"
    done = run(sys.executable, "-c", f"import sys, {module}; print({heavy} & set(sys.modules))", cwd=tmp_path)
    assert (done.returncode, done.stdout.strip()) == (0, "set()"), done.stderr


def test_every_package_is_shipped_and_layered():
    here = {p.parent.name for p in ROOT.glob("*/__init__.py")}
    assert here - {"tests", "benchmarks"} == PACKAGES
    assert set(CONFIG["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]) == PACKAGES
    assert set(CONFIG["tool"]["importlinter"]["root_packages"]) == PACKAGES


def test_constraints_cover_every_dependency_that_is_installed_for_the_tests():
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pinned = {line.split("==")[0].lower().replace("_", "-") for line in lines if not line.startswith("#")}
    extras = CONFIG["project"]["optional-dependencies"]
    wanted = [*CONFIG["project"]["dependencies"], *extras["encoder"], *extras["serve"], *extras["dev"]]
    assert {w.split(">=")[0].lower().replace("_", "-") for w in wanted} - pinned == set()


@pytest.mark.skipif(os.name == "nt", reason="make is a Unix tool")
def test_make_help_names_the_targets():
    shown = run("make", "help", cwd=ROOT).stdout
    assert {"ask", "test", "bench", "clean", "help"} <= {line.split()[0] for line in shown.splitlines()}

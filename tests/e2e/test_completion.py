"""Shell completion and the manual page: they are read by the shells and by man, and know what the program knows."""
import re
import shutil
import subprocess

import pytest


def need(program):
    return shutil.which(program) or pytest.skip(f"{program} is not installed")


def bash_completes(script, *words):
    """What bash offers for the last of the words."""
    line = " ".join(words)
    code = f"""source {script}
COMP_WORDS=({' '.join(repr(word) for word in words)}); COMP_CWORD={len(words) - 1}; COMP_LINE={line!r}
_adit; printf '%s\\n' "${{COMPREPLY[@]}}" """
    done = subprocess.run(["bash", "--norc", "-c", code], capture_output=True, text=True, check=True, timeout=30)
    assert done.stderr == ""
    return done.stdout.split("\n")[:-1]


@pytest.fixture
def bash_script(adit, tmp_path):
    need("bash")
    path = tmp_path / "adit.bash"
    path.write_bytes(adit.ok("completion", "bash"))
    return path


def test_bash_completes_commands_flags_and_values(bash_script, tmp_path):
    assert bash_completes(bash_script, "adit", "tok") == ["tokenize"]
    assert bash_completes(bash_script, "adit", "bench", "ke") == ["kernels"]
    assert bash_completes(bash_script, "adit", "run", "m.gguf", "--max-t") == ["--max-tokens"]
    assert bash_completes(bash_script, "adit", "bench", "kernels", "--ty") == ["--type"]
    assert bash_completes(bash_script, "adit", "run", "--activation-terms", "o") == ["one", "outliers"]
    (tmp_path / "model.gguf").touch()
    (tmp_path / "template.jinja").touch()
    assert bash_completes(bash_script, "adit", "run", f"{tmp_path}/mo") == [f"{tmp_path}/model.gguf"]
    assert bash_completes(bash_script, "adit", "serve", "--chat-template", f"{tmp_path}/te") == [
        f"{tmp_path}/template.jinja"]


def test_bash_offers_every_flag_of_help(adit, bash_script):
    for command in ("run", "serve", "convert", "embed"):
        offered = set(bash_completes(bash_script, "adit", command, "--"))
        for word in adit.ok(command, "--help").decode().replace(",", " ").replace("=", " ").split():
            if word.startswith("--") and len(word) > 2 and word.strip("-").replace("-", "").isalnum():
                assert word in offered, word


def test_zsh_takes_its_script(adit, tmp_path):
    zsh = need("zsh")
    (tmp_path / "_adit").write_bytes(adit.ok("completion", "zsh"))
    code = f"fpath=({tmp_path} $fpath); autoload -U compinit; compinit -u -D; whence -w _adit; zsh -n {tmp_path}/_adit"
    done = subprocess.run([zsh, "-f", "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert "_adit: function" in done.stdout


def test_fish_completes_commands_flags_and_values(adit, tmp_path):
    fish = need("fish")
    script = tmp_path / "adit.fish"
    script.write_bytes(adit.ok("completion", "fish"))

    def offers(line):
        done = subprocess.run([fish, "--no-config", "-c", f"source {script}; complete -C '{line}'"], capture_output=True,
                              text=True, timeout=60, env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"})
        assert (done.returncode, done.stderr) == (0, "")
        return [row.split("\t")[0] for row in done.stdout.splitlines()]

    assert offers("adit tok") == ["tokenize"]
    assert "--max-tokens" in offers("adit run m --max")
    assert offers("adit run --activation-terms tw") == ["two"]
    assert "kernels" in offers("adit bench ke")


def test_shells_that_are_not_known(adit):
    assert "SHELL" in adit.fails(2, "completion", "csh")
    assert "bash, zsh or fish" in adit.fails(2, "completion")


def test_the_manual_page_is_one(adit, tmp_path):
    groff = need("groff")
    page = tmp_path / "adit.1"
    page.write_bytes(adit.ok("manual"))
    done = subprocess.run([groff, "-man", "-Tutf8", "-ww", "-b", str(page)], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    plain = re.sub("\x1b\\[[0-9]*m|.\b", "", done.stdout)  # without bold, by colour or by striking twice
    for text in ("adit run MODEL [PROMPT]", "--max-tokens", "adit bench kernels", "EXIT STATUS"):
        assert text in plain

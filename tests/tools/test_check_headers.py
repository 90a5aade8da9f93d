"""tools/check_headers.py finds headers that lean on others, and compiles each with the flags of sources beside it."""
import json

import pytest

ALONE = "#include <vector>\ninline int Size(const std::vector<int>& v) { return static_cast<int>(v.size()); }\n"
LEANS = "inline int Size(const std::vector<int>& v) { return static_cast<int>(v.size()); }\n"
NEEDS_FLAG = "#ifndef WIDE\n#error needs -DWIDE\n#endif\n"


@pytest.fixture
def check(load_script, write_tree, monkeypatch, capsys):
    def run(files):
        root = write_tree(files | {"src/base/a.cc": "", "src/wide/b.cc": ""})
        script = load_script("tools/check_headers.py")
        monkeypatch.setattr(script, "ROOT", root)
        entries = [(f"{root}/src/base/a.cc", ""), (f"{root}/src/wide/b.cc", "-DWIDE ")]
        (root / "compile_commands.json").write_text(json.dumps([
            {"directory": str(root), "file": file,
             "command": f"c++ -std=c++20 -I{root}/src -I{root}/include {flags}-o a.o -c {file}"}
            for file, flags in entries]))
        code = script.main([str(root)])
        return code, capsys.readouterr().out

    return run


def test_headers_that_include_what_they_use_pass(check):
    code, out = check({"src/base/a.h": ALONE, "src/wide/b.h": NEEDS_FLAG, "include/adit/c.h": ALONE})
    assert (code, out) == (0, "headers: 3 compiled alone, 0 failed\n")


def test_a_header_that_leans_on_another_fails(check):
    code, out = check({"src/base/a.h": ALONE, "src/base/b.h": LEANS})
    assert code == 1
    assert out.startswith("src/base/b.h does not compile alone:\n") and "vector" in out
    assert out.endswith("headers: 2 compiled alone, 1 failed\n")


def test_flags_of_one_folder_do_not_reach_another(check):
    code, out = check({"src/base/a.h": NEEDS_FLAG})
    assert code == 1 and "needs -DWIDE" in out

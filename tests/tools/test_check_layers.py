"""tools/check_layers.py passes a tree that keeps the rules and fails one for each rule that is broken."""
import pytest

GOOD = {
    "docs/layers.txt": "# folder: may include\nbase:\nkernels: base\nnn: base kernels\n",
    "include/adit/status.h": '#include <string>\n#include <stdint.h>\n#include "adit/version.h"\n',
    "src/base/env.cc": '#include "base/env.h"\n#include <cstdlib>\nconst char* v = std::getenv("X");\n',
    "src/base/env.h": '#include "adit/status.h"\n',
    "src/base/env_test.cc": '#include "nn/linear.h"\nauto v = getenv("SEED");\n',
    "src/kernels/avx2/gemm.cc": '#include <immintrin.h>\n#include "kernels/rows_internal.h"\n#ifdef __AVX2__\n#endif\n',
    "src/kernels/rows_internal.h": "// Not getenv(\"X\"), only words about it.\n",
    "src/nn/linear.h": '#include <nlohmann/json_fwd.hpp>\n#include "base/env.h"\n#include "kernels/table.h"\n',
    "src/nn/linear.cc": '#include "nn/linear.h"\n#include <nlohmann/json.hpp>\nconst char* s = "getenv(";\n',
}

# name: (files that replace or join those of GOOD, the line that must be reported, words in it)
BROKEN = {
    "folder above": ({"src/base/a.cc": '\n#include "nn/linear.h"\n'}, "src/base/a.cc:2:", "base may include nothing"),
    "folder beside": ({"src/kernels/a.h": '#  include "nn/linear.h"\n'}, "src/kernels/a.h:1:", "may include base"),
    "no row": ({"src/helpers/a.cc": "int x;\n"}, "src/helpers:1:", "no row"),
    "upwards path": ({"src/nn/a.cc": '#include "../base/env.h"\n'}, "src/nn/a.cc:1:", "rooted at src/"),
    "upwards path in a test": ({"src/nn/a_test.cc": '#include "../base/env.h"\n'}, "src/nn/a_test.cc:1:", "rooted"),
    "bare name": ({"src/nn/a.cc": '#include "linear.h"\n'}, "src/nn/a.cc:1:", "rooted at src/"),
    "unknown folder": ({"src/nn/a.cc": '#include "tests/a.h"\n'}, "src/nn/a.cc:1:", "rooted at src/"),
    "internal header": ({"src/nn/a.cc": '#include "kernels/rows_internal.h"\n'}, "src/nn/a.cc:1:", "only src/kernels"),
    "getenv": ({"src/nn/a.cc": 'auto x = std::getenv ("HOME");\n'}, "src/nn/a.cc:1:", "getenv"),
    "secure_getenv": ({"src/base/a.cc": 'auto x = secure_getenv("HOME");\n'}, "src/base/a.cc:1:", "getenv"),
    "intrinsics": ({"src/kernels/ref/a.cc": "#include <immintrin.h>\n"}, "src/kernels/ref/a.cc:1:", "intrinsics"),
    "simde": ({"src/base/a.cc": "#include <simde/x86/avx2.h>\n"}, "src/base/a.cc:1:", "intrinsics"),
    "instruction-set macro": ({"src/nn/a.cc": "#if defined(__AVX512F__)\n#endif\n"}, "src/nn/a.cc:1:", "__AVX512F__"),
    "heavy header": ({"src/nn/a.h": "#include <nlohmann/json.hpp>\n"}, "src/nn/a.h:1:", "too heavy"),
    "public header, third party": ({"include/adit/a.h": "#include <fmt/core.h>\n"}, "include/adit/a.h:1:", "std"),
    "public header, inner": ({"include/adit/a.h": '#include "base/env.h"\n'}, "include/adit/a.h:1:", "std"),
    "cycle": ({"docs/layers.txt": "base: nn\nkernels: base\nnn: base kernels\n"}, "docs/layers.txt:1:", "no row above"),
    "double row": ({"docs/layers.txt": GOOD["docs/layers.txt"] + "base:\n"}, "docs/layers.txt:5:", "expected one row"),
}


def run(load_script, root, capsys):
    code = load_script("tools/check_layers.py").main([str(root)])
    return code, capsys.readouterr().out.splitlines()


def test_good_tree_passes(load_script, write_tree, capsys):
    code, lines = run(load_script, write_tree(GOOD), capsys)
    assert (code, lines) == (0, ["layers: 3 rows, 0 breaches"])


@pytest.mark.parametrize("name", BROKEN)
def test_broken_tree_fails_and_names_the_place(name, load_script, write_tree, capsys):
    files, place, words = BROKEN[name]
    code, lines = run(load_script, write_tree(GOOD | files), capsys)
    assert code == 1
    assert len(lines) == 2 and lines[0].startswith(place) and words in lines[0], lines

"""tools/check_names.py passes a tree that keeps the rule and fails one for each way to break it."""
import pytest


def file(*lines):
    return "\n".join(["namespace adit {", "namespace {", "", *lines, "", "}  // namespace", "}  // namespace adit", ""])


GOOD = {
    "src/a/one.cc": file("using Json = nlohmann::json;", "constexpr int kMost = 4;", "int Twice(int x) {", "  const int kMost2 = x;", "}"),
    "src/a/two.cc": file("using Json = nlohmann::json;", "constexpr int kLeast = 4;", "float Twice(float value) { return 2 * value; }"),
    "src/a/one_test.cc": file("constexpr int kMost = 4;"),
    "src/b/one.cc": file("constexpr int kMost = 4;"),
    "src/kernels/avx2/a.cc": file("constexpr int kMost = 4;"),
    "src/kernels/avx2/b.cc": file("constexpr int kMost = 4;"),
}
BROKEN = {
    "constant": ("kMost", "constexpr float kMost = 1.0f;"),
    "array": ("kMost", "constexpr float kMost[] = {1.0f};"),
    "function": ("Twice", "int Twice(int y) { return y; }"),
    "type": ("Twice", "struct Twice {", "};"),
    "alias": ("Json", "using Json = int;"),
}


def run(load_script, root, capsys):
    code = load_script("tools/check_names.py").main([str(root)])
    return code, capsys.readouterr().out.splitlines()


def test_good_tree_passes(load_script, write_tree, capsys):
    assert run(load_script, write_tree(GOOD), capsys) == (0, ["names: 4 files, 0 clashes"])


@pytest.mark.parametrize("kind", BROKEN)
def test_a_name_that_stands_twice_is_told(kind, load_script, write_tree, capsys):
    name, *lines = BROKEN[kind]
    code, told = run(load_script, write_tree(GOOD | {"src/a/three.cc": file(*lines)}), capsys)
    assert code == 1 and len(told) == 2
    assert told[0].startswith(f"src/a: {name}: ") and "three.cc" in told[0]


def test_a_type_that_is_called_as_a_header_s_is_told(load_script, write_tree, capsys):
    tree = GOOD | {"src/a/one.h": "namespace adit {\nclass Row {\n};\nstruct Seen;\n}\n",
                   "src/a/three_test.cc": file("struct Row {", "};", "struct Seen {", "};"),
                   "src/b/three.cc": file("struct Row {", "};")}
    code, told = run(load_script, write_tree(tree), capsys)
    assert code == 1 and told[:-1] == ["src/a (tests): Row: three_test.cc, one.h"]

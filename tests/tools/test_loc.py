"""tools/loc.py fails a tree whose files are too long and leaves generated tables out."""


def run(load_script, root, capsys):
    code = load_script("tools/loc.py").main([str(root)])
    return code, capsys.readouterr().out


def tree(**line_counts):
    return {f"src/base/{name}.cc": "x\n" * count for name, count in line_counts.items()}


def test_short_files_pass(load_script, write_tree, capsys):
    code, out = run(load_script, write_tree(tree(a=10, b=20, c=450)), capsys)
    assert code == 0
    assert out.startswith("3 files, 480 lines, median 20, p90 450, largest 450\n")


def test_a_file_above_500_is_listed_but_passes(load_script, write_tree, capsys):
    files = tree(big=501) | tree(**{f"small{i}": 100 for i in range(10)})
    code, out = run(load_script, write_tree(files), capsys)
    assert code == 0
    assert "src/base/big.cc: 501 lines, above 500" in out


def test_a_file_above_1000_fails(load_script, write_tree, capsys):
    files = tree(big=1001) | tree(**{f"small{i}": 100 for i in range(10)})
    code, out = run(load_script, write_tree(files), capsys)
    assert code == 1
    assert "src/base/big.cc: 1001 lines, above 1000" in out


def test_many_long_files_fail(load_script, write_tree, capsys):
    code, out = run(load_script, write_tree(tree(a=451, b=460, c=10)), capsys)
    assert code == 1
    assert "the 90th percentile is 460 lines, above 450" in out


def test_generated_tables_do_not_count(load_script, write_tree, capsys):
    files = {"src/base/data/table.cc": "x\n" * 5000} | tree(a=10)
    code, out = run(load_script, write_tree(files), capsys)
    assert code == 0
    assert out.startswith("1 files, 10 lines")


def test_no_sources_is_an_error(load_script, tmp_path, capsys):
    assert run(load_script, tmp_path, capsys)[0] == 1

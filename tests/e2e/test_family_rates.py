"""Memory and speed of every family at the sizes of real models: two layers with a small vocabulary, or, with
ADIT_TEST_1B=1, the whole model of a billion parameters (minutes; 2 GB of the disk)."""
import os
import pathlib
import sys

import pytest

pytest.importorskip("gguf", reason="scripts/setup test installs it")
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import family_rates  # noqa: E402
import random_model  # noqa: E402

SIZE = "1b" if os.environ.get("ADIT_TEST_1B") else "cut"
# Far below what any machine does that is not busy with something else: 5 GB a second is a fifth of one channel of memory.
BYTES_PER_SECOND = 5e9
OTHER_SECONDS = 0.02  # what a token costs beside reading weights, threads that wait for a busy processor included
SLOWER = 20


@pytest.mark.parametrize("name", sorted(random_model.FAMILIES))
def test_memory_and_speed_are_sane(adit, name):
    (row,) = family_rates.rates(adit.binary, [name], SIZE)
    # The file's pages and the packed weights at most, and 64 MiB of program and threads.
    assert row.peak_mib < 2 * row.file_mib + row.other_mib + 64
    seconds_per_token = row.file_mib * 2 ** 20 / BYTES_PER_SECOND + OTHER_SECONDS
    if not random_model.FAMILIES[name].encoder:
        assert row.generated_rate > 1 / (SLOWER * seconds_per_token)
    assert row.prompt_rate > 1 / (SLOWER * seconds_per_token)

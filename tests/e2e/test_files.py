"""/v1/files and /v1/batches, with OpenAI's client."""
import json
import signal
import time

import pytest
from server import Server

openai = pytest.importorskip("openai")


def start(adit, smollm2, folder, *flags):
    return Server(adit, smollm2, folder, "--alias", "smol", "--kv-tokens", "8192", "--ctx", "1024", "--file-dir",
                  folder / "files", *flags)


@pytest.fixture(scope="module")
def server(adit, smollm2, tmp_path_factory):
    with start(adit, smollm2, tmp_path_factory.mktemp("files")) as started:
        yield started.wait_ready()


@pytest.fixture(scope="module")
def client(server):
    with openai.OpenAI(base_url=server.url + "/v1", api_key="none", max_retries=0) as made:
        yield made


def chat(custom_id, **fields):
    return {"custom_id": custom_id, "method": "POST", "url": "/v1/chat/completions",
            "body": {"model": "smol", "messages": [{"role": "user", "content": "Say " + custom_id}], "max_tokens": 4,
                     "temperature": 0, **fields}}


def jsonl(lines):
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def run(client, lines, **fields):
    file = client.files.create(file=("in.jsonl", jsonl(lines)), purpose="batch")
    return client.batches.create(input_file_id=file.id, endpoint="/v1/chat/completions", completion_window="24h",
                                 **fields)


def wait(client, batch, seconds=120):
    end = time.monotonic() + seconds
    while batch.status not in ("completed", "failed", "cancelled", "expired"):
        assert time.monotonic() < end, batch
        time.sleep(0.05)
        batch = client.batches.retrieve(batch.id)
    return batch


def results(client, file_id):
    return {line["custom_id"]: line for line in map(json.loads, client.files.content(file_id).text.splitlines())}


def test_files(client):
    file = client.files.create(file=("a b.jsonl", b"{}\n"), purpose="batch",
                               expires_after={"anchor": "created_at", "seconds": 7200})
    assert (file.bytes, file.filename, file.purpose, file.object) == (3, "a b.jsonl", "batch", "file")
    assert file.expires_at - file.created_at == 7200
    assert client.files.retrieve(file.id) == file
    assert client.files.content(file.id).text == "{}\n"
    other = client.files.create(file=b"x", purpose="batch")
    assert [f.id for f in client.files.list(limit=2)][:2] == [other.id, file.id]
    assert client.files.list(limit=1).has_more and client.files.list(purpose="batch_output").data == []
    assert client.files.delete(other.id).deleted
    with pytest.raises(openai.NotFoundError):
        client.files.retrieve(other.id)
    with pytest.raises(openai.BadRequestError, match="purpose"):
        client.files.create(file=b"x", purpose="assistants")


def test_a_batch(client, server):
    lines = [chat(f"line {i}") for i in range(12)] + [chat("bad", temperature=9), chat("other", model="gpt-4o")]
    batch = run(client, lines, metadata={"job": "nightly"})
    assert batch.status in ("validating", "in_progress") and batch.output_file_id is None
    done = wait(client, batch)
    assert done.status == "completed" and done.metadata == {"job": "nightly"}
    assert (done.request_counts.total, done.request_counts.completed, done.request_counts.failed) == (14, 12, 2)
    assert done.created_at <= done.in_progress_at <= done.completed_at
    good, bad = results(client, done.output_file_id), results(client, done.error_file_id)
    assert set(good) == {f"line {i}" for i in range(12)} and set(bad) == {"bad", "other"}
    assert bad["bad"]["response"]["body"]["error"]["param"] == "temperature"
    assert bad["other"]["response"]["status_code"] == 404
    alone = client.chat.completions.create(**lines[3]["body"])
    assert good["line 3"]["response"]["body"]["choices"][0]["message"]["content"] == alone.choices[0].message.content
    assert client.batches.list(limit=1).data[0].id == batch.id
    assert [f.purpose for f in client.files.list(purpose="batch_output")] == ["batch_output"] * 2


def test_a_batch_that_is_wrong(client):
    failed = wait(client, run(client, [chat("a"), chat("a"), {"custom_id": "b"}]))
    assert failed.status == "failed"
    assert [(fault.code, fault.line) for fault in failed.errors.data] == [("duplicate_custom_id", 2),
                                                                         ("missing_required_parameter", 3)]
    with pytest.raises(openai.BadRequestError, match="input_file_id|no file"):
        client.batches.create(input_file_id="file-x", endpoint="/v1/chat/completions", completion_window="24h")
    file = client.files.create(file=b"x", purpose="batch")
    with pytest.raises(openai.BadRequestError, match="/v1/embeddings"):
        client.batches.create(input_file_id=file.id, endpoint="/v1/embeddings", completion_window="24h")
    with pytest.raises(openai.NotFoundError):
        client.batches.retrieve("batch_x")


def test_interactive_requests_come_first(client, server):
    """While a client waits for its answers a batch rests."""
    batch = run(client, [chat(f"long {i}", max_tokens=300, ignore_eos=True) for i in range(40)])
    server.wait(lambda: server.json("GET", "/load")["running"] > 2, "the batch does not run")
    stats = []
    for _ in range(3):
        begin = server.metric("adit_generation_tokens_total")
        answer = client.chat.completions.create(model="smol", messages=[{"role": "user", "content": "Count."}],
                                                max_tokens=60, extra_body={"ignore_eos": True})
        assert answer.usage.completion_tokens == 60
        stats.append(server.metric("adit_generation_tokens_total") - begin)
    # Sixteen answers that went on beside it would be a thousand tokens.
    assert max(stats[1:]) < 60 + 200, stats
    assert client.batches.cancel(batch.id).status == "cancelling"
    cancelled = wait(client, batch)
    assert cancelled.status == "cancelled" and cancelled.request_counts.completed < 40
    server.wait(server.idle, "the batch still runs", 20)


def test_a_batch_survives_its_server(adit, smollm2, tmp_path):
    lines = [chat(f"{i}", max_tokens=6) for i in range(60)]
    with start(adit, smollm2, tmp_path) as server:
        server.wait_ready()
        client = openai.OpenAI(base_url=server.url + "/v1", api_key="none", max_retries=0)
        batch = run(client, lines)
        server.wait(lambda: client.batches.retrieve(batch.id).request_counts.completed >= 5, "it does not run")
        server.stop(signal.SIGKILL)
    (tmp_path / "port").unlink()
    with start(adit, smollm2, tmp_path) as server:
        server.wait_ready()
        client = openai.OpenAI(base_url=server.url + "/v1", api_key="none", max_retries=0)
        server.wait(lambda: client.batches.retrieve(batch.id).request_counts.completed >= 20, "it does not go on")
        assert server.stop() == 0
    (tmp_path / "port").unlink()
    with start(adit, smollm2, tmp_path) as server:
        server.wait_ready()
        client = openai.OpenAI(base_url=server.url + "/v1", api_key="none", max_retries=0)
        done = wait(client, client.batches.retrieve(batch.id))
        assert (done.status, done.request_counts.completed, done.error_file_id) == ("completed", 60, None)
        text = client.files.content(done.output_file_id).text
        assert sorted(json.loads(line)["custom_id"] for line in text.splitlines()) == sorted(str(i) for i in range(60))


def test_tenants_and_no_store(adit, smollm2, tmp_path):
    import hashlib
    keys = tmp_path / "keys"
    keys.write_text("".join(f"sha256:{hashlib.sha256(name.encode()).hexdigest()} id={name} tenant={name}\n"
                            for name in ("alice", "bob")))
    with start(adit, smollm2, tmp_path, "--api-key-file", keys) as server:
        server.wait_ready({"Authorization": "Bearer alice"})
        alice, bob = (openai.OpenAI(base_url=server.url + "/v1", api_key=key, max_retries=0) for key in ("alice", "bob"))
        batch = run(alice, [chat("a")])
        done = wait(alice, batch)
        assert done.status == "completed" and list(bob.files.list()) == [] and list(bob.batches.list()) == []
        for ask in (lambda: bob.batches.retrieve(batch.id), lambda: bob.batches.cancel(batch.id),
                    lambda: bob.files.content(done.output_file_id), lambda: bob.files.delete(batch.input_file_id)):
            with pytest.raises(openai.NotFoundError):
                ask()
        with pytest.raises(openai.BadRequestError):
            bob.batches.create(input_file_id=batch.input_file_id, endpoint="/v1/chat/completions",
                               completion_window="24h")
    (tmp_path / "port").unlink()
    with start(adit, smollm2, tmp_path, "--file-store-mb", "0") as server:
        status, _, raw = server.ask("GET", "/v1/batches")
        assert status == 501 and "--file-store-mb" in json.loads(raw)["error"]["message"]

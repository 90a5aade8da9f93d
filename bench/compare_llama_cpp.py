"""Driver of bench/compare for libraries with the C interface of llama.cpp. One argument, a JSON object; prints one."""
import ctypes
import json
import random
import sys
import time

import llama_cpp as api


class Engine:
    def __init__(self, request, num_seqs):
        self.num_seqs = num_seqs
        params = api.llama_model_default_params()
        self.model = api.llama_load_model_from_file(request["model"].encode(), params)
        length = request["depth"] + request["prompt"] + request["gen"] + 8
        context = api.llama_context_default_params()
        context.n_ctx = length * num_seqs
        context.n_batch = 2048
        context.n_ubatch = 512
        context.n_threads = request["threads"]
        context.n_threads_batch = request["threads"]
        if hasattr(context, "n_seq_max"):
            context.n_seq_max = num_seqs
        self.context = api.llama_new_context_with_model(self.model, context)
        vocab = api.llama_model_get_vocab(self.model) if hasattr(api, "llama_model_get_vocab") else self.model
        count = api.llama_vocab_n_tokens if hasattr(api, "llama_vocab_n_tokens") else api.llama_n_vocab
        self.vocab_size = count(vocab)
        self.batch = api.llama_batch_init(2048, 0, 1)
        self.lengths = [0] * num_seqs

    def decode(self, rows):
        """rows: (sequence, whether its logits are wanted), a random token each."""
        self.batch.n_tokens = len(rows)
        for i, (sequence, logits) in enumerate(rows):
            self.batch.token[i] = random.randrange(self.vocab_size)
            self.batch.pos[i] = self.lengths[sequence]
            self.batch.n_seq_id[i] = 1
            self.batch.seq_id[i][0] = sequence
            self.batch.logits[i] = logits
            self.lengths[sequence] += 1
        if api.llama_decode(self.context, self.batch) != 0:
            sys.exit("llama_decode failed")

    def fill(self, sequence, num_tokens):
        while num_tokens > 0:
            n = min(num_tokens, 2048)
            self.decode([(sequence, i == n - 1 and n == num_tokens) for i in range(n)])
            num_tokens -= n

    def close(self):
        api.llama_batch_free(self.batch)
        api.llama_free(self.context)
        api.llama_free_model(self.model)


def main():
    request = json.loads(sys.argv[1])
    random.seed(1)
    quiet = api.llama_log_callback(lambda level, text, data: None) if hasattr(api, "llama_log_callback") else None
    if quiet is not None:
        api.llama_log_set(quiet, ctypes.c_void_p(0))
    api.llama_backend_init()
    rates = {}
    for num_seqs in request["batches"]:
        engine = Engine(request, num_seqs)
        for sequence in range(num_seqs):
            engine.fill(sequence, request["depth"])
        if num_seqs == 1 and request["prompt"] > 0:
            engine.fill(0, 32)  # warm
            begin = time.perf_counter()
            engine.fill(0, request["prompt"])
            rates["prompt"] = request["prompt"] / (time.perf_counter() - begin)
            memory = api.llama_get_memory(engine.context) if hasattr(api, "llama_get_memory") else None
            if memory is not None:
                api.llama_memory_seq_rm(memory, 0, request["depth"], -1)
                engine.lengths = [request["depth"]]
        if request["gen"] > 0:
            engine.decode([(sequence, True) for sequence in range(num_seqs)])
            begin = time.perf_counter()
            for _ in range(request["gen"]):
                engine.decode([(sequence, True) for sequence in range(num_seqs)])
            rates[f"gen, batch {num_seqs}"] = num_seqs * request["gen"] / (time.perf_counter() - begin)
        engine.close()
    print(json.dumps(rates))


if __name__ == "__main__":
    main()

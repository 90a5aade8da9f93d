"""Driver of bench/compare for vLLM on the CPU. One argument, a JSON object; prints one. The model is a Hugging Face folder:
vLLM reads GGUF of few families only."""
import json
import os
import random
import sys
import time


def main():
    request = json.loads(sys.argv[1])
    # Read when the library is loaded.
    os.environ.setdefault("VLLM_CPU_KVCACHE_SPACE", "4")
    os.environ.setdefault("VLLM_CPU_OMP_THREADS_BIND", ",".join(map(str, sorted(os.sched_getaffinity(0))[:request["threads"]])))
    os.environ.setdefault("VLLM_LOGGING_LEVEL", "ERROR")
    os.environ.setdefault("VLLM_ENABLE_V1_MULTIPROCESSING", "0")
    import vllm

    random.seed(1)
    most = max(request["batches"])
    length = request["depth"] + request["prompt"] + request["gen"] + 64
    engine = vllm.LLM(model=request["model"], skip_tokenizer_init=True, dtype="auto", enable_prefix_caching=False,
                      max_model_len=length, max_num_seqs=most, max_num_batched_tokens=max(2048, length),
                      disable_log_stats=True)

    def seconds(num_seqs, num_prompt, num_new):
        prompts = [{"prompt_token_ids": [random.randrange(10, 10000) for _ in range(num_prompt)]} for _ in range(num_seqs)]
        sampling = vllm.SamplingParams(temperature=0.0, max_tokens=num_new, min_tokens=num_new, ignore_eos=True, detokenize=False)
        begin = time.perf_counter()
        engine.generate(prompts, sampling, use_tqdm=False)
        return time.perf_counter() - begin

    seconds(1, 32, 4)  # warm
    rates = {}
    for num_seqs in request["batches"]:
        depth = max(8, request["depth"])
        if num_seqs == 1 and request["prompt"] > 0:
            before = seconds(1, request["depth"], 1) if request["depth"] > 0 else 0.0
            rates["prompt"] = request["prompt"] / (seconds(1, request["depth"] + request["prompt"], 1) - before)
        if request["gen"] > 0:
            first = seconds(num_seqs, depth, 1)
            whole = seconds(num_seqs, depth, request["gen"] + 1)
            rates[f"gen, batch {num_seqs}"] = num_seqs * request["gen"] / (whole - first)
    print(json.dumps(rates), file=sys.__stdout__)


if __name__ == "__main__":
    main()

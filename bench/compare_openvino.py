"""Driver of bench/compare for OpenVINO GenAI. One argument, a JSON object; prints one."""
import json
import random
import sys
import time

import numpy
import openvino
import openvino_genai


def main():
    request = json.loads(sys.argv[1])
    random.seed(time.time_ns())  # prompts differ from those of earlier runs: it keeps a cache of prefixes
    config = {"INFERENCE_NUM_THREADS": request["threads"]}
    pipe = openvino_genai.LLMPipeline(request["model"], "CPU", **config)

    def generate(num_prompt, num_gen, batch=1):
        # Ids that every vocabulary has: the vocabulary itself cannot be asked for where tokens are no text by themselves.
        ids = numpy.array([[random.randrange(10, 10000) for _ in range(num_prompt)] for _ in range(batch)],
                          dtype=numpy.int64)
        inputs = openvino_genai.TokenizedInputs(openvino.Tensor(ids), openvino.Tensor(numpy.ones_like(ids)))
        options = openvino_genai.GenerationConfig(max_new_tokens=num_gen, ignore_eos=True, do_sample=False)
        begin = time.perf_counter()
        pipe.generate(inputs, options)
        return time.perf_counter() - begin

    generate(32, 4)  # warm
    rates = {}
    depth = request["depth"]
    if request["prompt"] > 0:
        before = generate(depth, 1) if depth > 0 else 0.0
        rates["prompt"] = request["prompt"] / max(1e-9, generate(depth + request["prompt"], 1) - before)
    if request["gen"] > 0:
        for batch in request["batches"]:
            prompt = max(16, depth)
            seconds = generate(prompt, request["gen"] + 1, batch) - generate(prompt, 1, batch)
            rates[f"gen, batch {batch}"] = batch * request["gen"] / max(1e-9, seconds)
    print(json.dumps(rates))


if __name__ == "__main__":
    main()

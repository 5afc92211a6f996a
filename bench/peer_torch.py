#!/usr/bin/env python3
"""Times PyTorch's TorchScript as `wick bench --json` times wick: one JSON object with every call.

usage: peer_torch.py MODEL THREADS CALLS INPUT...   (MODEL: .pt, or TorchScript source with `forward`)
"""
import json, resource, sys, time

import torch

path, threads, calls = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
torch.set_num_threads(threads)
torch.manual_seed(0)
inputs = [eval(word, vars(torch)) for word in sys.argv[4:]]
start = time.perf_counter()
if path.endswith(".py"):
    function = torch.jit.CompilationUnit(open(path).read()).forward
else:
    function = torch.jit.load(path).eval()
load = time.perf_counter() - start
times = []
with torch.no_grad():
    for _ in range(calls):
        start = time.perf_counter()
        function(*inputs)
        times.append((time.perf_counter() - start) * 1e3)
print(json.dumps({"load_ms": load * 1e3, "calls_ms": times,
                  "peak_rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))

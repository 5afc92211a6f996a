#!/usr/bin/env python3
"""Measures PyTorch's memory as memory.c does wick's: one JSON object, in MiB beyond what the process had at its start.

usage: peer_torch_memory.py MODEL | COUNT MODEL...
"""
import copy, gc, json, sys

import torch

SIDE, CALLS = 224, 8


def read_mib(file, key):
    with open(file) as lines:
        return next(float(line.split()[1]) / 1024 for line in lines if line.startswith(key))


def resident():
    return read_mib("/proc/self/smaps_rollup", "Rss:")


def call(net, times):
    with torch.no_grad():
        for _ in range(times):
            net(image)


def measure_one(path):
    first = torch.jit.load(path)
    call(first, 1)
    peak = read_mib("/proc/self/status", "VmHWM:") - start
    call(first, CALLS)
    settled = resident()
    second = torch.jit.load(path)
    call(second, CALLS)
    twice = resident()
    clone = copy.deepcopy(first)
    call(clone, CALLS)
    cloned = resident()
    del first, second, clone
    gc.collect()
    return {"first": settled - start, "peak": peak, "second": twice - settled, "clone": cloned - twice,
            "left": resident() - start}


def measure_in_turn(rounds, paths):
    early = most = 0
    for i in range(rounds):
        net = torch.jit.load(paths[i % len(paths)])
        call(net, 2)
        most = max(most, resident() - start)
        if i < len(paths):
            early = most
        del net
        gc.collect()
    return {"early": early, "most": most, "left": resident() - start}


image = torch.zeros(1, 3, SIDE, SIDE)
start = resident()
measured = measure_one(sys.argv[1]) if len(sys.argv) == 2 else measure_in_turn(int(sys.argv[1]), sys.argv[2:])
print(json.dumps(measured))

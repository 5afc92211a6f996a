#!/usr/bin/env python3
"""Measures wick beside what is installed and writes docs/performance.md, its plot and its numbers.

usage: bench.py [--wick FILE] [--threads 1,2] [--rounds 3] [--nets FOLDER] [--python FILE] [--out FOLDER] [WORKLOAD...]

Workloads are the programs beside this file (their first line names the inputs) and the nets in FOLDER, which are made
there first where PYTHON has torchvision (make_nets.py). Peers: PyTorch, where PYTHON imports torch; ONNX Runtime, where
node finds onnxruntime-node (in FOLDER, or by NODE_PATH) and the net has an .onnx file. Everyone runs in a process of its own, in turn, round by round, so that a drift of the machine
meets all alike; the median of the second half of the calls of all rounds counts. Measure on a quiet machine.

With WORKLOADs only these run and nothing is written. What is more than 5% slower than in the last numbers, taken on a
machine of that name, is named at the end; the exit status is 1 then.
"""
import argparse, glob, json, os, statistics, subprocess, sys, tempfile

sys.dont_write_bytecode = True  # the source tree stays as it is
import report

HERE = os.path.dirname(os.path.abspath(__file__))
parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--wick", default="build/release/wick")
parser.add_argument("--threads", default="1,%d" % min(2, os.cpu_count()))
parser.add_argument("--rounds", type=int, default=3)
parser.add_argument("--nets", default="build/bench")
parser.add_argument("--python", default="/usr/bin/python3", help="the one that may have torch")
parser.add_argument("--out", default="docs")
parser.add_argument("workloads", nargs="*")
options = parser.parse_args()


def first_line(command):
    """The last line that a command prints, or None where it fails or is not there."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    except OSError:
        return None
    lines = done.stdout.strip().splitlines()
    return lines[-1] if done.returncode == 0 and lines else None


def measured(command):
    line = first_line(command)
    return json.loads(line) if line else None


def workloads():
    """(name, model, inputs, calls), programs first."""
    for path in sorted(glob.glob(os.path.join(HERE, "programs", "*.py"))):
        with open(path) as file:
            yield os.path.basename(path)[:-3], path, file.readline().split(":", 1)[1].split(), 60
    for path in sorted(glob.glob(os.path.join(options.nets, "*.inputs"))):
        with open(path) as file:
            yield os.path.basename(path)[:-7], path[:-7] + ".pt", file.read().split(), 16


def peers():
    """Name -> command for (model, inputs, threads, calls), or None where it can't run that."""
    def wick(model, inputs, threads, calls):
        return [options.wick, "bench", model, *inputs, "--threads", str(threads), "--calls", str(calls), "--json"]

    def torch(model, inputs, threads, calls):
        return [options.python, os.path.join(HERE, "peer_torch.py"), model, str(threads), str(calls), *inputs]

    def onnxruntime(model, inputs, threads, calls):
        onnx = model[:-3] + ".onnx"
        script = os.path.join(HERE, "peer_onnxruntime.js")
        return ["node", script, onnx, str(threads), str(calls), *inputs] if os.path.exists(onnx) else None

    found = {"wick": wick}
    if first_line([options.python, "-c", "import torch; print(torch.__version__)"]):
        found["PyTorch"] = torch
    if first_line(["node", "-e", "console.log(require('onnxruntime-node') ? 1 : 0)"]):
        found["ONNX Runtime"] = onnxruntime
    return found


def summary(rounds):
    late = [ms for r in rounds for ms in r["calls_ms"][len(r["calls_ms"]) // 2:]]
    return {"median": statistics.median(late), "p99": sorted(late)[int(0.99 * (len(late) - 1))],
            "first": statistics.median(r["load_ms"] + r["calls_ms"][0] for r in rounds),
            "memory": statistics.median(r["peak_rss_mb"] for r in rounds)}


def machine(threads):
    """Name and limits, as a small program that is compiled here finds them."""
    name = "unknown processor"
    with open("/proc/cpuinfo") as file:
        names = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
    name = names[0] if names else name
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "peak")
        subprocess.run(["cc", "-O3", "-march=native", os.path.join(HERE, "peak.c"), "-o", program, "-pthread"], check=True)
        limits = [measured([program, str(t)]) for t in threads]
    return {"name": "%s, %d processors" % (name, os.cpu_count()), "limits": limits}


def main():
    os.environ.setdefault("NODE_PATH", os.path.abspath(os.path.join(options.nets, "node_modules")))
    if not first_line([options.python, os.path.join(HERE, "make_nets.py"), options.nets]):
        print("no nets were made: %s has no torchvision" % options.python)
    threads = [int(t) for t in options.threads.split(",")]
    runners, rows = peers(), []
    for name, model, inputs, calls in workloads():
        if options.workloads and name not in options.workloads:
            continue
        for count in threads:
            results = {peer: [] for peer in runners}
            for _ in range(options.rounds):
                for peer, command_of in runners.items():
                    command = command_of(model, inputs, count, calls)
                    result = measured(command) if command else None
                    if result:
                        results[peer].append(result)
            row = {"name": name, "threads": count, "inputs": " ".join(inputs),
                   "peers": {peer: summary(r) for peer, r in results.items() if r}}
            if "wick" not in row["peers"]:
                sys.exit("wick can't run %s" % model)
            rows.append(row)
            print(report.line(row), flush=True)
    numbers = {"machine": machine(threads), "version": first_line([options.wick, "--version"]), "rows": rows}
    slower = report.regressions(numbers, os.path.join(options.out, "performance.json"))
    if not options.workloads:
        report.write(numbers, options.out)
    for text in slower:
        print("slower than last time: " + text)
    sys.exit(1 if slower else 0)


main()

#!/usr/bin/env python3
"""Exports programs with the PyTorch that runs this (2.x) and records what they answer.

usage: record_pt2.py [--folder FOLDER] [--megabytes N] [--list] [--operators] [PATTERN...]

Each program becomes FOLDER/NAME.pt2 and FOLDER/NAME.io.pt, for `wick check NAME.pt2 NAME.io.pt`; after
`run_decompositions()` it is NAME.dec.pt2, exported with `strict=True` NAME.strict.pt2 where that graph is another.
Weights are random, of a seed; nets are made narrow and shallow where their constructors allow it. What was left out, and
why, is in FOLDER/LEFT_OUT.tsv, the operators of each program in FOLDER/TARGETS.tsv. The nets of torchvision and timm are
recorded where these are installed (pt2_nets.py), the small programs are in pt2_programs.py; with --operators instead
single calls of all operators (pt2_operators.py). Not for the test suite: it takes half an hour and a PyTorch of its own.
"""

import argparse, fnmatch, os, sys, time, warnings

import torch

warnings.filterwarnings("ignore")
torch.set_num_threads(1)
SMALL = 6e6  # parameters; of larger programs the decomposed one is left out


def plain(value):
    """What files of calls hold, apart from what the program goes on with."""
    if isinstance(value, torch.Tensor):
        return value.detach().clone()
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        items = [plain(item) for item in value]
        return items if isinstance(value, list) else tuple(items)
    return value


def fresh(value):
    """Arguments for one call: as given, named tuples among them, with tensors of their own."""
    return torch.utils._pytree.tree_map_only(torch.Tensor, lambda t: t.detach().clone(), value)


def tensors(value):
    return [t for t in torch.utils._pytree.tree_leaves(value) if isinstance(t, torch.Tensor)]


def same(a, b):
    a, b = tensors(a), tensors(b)
    return len(a) == len(b) and all(
        x.shape == y.shape and x.dtype == y.dtype and torch.equal(torch.nan_to_num(x), torch.nan_to_num(y))
        for x, y in zip(a, b)
    )


def recorded_call(module, args, kwargs, wants_grads):
    given, named = fresh(args), fresh(kwargs)
    with torch.enable_grad() if wants_grads else torch.no_grad():
        if wants_grads:
            for t in tensors(given):
                if t.is_floating_point():
                    t.requires_grad_()
        output = module(*given, **named)
        call = {"method": "forward", "args": plain(args), "kwargs": plain(kwargs), "output": plain(output)}
        if not same(given, args):
            call["args_after"] = plain(given)
        if not same(named, kwargs):
            call["kwargs_after"] = plain(named)
        floating = [t for t in tensors(output) if t.is_floating_point() and t.requires_grad]
        if wants_grads and floating:
            asked = [t for t in given if isinstance(t, torch.Tensor) and t.is_floating_point()]
            found = iter(torch.autograd.grad(sum(t.sum() for t in floating), asked, allow_unused=True))
            call["grads"] = [
                next(found) if isinstance(t, torch.Tensor) and t.is_floating_point() else None for t in given
            ]
    return call


def refused_call(module, args, kwargs):
    try:
        with torch.no_grad():
            module(*fresh(args), **fresh(kwargs))
    except Exception as error:
        words = [line for line in str(error).splitlines() if line.strip()]
        said = words[-1] if words else ""
        if "Runtime assertion" not in said:  # of inputs wick says what was expected in words of its own
            said = ""
        return {"method": "forward", "args": plain(args), "kwargs": plain(kwargs), "raises": said}
    return None


def recording(exported, case):
    module = exported.module()
    io = {"wick_io": 1, "entry": "forward", "calls": []}
    io["calls"] = [recorded_call(module, args, kwargs, case.grads) for args, kwargs in case.calls]
    if case.loose:
        io["rtol"] = case.loose
    refused = [refused_call(module, args, kwargs) for args, kwargs in case.refused]
    if any(refused):
        io["raising_calls"] = [call for call in refused if call]
    return io


def targets(exported):
    found = set()
    for module in exported.graph_module.modules():
        if isinstance(module, torch.fx.GraphModule):
            for node in module.graph.nodes:
                if node.op == "call_function":
                    found.add(
                        node.target.name()
                        if hasattr(node.target, "name") and callable(node.target.name)
                        else "%s.%s"
                        % (getattr(node.target, "__module__", ""), getattr(node.target, "__name__", ""))
                    )
    return sorted(found)


class Case:
    """A program to export: how its module is made, calls to record, calls that it refuses."""

    def __init__(
        self,
        name,
        make,
        calls,
        refused=(),
        shapes=None,
        grads=False,
        loose=0,
        decompose=True,
        strict=False,
        train=False,
        export=None,
    ):
        def pair(call):
            return call if isinstance(call, tuple) and len(call) == 2 and isinstance(call[1], dict) else (call, {})

        self.name, self.make, self.shapes, self.grads, self.loose = name, make, shapes, grads, loose
        self.calls, self.refused = [pair(c) for c in calls], [pair(c) for c in refused]
        self.decompose, self.strict, self.train, self.export = decompose, strict, train, export


class Recorder:
    def __init__(self, folder, megabytes):
        self.folder, self.room = folder, megabytes << 20
        os.makedirs(folder, exist_ok=True)
        self.left = open(os.path.join(folder, "LEFT_OUT.tsv"), "a")
        self.targets = open(os.path.join(folder, "TARGETS.tsv"), "a")

    def left_out(self, name, reason):
        lines = [line for line in str(reason).splitlines() if line.strip()]
        said = "%s: %s" % (type(reason).__name__, " / ".join(lines[:6]))
        self.left.write("%s\t%s\n" % (name, said[:900]))
        self.left.flush()
        print(name, "left out:", said[:300], flush=True)

    def write(self, name, exported, case):
        path = os.path.join(self.folder, name)
        torch.export.save(exported, path + ".pt2")
        self.room -= os.path.getsize(path + ".pt2")
        try:
            torch.save(
                recording(exported, case), path + ".io.pt"
            )  # runs the program, after it was saved: buffers change
        except Exception:
            os.remove(path + ".pt2")
            raise
        for target in targets(exported):
            self.targets.write("%s\t%s\n" % (name, target))
        self.targets.flush()

    def exported(self, case, strict):
        torch.manual_seed(0)
        module = case.make().train(case.train)
        for part in module.modules():  # as if trained
            if isinstance(part, torch.nn.modules.batchnorm._BatchNorm) and part.running_mean is not None:
                part.running_mean.normal_(0, 0.1), part.running_var.uniform_(0.5, 1.5)
        args, kwargs = case.calls[0]
        if case.export:
            return case.export(module, fresh(args), fresh(kwargs), case.shapes)
        return torch.export.export(module, fresh(args), fresh(kwargs), dynamic_shapes=case.shapes, strict=strict)

    def record(self, case):
        if os.path.exists(os.path.join(self.folder, case.name + ".io.pt")):
            return
        if self.room <= 0:
            return self.left_out(case.name, ValueError("the folder is full"))
        start = time.time()
        try:
            exported = self.exported(case, False)
            text = str(exported.graph)
            self.write(case.name, exported, case)
        except Exception as reason:
            return self.left_out(case.name, reason)
        few = sum(p.numel() for p in exported.parameters()) < SMALL
        if case.decompose and (few or case.name == "resnet18"):
            try:
                self.write(case.name + ".dec", self.exported(case, False).run_decompositions(), case)
            except Exception as reason:
                self.left_out(case.name + ".dec", reason)
        if case.strict:
            try:
                exported = self.exported(case, True)
                if str(exported.graph) != text:
                    self.write(case.name + ".strict", exported, case)
            except Exception as reason:
                self.left_out(case.name + ".strict", reason)
        print("%s: %.1f s, %d MB left" % (case.name, time.time() - start, self.room >> 20), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", default="cases")
    parser.add_argument("--megabytes", type=int, default=2000)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--operators", action="store_true")
    parser.add_argument("patterns", nargs="*")
    options = parser.parse_args()
    if options.operators:
        import pt2_operators

        cases = pt2_operators.cases(Case)
    else:
        import pt2_nets, pt2_programs

        cases = pt2_programs.cases(Case) + pt2_nets.cases(Case)
    recorder = None if options.list else Recorder(options.folder, options.megabytes)
    for case in cases:
        if options.patterns and not any(fnmatch.fnmatch(case.name, p) for p in options.patterns):
            continue
        if options.list:
            print(case.name)
        else:
            recorder.record(case)


if __name__ == "__main__":
    main()

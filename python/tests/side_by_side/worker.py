"""One side of side_by_side.py: runs every case with one package, in a process of its own.

usage: worker.py torch|wick make FOLDER [STATES]     runs, scripts, traces, saves; writes FOLDER/report.json
       worker.py torch|wick load FOLDER OTHER        runs the archives of OTHER; writes FOLDER/loaded.json

With wick, `import torch` gives wick. STATES is the other side's folder: modules get the parameters that are there.
"""

import enum
import importlib.util
import json
import os
import sys
import traceback
import warnings

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]
SIDE, TASK, FOLDER = sys.argv[1:4]
OTHER = sys.argv[4] if len(sys.argv) > 4 else None
if SIDE == "wick":
    from test_nn_models import NETWORKS, _Alias, wick_in_torch_s_place
    sys.meta_path.insert(0, _Alias)
else:
    from test_nn_models import NETWORKS, wick_in_torch_s_place

import torch  # noqa: E402

CHOSEN = ("alexnet", "resnet18", "squeezenet1_1", "mobilenet_v2", "mobilenet_v3_small", "shufflenet_v2_x0_5",
          "densenet121", "mnasnet0_5", "googlenet", "efficientnet_b0", "regnet_y_400mf", "vgg11_bn")


# ---- what a result is, as text ----

def encoded(value):
    """A value as JSON has it."""
    if isinstance(value, torch.Tensor):
        value = value.detach()
        if value.is_complex():
            value = torch.view_as_real(value.resolve_conj())
        return {"dtype": str(value.dtype).rpartition(".")[2], "shape": list(value.shape),
                "values": [float(v) for v in value.double().flatten().tolist()]}
    if isinstance(value, enum.Enum):
        return {"enum": value.name}
    if isinstance(value, tuple):
        is_users = type(value).__name__ in ("Point", "Output")  # PyTorch drops names that operators give
        return {"tuple": [encoded(item) for item in value], "fields": list(value._fields) if is_users else []}
    if isinstance(value, list):
        return [encoded(item) for item in value]
    if isinstance(value, dict):
        return {"dict": [[encoded(key), encoded(item)] for key, item in value.items()]}
    if isinstance(value, complex):
        return {"complex": [value.real, value.imag]}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return {"other": str(value)}


def outcome(run):
    """What a call gives, or that it raises."""
    try:
        return {"result": encoded(run())}
    except Exception as error:  # noqa: BLE001, whatever a program raises
        if os.environ.get("SIDE_BY_SIDE_VERBOSE"):
            traceback.print_exc()
        return {"raises": str(error).strip().splitlines()[-1][:300] if str(error).strip() else type(error).__name__}


# ---- kinds of nodes ----

def kinds(graph):
    """Of all nodes in order, with those of blocks between brackets."""
    found = []

    def walk(nodes):
        for node in nodes:
            found.append(node.kind())
            for block in node.blocks():
                found.append("{")
                walk(block.nodes() if hasattr(block, "nodes") else block)
                found.append("}")
    walk(graph.nodes())
    return found


def is_librarys(graph):
    """Whether it is a method of a layer of torch.nn."""
    return ": __torch__.torch.nn." in str(graph).split("\n", 1)[0]


def kinds_of(program, with_library):
    """Of a function; of the methods of a module and of those that it holds, with layers of torch.nn or without."""
    if not hasattr(program, "named_modules"):
        return kinds(program.inlined_graph if with_library else program.graph)
    found = []
    for name, module in program.named_modules():
        try:
            graph = module.graph
        except Exception:  # noqa: BLE001, a container has no forward
            continue
        if with_library or not is_librarys(graph):
            found += ["(%s)" % name] + kinds(graph)
    return found


# ---- cases ----

def networks():
    """The networks of torchvision, of its own files."""
    import importlib
    found = importlib.util.find_spec("torchvision")
    if found is None:
        print("torchvision is not installed: its networks are skipped")
        return
    if SIDE == "wick":
        wick_in_torch_s_place(found.submodule_search_locations[0])
    else:
        import torchvision  # noqa: F401
    for name in CHOSEN:
        file, more, size = NETWORKS[name]
        make = getattr(importlib.import_module("torchvision.models." + file), name)
        picture = ((torch.arange(3 * size * size) * 7 % 23) / 23).reshape(1, 3, size, size)
        yield name, lambda make=make, more=more: make(weights=None, **more), lambda picture=picture: (picture,), True


def made_module(name, make):
    """In evaluation mode, with the parameters that the other side made."""
    torch.manual_seed(0)
    module = make().eval()
    path = os.path.join(OTHER or FOLDER, name + ".state.pt")
    if OTHER is None:
        torch.save(module.state_dict(), path)
    else:
        module.load_state_dict(torch.load(path))
    return module


def run_case(name, make, inputs, is_traced):
    """The report of one case: make() gives the function or module, anew each time."""
    report = {"eager": outcome(lambda: make()(*inputs()))}
    ways = {"script": lambda: torch.jit.script(make())}
    if is_traced:
        ways["trace"] = lambda: torch.jit.trace(make(), inputs(), check_trace=False)
    for way, compile_it in ways.items():
        try:
            program = compile_it()
            report[way] = outcome(lambda: program(*inputs()))
            report[way]["kinds"] = " ".join(kinds_of(program, way == "trace"))
            report[way]["library"] = " ".join(kinds_of(program, True))
        except Exception as error:  # noqa: BLE001, whatever compiling raises
            if os.environ.get("SIDE_BY_SIDE_VERBOSE"):
                traceback.print_exc()
            report[way] = {"fails": str(error)[:2000]}
            continue
        try:  # a program of its own, for calls change modules
            compile_it().save(os.path.join(FOLDER, "%s.%s.pt" % (name, way)))
        except Exception as error:  # noqa: BLE001
            report[way]["not_saved"] = str(error)[:300]
    return report


def all_cases():
    """(name, what makes it, inputs, whether it is traced, category)"""
    import functions
    import modules
    for name, function, inputs, is_traced in functions.CASES:
        if is_traced is None:
            is_traced = all(isinstance(value, torch.Tensor) for value in inputs())
        yield name, lambda function=function: function, inputs, is_traced, "function"
    for name, make, inputs, is_traced in modules.CASES:
        yield name, lambda name=name, make=make: made_module(name, make), inputs, is_traced, "module"
    for name, make, inputs, is_traced in () if os.environ.get("SIDE_BY_SIDE_NO_NETWORKS") else networks():
        yield name, lambda name=name, make=make: made_module(name, make), inputs, is_traced, "network"


def main():
    """Writes what the usage says."""
    warnings.simplefilter("ignore")
    only = os.environ.get("SIDE_BY_SIDE_ONLY", "").split()
    reports = {}
    os.makedirs(FOLDER, exist_ok=True)
    with torch.no_grad():
        for name, make, inputs, is_traced, category in all_cases():
            if only and name not in only:
                continue
            if TASK == "make":
                reports[name] = dict(run_case(name, make, inputs, is_traced), category=category)
                continue
            reports[name] = {}
            for way in ("script", "trace"):
                path = os.path.join(OTHER, "%s.%s.pt" % (name, way))
                if os.path.exists(path):
                    reports[name][way] = outcome(lambda: torch.jit.load(path)(*inputs()))
    with open(os.path.join(FOLDER, "report.json" if TASK == "make" else "loaded.json"), "w") as file:
        json.dump(reports, file)


if __name__ == "__main__":
    main()

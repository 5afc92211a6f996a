# Records language.io.pt: runs language.py's functions under PyTorch 1.13.
import copy
import importlib.util
import tempfile

import torch

prefix = "import math\nimport torch\nfrom typing import *\nfrom torch import Tensor\n"
with tempfile.NamedTemporaryFile("w", suffix=".py", delete=False) as file:
    file.write(prefix + open("language.py").read())
spec = importlib.util.spec_from_file_location("language", file.name)
language = importlib.util.module_from_spec(spec)
spec.loader.exec_module(language)

wanted = [
    ("walk", {"a": [1], "b": [2, 3]}, "a"), ("union", 3), ("union", "abc"), ("union", [5]), ("anything", 3),
    ("anything", torch.zeros(2, 2)), ("anything", [4]), ("anything", "x"), ("matrix", torch.arange(6.0).view(2, 3)), ("modes", torch.ones(2)),
    ("early", [1, 2, 3]), ("early", [1]), ("leaf", torch.arange(3.0) - 1, None), ("forked", torch.arange(3.0)), ("strings", "banana x"),
    ("numbers", 7, 2), ("loops", 3), ("unpack", (1, ("q", 2.5)), [7, 8]), ("raising", 1), ("raising", 2), ("raising", 4),
]
calls = []
for name, *arguments in wanted:
    function = torch.jit.script(getattr(language, name))
    call = {"method": name, "args": copy.deepcopy(tuple(arguments)), "kwargs": {}}
    try:
        call["output"] = function(*arguments)
    except Exception as error:
        call["raises"] = "RuntimeError: " + str(error).strip().split("\n")[-1]
    calls.append(call)
torch.save({"wick_io": 1, "entry": "walk", "calls": calls}, "language.io.pt")

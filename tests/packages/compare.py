"""Packages over PyTorch, unchanged, with PyTorch 1.13 and with wick in its place: results, seconds, memory.

    python3 tests/packages/compare.py [NAME...]

installs pinned packages (not PyTorch itself, which must be there for the comparison) into a temporary folder, or into
that of WICK_PACKAGES, and runs each program of programs.py twice. Fails where results differ by more than 3e-4.
WICK_PYTHON_PACKAGE: the folder of wick's package (build/release/python).
"""
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
WICK = os.path.abspath(os.environ.get("WICK_PYTHON_PACKAGE", os.path.join(HERE, "../../build/release/python")))
PYTHON = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable
# program -> what is installed for it, without what that depends on
PACKAGES = {
    "silero_vad": "silero-vad==6.2.3 packaging==23.2",
    "torchcrepe": "torchcrepe==0.0.23 resampy==0.4.3 librosa==0.10.1 lazy_loader==0.4 soundfile==0.12.1 cffi==1.16.0 "
                  "pycparser==2.21 audioread==3.0.1 soxr==0.3.7 pooch==1.8.1 decorator==5.1.1 joblib==1.3.2 "
                  "threadpoolctl==3.3.0 scikit-learn==1.3.2 msgpack==1.0.8 platformdirs==4.2.0 numba==0.59.1 "
                  "llvmlite==0.42.0 scipy==1.11.4 packaging==23.2 tqdm==4.66.2 typing_extensions==4.10.0",
    "torchani": "torchani==2.2.4 lark==1.1.9 importlib_metadata==6.8.0 zipp==3.17.0",
    "e3nn": "e3nn==0.5.1 opt_einsum_fx==0.1.4 opt_einsum==3.3.0 scipy==1.11.4 sympy==1.12 mpmath==1.3.0 packaging==23.2",
    "kornia": "kornia==0.6.12 packaging==23.2",
    "torchmetrics": "torchmetrics==1.2.1 lightning-utilities==0.10.1 packaging==23.2 typing_extensions==4.10.0",
    "timm": "timm==0.9.16 huggingface_hub==0.21.4 safetensors==0.4.2 pyyaml==6.0.1 tqdm==4.66.2 filelock==3.13.1 "
            "fsspec==2024.2.0 packaging==23.2 typing_extensions==4.10.0",
    "julius": "julius==0.2.7",
    "nnaudio": "nnAudio==0.3.3 scipy==1.11.4",
    "lpips": "lpips==0.1.4 scipy==1.11.4 tqdm==4.66.2",
    "pytorch_msssim": "pytorch-msssim==1.0.0",
    "torchdiffeq": "torchdiffeq==0.2.3 scipy==1.11.4",
    "segmentation_models_pytorch": "segmentation-models-pytorch==0.3.3 timm==0.9.16 efficientnet-pytorch==0.7.1 "
                                   "pretrainedmodels==0.7.4 munch==4.0.0 huggingface_hub==0.21.4 safetensors==0.4.2 "
                                   "pyyaml==6.0.1 tqdm==4.66.2 filelock==3.13.1 fsspec==2024.2.0 packaging==23.2 "
                                   "typing_extensions==4.10.0",
    "openunmix": "openunmix==1.2.1 tqdm==4.66.2",
    "torch_optimizer": "torch-optimizer==0.3.0 pytorch-ranger==0.1.1",
    "efficientnet_pytorch": "efficientnet-pytorch==0.7.1",
    "einops": "einops==0.7.0",
}


def install(folder, names):
    """Puts what the programs need into a folder; each release once."""
    wanted = sorted({one for name in names for one in PACKAGES[name].split()})
    done = os.path.join(folder, ".installed")
    if os.path.exists(done) and set(wanted) <= set(open(done).read().split()):
        return
    subprocess.run([PYTHON, "-m", "pip", "install", "-q", "--no-deps", "--upgrade", "--target", folder] + wanted,
                   check=True)
    with open(done, "w") as file:
        file.write("\n".join(wanted))


def run(name, packages, with_wick):
    """What the program says, or the last lines of its error."""
    path = ([WICK] if with_wick else []) + [packages]
    command = [PYTHON] + (["-m", "wick.torch_stand_in"] if with_wick else [])
    ran = subprocess.run(command + [os.path.join(HERE, "programs.py"), name], capture_output=True, text=True,
                         env=dict(os.environ, PYTHONPATH=os.pathsep.join(path)), timeout=600)
    found = re.search(r"^RESULT (.*)$", ran.stdout, re.M)
    return json.loads(found.group(1)) if found else (ran.stderr or ran.stdout).strip()[-400:]


def is_near(a, b):
    """Whether shapes are equal, and sums as near as float32 is."""
    (shape, total), (other_shape, other) = a, b
    return shape == other_shape and (abs(total - other) <= 3e-4 * max(1, abs(total)) or (total != total != other != other))


def main(names):
    failed = 0
    with tempfile.TemporaryDirectory() as temporary:
        packages = os.environ.get("WICK_PACKAGES", temporary)
        install(packages, names)
        print("| Program | Results | `import torch`, s | The rest, s | Memory, MiB |\n|---|---|---:|---:|---:|")
        for name in names:
            both = [run(name, packages, with_wick) for with_wick in (False, True)]
            wrong = [text for text in both if isinstance(text, str)]
            if wrong:
                failed += 1
                print("| %s | %s |" % (name, wrong[0].replace("\n", " ")))
                continue
            torch, wick = both
            equal = sum(map(is_near, torch["seen"], wick["seen"]))
            failed += not equal == len(torch["seen"]) == len(wick["seen"])
            print("| %s | %d of %d | %s |" % (name, equal, len(torch["seen"]), " | ".join(
                "%.*f / %.*f" % (digits, torch[key], digits, wick[key])
                for key, digits in (("import_s", 2), ("run_s", 2), ("resident_mib", 0)))), flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(1 if main(sys.argv[1:] or list(PACKAGES)) else 0)

#!/usr/bin/env python3
"""What PyTorch takes on the first CUDA card for the programs that `device_check cuda speed` times, in the same form."""
import time
import torch


def copied(x, y):
    return x.clone()


def relu(x, y):
    return torch.relu(x)


def add(x, y):
    return x + y


def chain(x, y):
    return torch.tanh(x * y + 0.5) * torch.sigmoid(x) - y


def turned(x, y):
    return x.t().contiguous()


def mm(x, y):
    return torch.mm(x, y.t())


def seconds(function, x, y, calls):
    """Of one call, when many are given to the device at once; the best of five."""
    best = float("inf")
    for n in range(7):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(calls):
            function(x, y)
        torch.cuda.synchronize()
        took = (time.perf_counter() - begin) / calls
        if n >= 2:
            best = min(best, took)
    return best


def main():
    print("PyTorch", torch.__version__, "on", torch.cuda.get_device_name(0))
    with torch.no_grad():
        for rows, columns in ((1, 1), (2048, 2048), (16384, 8192)):
            x = torch.rand(rows, columns, device="cuda")
            y = torch.rand(rows, columns, device="cuda")
            for kind in ("eager", "script"):
                for function, moved in ((copied, 8), (relu, 8), (add, 12), (chain, 12), (turned, 8), (mm, 12)):
                    if function is mm and rows > 10000:
                        continue
                    run = torch.jit.script(function) if kind == "script" else function
                    took = seconds(run, x, y, 20 if rows > 10000 else 200)
                    print(f"{kind:6s} {function.__name__:8s} {rows:5d}x{columns:<5d} {took * 1e6:10.2f} us"
                          f" {moved * rows * columns / took * 1e-9:8.0f} GB/s", flush=True)
            begin = time.perf_counter()
            here = x.cpu()
            fetched = time.perf_counter() - begin
            begin = time.perf_counter()
            here.cuda()
            torch.cuda.synchronize()
            sent = time.perf_counter() - begin
            size = 4 * rows * columns * 1e-9
            print(f"eager  fetched  {rows:5d}x{columns:<5d} {fetched * 1e6:10.2f} us {size / fetched:8.2f} GB/s;"
                  f" sent {sent * 1e6:10.2f} us {size / sent:8.2f} GB/s", flush=True)


main()

"""Weight averaging, pruning, back ends and switches: what they print under PyTorch 1.13 and under wick.

`python3 training_names_cases.py FILE` with PyTorch writes FILE, which test_training_names.py compares with wick's.
"""
import importlib
import sys


def said(function):
    """What `function` gives or its error, without the package's name."""
    try:
        return function()
    except Exception as error:  # noqa: BLE001  (what is compared)
        return type(error).__name__ + ": " + str(error).replace("wick", "torch")


def averaging(torch, package, show):
    nn, swa = torch.nn, importlib.import_module(package + ".optim.swa_utils")
    torch.manual_seed(1)
    net = nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3), nn.ReLU(), nn.Linear(3, 2))
    average = swa.AveragedModel(net)

    def optimizer():
        return torch.optim.SGD([{"params": net[0].parameters(), "lr": 0.1},
                                {"params": net[3].parameters(), "lr": 0.2}], lr=0.1)
    for strategy, epochs in (("cos", 5), ("linear", 3), ("linear", 0)):
        stepped = optimizer()
        schedule = swa.SWALR(stepped, swa_lr=[0.01, 0.05], anneal_epochs=epochs, anneal_strategy=strategy)
        for _ in range(8):
            stepped.step()
            schedule.step()
            show(strategy, schedule.get_last_lr())
    x, trained = torch.randn(16, 4), optimizer()
    for _ in range(4):
        net(x).pow(2).mean().backward()
        trained.step()
        trained.zero_grad()
        average.update_parameters(net)
    show(list(average.state_dict()), [p.sum().item() for p in average.parameters()], average.n_averaged)
    swa.update_bn([x[:8], (x[8:], 0)], average)
    norm = average.module[1]
    show(norm.running_mean, norm.momentum, norm.num_batches_tracked, average.training)
    moving = swa.AveragedModel(net, avg_fn=lambda mean, p, n: 0.9 * mean + 0.1 * p, use_buffers=True)
    moving.update_parameters(net)
    net(x)
    moving.update_parameters(net)
    show(moving.module[1].running_var)
    show(said(lambda: swa.SWALR(trained, [0.1])))
    show(said(lambda: swa.SWALR(trained, 0.1, anneal_strategy="x")))
    show(said(lambda: swa.SWALR(trained, 0.1, anneal_epochs=-1)))


def pruning_of_one(torch, prune, show):
    torch.manual_seed(5)
    layer = torch.nn.Linear(4, 3)
    prune.l1_unstructured(layer, "weight", 3)
    show({name: value.tolist() for name, value in layer.state_dict().items()}, layer.weight.detach())
    prune.ln_structured(layer, "weight", amount=1, n=2, dim=0)
    show(layer.weight_mask, len(layer._forward_pre_hooks))
    prune.random_unstructured(layer, "weight", amount=0.2)
    show(layer.weight_mask, prune.is_pruned(layer))
    layer(torch.ones(1, 4)).sum().backward()
    show(layer.weight_orig.grad, layer(torch.ones(1, 4)).detach())
    container, = layer._forward_pre_hooks.values()
    show(type(container).__name__, [type(method).__name__ for method in container])
    show([name for name, _ in layer.named_parameters()], [name for name, _ in layer.named_buffers()])
    prune.remove(layer, "weight")
    show({name: value.tolist() for name, value in layer.state_dict().items()}, prune.is_pruned(layer))
    show(said(lambda: prune.remove(layer, "weight")))


def pruning(torch, package, show):
    nn, prune = torch.nn, importlib.import_module(package + ".nn.utils.prune")
    pruning_of_one(torch, prune, show)
    torch.manual_seed(5)
    layer = nn.Conv2d(2, 4, 3)
    prune.random_structured(layer, "weight", 0.5, 1)
    show(layer.weight_mask.sum((2, 3)))
    prune.ln_structured(layer, "weight", 2, 1, -4)
    show(layer.weight_mask.sum((2, 3)))
    prune.identity(layer, "bias")
    show(layer.bias.detach())
    torch.manual_seed(5)
    one, two = nn.Linear(3, 2), nn.Linear(2, 2)
    for amount in (0.5, 2):
        prune.global_unstructured([(one, "weight"), (two, "weight")],
                                  pruning_method=prune.L1Unstructured, amount=amount)
        show(one.weight_mask, two.weight_mask)
    prune.custom_from_mask(two, "bias", torch.tensor([1, 0]))
    show(two.bias.detach(), prune.L1Unstructured(2).prune(torch.tensor([1.0, -3, 0.5, 2])))
    for amount in (5, 1.5, "a"):
        show(said(lambda: prune.l1_unstructured(nn.Linear(2, 2), "weight", amount)))
    show(said(lambda: prune.ln_structured(nn.Linear(2, 2), "bias", 1, 1, 0)))
    show(said(lambda: prune.ln_structured(nn.Linear(2, 2), "weight", 1, 1, 2)))
    show(said(lambda: prune.l1_unstructured(layer, "nothing", 1)))


def back_ends(torch, package, show):
    backends = importlib.import_module(package + ".backends")
    cudnn = importlib.import_module(package + ".backends.cudnn")
    cudnn.benchmark = True
    show(
    cudnn.benchmark,
    cudnn.is_available(),
    cudnn.version(),
    backends.cuda.is_built(),
     backends.mps.is_available())
    with cudnn.flags(enabled=False):
        show(cudnn.enabled, cudnn.benchmark)
    show(cudnn.enabled, cudnn.benchmark)
    cudnn.benchmark = False
    before = backends.quantized.engine
    for engine in ("qnnpack", "onednn"):
        backends.quantized.engine = engine
        show(backends.quantized.engine)
    backends.quantized.engine = before


def switches(torch, package, show):
    torch.use_deterministic_algorithms(True)
    show(torch.are_deterministic_algorithms_enabled(), torch.get_deterministic_debug_mode())
    torch.set_deterministic_debug_mode("warn")
    show(torch.is_deterministic_algorithms_warn_only_enabled(), torch.get_deterministic_debug_mode())
    show(said(lambda: torch.set_deterministic_debug_mode("x")),
         said(lambda: torch.set_deterministic_debug_mode(None)))
    show(said(lambda: torch.set_deterministic_debug_mode(7)))
    torch.set_deterministic_debug_mode(0)
    torch.set_float32_matmul_precision("high")
    show(torch.get_float32_matmul_precision())
    torch.set_float32_matmul_precision("highest")
    show(said(lambda: torch.set_num_interop_threads(0)), said(lambda: torch.set_num_interop_threads("a")))
    show(said(lambda: torch.set_warn_always(1)), torch.is_warn_always_enabled())


def run(torch, package, show):
    for part in (averaging, pruning, back_ends, switches):
        show("--", part.__name__)
        part(torch, package, show)


if __name__ == "__main__":
    import torch
    with open(sys.argv[1], "w") as out:
        run(torch, "torch", lambda *values: print(*values, file=out))

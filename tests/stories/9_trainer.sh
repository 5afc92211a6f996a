#!/bin/sh
# Somebody trains: a network of two layers learns the sine, in TorchScript alone, from the command line; its weights are
# saved, read again, and used.
. "$(dirname "$0")/begin.sh"
cat > sine.py <<'PY'
def net(w: List[Tensor], x: Tensor) -> Tensor:
    return torch.tanh(x @ w[0] + w[1]) @ w[2] + w[3]

def train(steps: int = 1500) -> Tuple[float, Dict[str, Tensor]]:
    x = torch.linspace(-3., 3., 100).unsqueeze(1)
    w = [torch.randn(1, 20), torch.zeros(20), torch.randn(20, 1) * 0.3, torch.zeros(1)]
    mean = [torch.zeros_like(p) for p in w]
    square = [torch.zeros_like(p) for p in w]
    for p in w:
        p.requires_grad_(True)
    loss = torch.zeros(1)
    for step in range(1, steps + 1):
        loss = (net(w, x) - torch.sin(x)).pow(2).mean()
        grads = torch.autograd.grad([loss], w)
        with torch.no_grad():
            for i, grad in enumerate(grads):
                if grad is not None:
                    mean[i].mul_(0.9).add_(grad, alpha=0.1)
                    square[i].mul_(0.999).addcmul_(grad, grad, value=0.001)
                    rate = 0.01 * (1 - 0.999 ** step) ** 0.5 / (1 - 0.9 ** step)
                    w[i].addcdiv_(mean[i], square[i].sqrt() + 1e-8, value=-rate)
    return float(loss), {"w0": w[0].detach(), "w1": w[1].detach(), "w2": w[2].detach(), "w3": w[3].detach()}

def learned() -> str:
    loss, w = train()
    return "learned" if loss < 0.001 else "not learned: " + str(loss)

def weights() -> Dict[str, Tensor]:
    return train()[1]

def sine(x: float, w0: Tensor, w1: Tensor, w2: Tensor, w3: Tensor) -> float:
    return float(net([w0, w1, w2, w3], torch.tensor([[x]])))
PY
says 0 "all there, 0 without a gradient" wick ops sine.py --grad
says 0 "learned" wick run sine.py --method learned --grad --seed 1
wick run sine.py --method weights --grad --seed 1 -o weights.npz
wick run sine.py --method sine 1.5 "**weights.npz" > value
awk '{ print "sine of 1.5:", $1; exit !($1 > 0.95 && $1 < 1.05) }' value

# inputs: randn(4) 1000
def forward(x: Tensor, steps: int) -> Tensor:
    for i in range(steps):
        x = x * 0.5 + 1.0
    return x

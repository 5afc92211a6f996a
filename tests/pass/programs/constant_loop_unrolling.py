def known(x: Tensor, y: Tensor):
    for i in range(3):
        x = x * y + i
    return x
def writes(x: Tensor):
    for i in range(2):
        x.mul_(i + 2)
    return x
def nested(x: Tensor):
    total = x * 0
    for i in range(2):
        for j in range(2):
            total = total + x[i] * j
    return total

# inputs: 500000
def forward(n: int) -> int:
    total = 0
    for i in range(n):
        if i % 3 == 1:
            total += i // 2
        else:
            total -= 1
    return total

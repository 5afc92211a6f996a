def look(x: Tensor, y: Tensor):
    l = [x, y, x * y]
    return l[1] + l[-1], len(l), l[0:2], l[::2]
def unpack(x: Tensor, y: Tensor):
    a, b = [x, y]
    return a, b * 2
def joined(x: Tensor, y: Tensor):
    return [x] + [y, x], len([x] + [y])
def fails_beyond(x: Tensor, y: Tensor):
    l = [x, y]
    return l[2], len(l)
def fails_wrong_count(x: Tensor, y: Tensor):
    l = [x, y]
    a, b, c = l
    return a, len([1, 2])
def slices(x: Tensor, n: int):
    l = [n, 2, 3, 4]
    return l[1:-1], l[-10:2], l[3:1], l[::3], len(l)

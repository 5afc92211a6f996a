def look(x: Tensor, y: Tensor):
    d = {"a": x, "b": y}
    return d["a"] * d["b"], len(d)
def fails_missing(x: Tensor):
    d = {"a": x, "c": x * 2}
    return d["a"] + d["b"]
def numbers(x: Tensor):
    d = {1: 2.5, 2: 3.5}
    return x * d[1] + len(d)

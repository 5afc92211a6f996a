# another error: of several that a program has, for products move to the first
# tolerance: 1e-5
def sum_of_products(x: Tensor, a: Tensor, b: Tensor):
    return x.mm(a) + x.mm(b) + a.mm(b) + b.mm(x)
def transposed(x: Tensor, a: Tensor, b: Tensor):
    return x.mm(a).t() + a.mm(b).t() + x.mm(b).t() + b.mm(a).t()
def one_operand(x: Tensor, a: Tensor, b: Tensor):
    return [x.mm(a), x.mm(b), x.mm(a.t()), x.mm(b.t()), x.mm(x.t()), x.mm(a + b), x.mm(a - b), x.mm(a * 2), x.mm(b * 2)]
def other_operand(x: Tensor, a: Tensor, b: Tensor):
    return [a.mm(x), b.mm(x), a.t().mm(x), b.t().mm(x), x.t().mm(x), (a + b).mm(x), (a * 2).mm(x), (b * 2).mm(x), (b * 3).mm(x)]

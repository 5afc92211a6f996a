def the_method(a: Tensor, b: Tensor, v: Tensor, c: Tensor):
    return (torch.mm(a, b), torch.mv(a, v), torch.dot(v, v), torch.addmm(c, a, b, beta=0.2, alpha=0.6), torch.mm(a, b.t().contiguous().t()),
            torch.bmm(a.unsqueeze(0), b.unsqueeze(0)), torch.addmv(c[:, 0].contiguous(), a, v, beta=0.2, alpha=0.6))

"""Embeddings whose weights get sparse gradients: the rows that were looked up, and nothing of the others."""
import wick


class Embedding(wick.autograd.Function):
    """Rows by index; the weight's gradient has a row for each index, in the order of the indices."""

    @staticmethod
    def forward(ctx, weight, input, padding):
        ctx.save_for_backward(input)
        ctx.sizes, ctx.padding = weight.shape, padding
        return wick.embedding(weight, input, padding)

    @staticmethod
    def backward(ctx, grad):
        input, = ctx.saved_tensors
        rows = input.reshape(-1)
        values = grad.reshape(-1, ctx.sizes[1])
        if ctx.padding >= 0:
            used = rows != ctx.padding
            rows, values = rows[used], values[used]
        return wick.sparse_coo_tensor(rows.unsqueeze(0), values, ctx.sizes), None, None

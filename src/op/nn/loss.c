/* Rows of the losses: TorchScript over other operators (helpers in prelude/operators.py), which gives them their
 * gradients. */
#include "call/row.h"

#define LOSS(text, ...) \
  { .schema = text, .body = __VA_ARGS__ }
#define NLL_FORWARD(name)                                                                                    \
  {                                                                                                          \
    .schema = name                                                                                           \
        "(Tensor self, Tensor target, Tensor? weight, int reduction, int ignore_index) -> (Tensor "          \
        "output, Tensor total_weight)",                                                                      \
    .out = "output: output total_weight",                                                                    \
    .body = "return nll_loss_any(self, target, weight, reduction, ignore_index)",                            \
    .grad = "self: nll_loss_input_backward(grad, self, target, weight, reduction, ignore_index, results[1])" \
  }

/* How PyTorch's kernels lay out the gradient of `self`, and of `target`. */
#define ROW_MAJOR_GRADIENT "self = torch._gradient_in_format(self, 'contiguous')\n"
#define ROW_MAJOR_GRADIENTS ROW_MAJOR_GRADIENT "target = torch._gradient_in_format(target, 'contiguous')\n"
#define GRADIENT_AS_SELF "self = torch._gradient_in_format(self, 'preserve')\n"

static const OpRow rows[] = {
    {.schema = "aten::mse_loss(Tensor self, Tensor target, int reduction=1) -> Tensor",
     .dtypes = "mse_cpu: promoted floating",
     .cast = CAST_FULL,
     .body = ROW_MAJOR_GRADIENTS "d = self - target\nreturn reduce_loss(d * d, reduction)",
     .flags = OP_OUT},
    {.schema = "aten::l1_loss(Tensor self, Tensor target, int reduction=1) -> Tensor",
     .cast = CAST_FULL,
     .body = "return reduce_loss((self - target).abs(), reduction)"},
    {.schema = "aten::smooth_l1_loss(Tensor self, Tensor target, int reduction=1, float beta=1.) -> Tensor",
     .dtypes = "smooth_l1_cpu: promoted floating",
     .cast = CAST_FULL,
     .body = "if beta < 0.0:\n"
             "    raise RuntimeError('smooth_l1_loss does not support negative values for beta.')\n" ROW_MAJOR_GRADIENTS
             "d = (self - target).abs()\n"
             "if beta == 0.0:\n"
             "    return reduce_loss(d, reduction)\n"
             "return reduce_loss(torch.where(d < beta, 0.5 * d * d / beta, d - 0.5 * beta), reduction)",
     .flags = OP_OUT},
    {.schema = "aten::huber_loss(Tensor self, Tensor target, int reduction=1, float delta=1.) -> Tensor",
     .dtypes = "huber_cpu: promoted floating",
     .body =
         "if delta <= 0.0:\n"
         "    raise RuntimeError('huber_loss does not support non-positive values for delta.')\n" ROW_MAJOR_GRADIENTS
         "d = (self - target).abs()\n"
         "loss = torch.where(d < delta, 0.5 * d * d, delta * (d - 0.5 * delta))\n"
         "return reduce_loss(in_dtype_of(self, loss), reduction)",
     .flags = OP_OUT},
    LOSS("aten::kl_div(Tensor self, Tensor target, int reduction=1, *, bool log_target=False) -> Tensor",
         "for t in [self, target]:\n"
         "    if t.is_complex():\n"
         "        raise RuntimeError('kl_div: Complex inputs not supported.')\n"
         "    if not t.is_floating_point():\n"
         "        raise RuntimeError('kl_div: Integral inputs not supported.')\n" ROW_MAJOR_GRADIENT "if log_target:\n"
         "    return reduce_loss(target.exp() * (target - self), reduction)\n"
         "return reduce_loss(torch.xlogy(target, target) - target * self, reduction)",
         .cast = CAST_FULL),
    {.schema = "aten::binary_cross_entropy(Tensor self, Tensor target, Tensor? weight=None, int reduction=1) -> Tensor",
     .cast = CAST_REFUSED,
     .body = "if self.dtype != target.dtype:\n"
             "    raise RuntimeError('Found dtype {} but expected {}'.format(scalar_type_name(target), "
             "scalar_type_name(self)))\n"
             "if self.size() != target.size():\n"
             "    raise RuntimeError('Using a target size ({}) that is different to the input size ({}) is deprecated. "
             "Please ensure they have the same size.'.format(target.size(), self.size()))\n"
             "if self.numel() > 0 and (bool((self < 0).any()) or bool((self > 1).any())):\n"
             "    raise RuntimeError('all elements of input should be between 0 and 1')\n"
             "loss = (1 - self).log().clamp_min(-100) * (target - 1) - self.log().clamp_min(-100) * target\n"
             "if weight is not None:\n"
             "    loss = loss * weight\n"
             "return reduce_loss(in_dtype_of(self, loss), reduction)",
     .flags = OP_OUT},
    LOSS("aten::binary_cross_entropy_with_logits(Tensor self, Tensor target, Tensor? weight=None, Tensor? "
         "pos_weight=None, int reduction=1) -> Tensor",
         "for t in [target, self]:\n"
         "    check_takes_float(t)\n" GRADIENT_AS_SELF "low = (-self).clamp_min(0)\n"
         "if self.dtype == torch.bfloat16 and is_torch2():\n"
         "    likely = torch.log_sigmoid(self)\n"
         "    if pos_weight is not None:\n"
         "        likely = ((pos_weight - 1) * target + 1) * likely\n"
         "    loss = (1 - target) * self - likely\n"
         "elif pos_weight is not None:\n"
         "    scale = (pos_weight - 1) * target + 1\n"
         "    loss = (1 - target) * self + scale * (((-low).exp() + (-self - low).exp()).log() + low)\n"
         "else:\n"
         "    loss = (1 - target) * self + low + ((-low).exp() + (-self - low).exp()).log()\n"
         "if weight is not None:\n"
         "    loss = loss * weight\n"
         "return reduce_loss(in_dtype_of(target, loss), reduction)",
         .cast = CAST_FULL),
    LOSS("aten::poisson_nll_loss(Tensor input, Tensor target, bool log_input, bool full, float eps, int reduction) -> "
         "Tensor",
         "loss = input.exp() - target * input if log_input else input - target * (input + eps).log()\n"
         "if full:\n"
         "    stirling = target * target.log() - target + 0.5 * (2 * 3.141592653589793 * target).log()\n"
         "    loss = loss + torch.where(target <= 1, torch.zeros_like(stirling), stirling)\n"
         "return reduce_loss(loss, reduction)"),
    {.schema = "aten::soft_margin_loss(Tensor self, Tensor target, int reduction=1) -> Tensor",
     .cast = CAST_FULL,
     .body = GRADIENT_AS_SELF "return reduce_loss(in_dtype_of(self, ((self * -target).exp() + 1).log()), reduction)",
     .flags = OP_OUT},
    LOSS("aten::hinge_embedding_loss(Tensor self, Tensor target, float margin=1., int reduction=1) -> Tensor",
         "zeros = torch.zeros_like(self)\n"
         "margin_part = torch.where(target != 1, (torch.full_like(self, margin) - self).clamp_min(0), zeros)\n"
         "self_part = torch.where(target != -1, self, zeros)\n"
         "return reduce_loss(margin_part + self_part, reduction)",
         .cast = CAST_FULL),
    LOSS("aten::margin_ranking_loss(Tensor input1, Tensor input2, Tensor target, float margin=0., int reduction=1) -> "
         "Tensor",
         "return reduce_loss((-target * (input1 - input2) + margin).clamp_min(0), reduction)", .cast = CAST_FULL),
    LOSS("aten::cosine_embedding_loss(Tensor input1, Tensor input2, Tensor target, float margin=0., int reduction=1) "
         "-> Tensor",
         "if target.dim() > 1:\n"
         "    raise RuntimeError('0D or 1D target tensor expected, multi-target not supported')\n"
         "d = target.dim()\n"
         "if d == 0 and (input1.dim() != 1 or input2.dim() != 1):\n"
         "    raise RuntimeError('0D target tensor expects 1D input tensors, but found inputs with sizes {} and "
         "{}.'.format(input1.size(), input2.size()))\n"
         "if d == 1 and (input1.dim() != 2 or input2.dim() != 2):\n"
         "    raise RuntimeError('1D target tensor expects 2D input tensors, but found inputs with sizes {} and "
         "{}.'.format(input1.size(), input2.size()))\n"
         "eps = 1e-12\n"
         "product = (input1 * input2).sum([d])\n"
         "first = (input1 * input1).sum([d]) + eps\n"
         "second = (input2 * input2).sum([d]) + eps\n"
         "cosine = product / (first * second).sqrt()\n"
         "zeros = torch.zeros_like(cosine)\n"
         "positive = torch.where(target == 1, 1 - cosine, zeros)\n"
         "negative = torch.where(target == -1, (cosine - margin).clamp_min(0), zeros)\n"
         "return reduce_loss(positive + negative, reduction)",
         .cast = CAST_FULL),
    LOSS("aten::triplet_margin_loss(Tensor anchor, Tensor positive, Tensor negative, float margin=1., float p=2., "
         "float eps=9.9999999999999995e-07, bool swap=False, int reduction=1) -> Tensor",
         "near = torch.pairwise_distance(anchor, positive, p, eps)\n"
         "far = torch.pairwise_distance(anchor, negative, p, eps)\n"
         "if swap:\n"
         "    far = torch.min(far, torch.pairwise_distance(positive, negative, p, eps))\n"
         "return reduce_loss((margin + near - far).clamp_min(0), reduction)",
         .cast = CAST_FULL),
    {.schema = "aten::multi_margin_loss(Tensor self, Tensor target, Scalar p=1, Scalar margin=1, Tensor? weight=None, "
               "int reduction=1) -> Tensor",
     .cast = CAST_FULL,
     .body =
         "check_rows(self)\n" ROW_MAJOR_GRADIENT "x = self if self.dim() == 2 else self.reshape([1, -1])\n"
         "if target.dim() > 1 or target.numel() != x.size(0):\n"
         "    if is_torch2():\n"
         "        raise RuntimeError('multi_margin_loss: target tensor should be 1-D with size equal to the number of "
         "input samples (batch size). Expected target size [{}], but got {}. Input has shape "
         "{}.'.format(x.size(0), target.size(), self.size()))\n"
         "    raise RuntimeError('inconsistent target size, got: {}'.format(target.size()))\n"
         "if weight is not None and weight.numel() != x.size(1) and is_torch2():\n"
         "    raise RuntimeError('inconsistent weight size, expected {} but got {}'.format(x.size(1), "
         "weight.size()))\n"
         "if target.dtype != torch.int64:\n"
         "    raise RuntimeError('expected scalar type Long but found {}'.format(scalar_type_name(target)))\n"
         "labels = target.reshape(-1)\n"
         "if labels.numel() > 0 and (int(labels.min()) < 0 or int(labels.max()) >= x.size(1)):\n"
         "    raise RuntimeError('target out of range')\n"
         "chosen = x.gather(1, labels.unsqueeze(1))\n"
         "terms = (x - chosen + margin).clamp_min(0)\n"
         "if bool(p == 2):\n"
         "    terms = terms * terms\n"
         "elif not bool(p == 1):\n"
         "    raise RuntimeError('only p == 1 and p == 2 supported')\n"
         "if weight is not None:\n"
         "    terms = terms * weight.index_select(0, labels).unsqueeze(1)\n"
         "terms = terms.scatter(1, labels.unsqueeze(1), 0)\n"
         "loss = terms.sum([1]) / x.size(1)\n"
         "if reduction == 0 and target.dim() == 0:\n"
         "    return loss.squeeze(0)\n"
         "return reduce_loss(loss, reduction)",
     .flags = OP_OUT},
    {.schema = "aten::multilabel_margin_loss(Tensor self, Tensor target, int reduction=1) -> Tensor",
     .cast = CAST_FULL,
     .body = "loss = multilabel_margin_terms(self, target)[0]\n"
             "if reduction == 0 and self.dim() < 2:\n"
             "    return loss.squeeze(0)\n"
             "return reduce_loss(loss, reduction)",
     .flags = OP_OUT},
    LOSS("aten::multilabel_margin_loss_forward(Tensor self, Tensor target, int reduction) -> (Tensor output, Tensor "
         "is_target)",
         "loss, is_target = multilabel_margin_terms(self, target)\n"
         "if reduction == 0 and self.dim() < 2:\n"
         "    return loss.squeeze(0), is_target\n"
         "return reduce_loss(loss, reduction), is_target",
         .out = "output: output is_target"),
    LOSS("aten::nll_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, int ignore_index=-100) -> "
         "Tensor",
         "return nll_loss_any(self, target, weight, reduction, ignore_index)[0]", .same_as = "aten::nll_loss_forward",
         .cast = CAST_FULL),
    LOSS("aten::nll_loss2d(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, int ignore_index=-100) -> "
         "Tensor",
         "return nll_loss_any(self, target, weight, reduction, ignore_index)[0]", .same_as = "aten::nll_loss2d_forward",
         .cast = CAST_FULL),
    LOSS("aten::nll_loss_nd(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, int ignore_index=-100) "
         "-> Tensor",
         "if self.dim() < 1:\n"
         "    raise ValueError('Expected 1 or more dimensions (got 0)')\n"
         "return nll_loss_any(self, target, weight, reduction, ignore_index)[0]",
         .same_as = "aten::nll_loss_forward"),
    NLL_FORWARD("aten::nll_loss_forward"),
    NLL_FORWARD("aten::nll_loss2d_forward"),
    LOSS("aten::cross_entropy_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, int "
         "ignore_index=-100, float label_smoothing=0.) -> Tensor",
         "if label_smoothing > 1.0:\n"
         "    raise RuntimeError('label_smoothing must be between 0.0 and 1.0. Got: {}'.format(label_smoothing))\n"
         "d = 0 if self.dim() == 1 else 1\n"
         "log_probs = self.log_softmax(d)\n"
         "if self.size() == target.size():\n"
         "    if not target.is_floating_point():\n"
         "        raise RuntimeError('Expected floating point type for target with class probabilities, got "
         "{}'.format(target.dtype))\n"
         "    if ignore_index >= 0:\n"
         "        raise RuntimeError('ignore_index is not supported for floating point target')\n"
         "    wanted = target\n"
         "    if label_smoothing > 0.0:\n"
         "        wanted = target * (1.0 - label_smoothing) + label_smoothing / self.size(d)\n"
         "    terms = log_probs * wanted\n"
         "    if weight is not None:\n"
         "        shape = [1 for _ in range(self.dim())]\n"
         "        shape[d] = weight.size(0)\n"
         "        terms = terms * weight.view(shape)\n"
         "    if reduction == 1:\n"
         "        count = 0 if self.numel() == 0 else self.numel() // self.size(d)\n"
         "        return -terms.sum() / count\n"
         "    if reduction == 2:\n"
         "        return -terms.sum()\n"
         "    return -terms.sum([d])\n"
         "loss, total = nll_loss_any(log_probs, target, weight, reduction, ignore_index)\n"
         "if label_smoothing == 0.0:\n"
         "    return loss\n"
         "smooth = log_probs\n"
         "if weight is not None:\n"
         "    shape = [1 for _ in range(self.dim())]\n"
         "    shape[d] = weight.size(0)\n"
         "    smooth = log_probs * weight.view(shape)\n"
         "smooth = -smooth.sum([d])\n"
         "smooth = smooth.masked_fill(target == ignore_index, 0)\n"
         "if reduction == 1:\n"
         "    smooth = smooth.sum() / total if weight is not None else smooth.sum() / (target != ignore_index).sum()\n"
         "elif reduction == 2:\n"
         "    smooth = smooth.sum()\n"
         "return (1.0 - label_smoothing) * loss + smooth * (label_smoothing / self.size(d))"),
    LOSS("aten::ctc_loss.IntList(Tensor log_probs, Tensor targets, int[] input_lengths, int[] target_lengths, int "
         "blank=0, int reduction=1, bool zero_infinity=False) -> Tensor",
         "return ctc_loss_of(log_probs, targets, input_lengths, target_lengths, blank, reduction, zero_infinity)"),
    LOSS("aten::ctc_loss.Tensor(Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor target_lengths, int "
         "blank=0, int reduction=1, bool zero_infinity=False) -> Tensor",
         "inputs: List[int] = input_lengths.reshape(-1).tolist()\n"
         "lengths: List[int] = target_lengths.reshape(-1).tolist()\n"
         "return ctc_loss_of(log_probs, targets, inputs, lengths, blank, reduction, zero_infinity)"),
};
OP_TABLE(op_table_loss, rows);

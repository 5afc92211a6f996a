# Steps of optimizers over lists of tensors, which they change in place: call them with gradients off.


# momentum_buffer_list: one for each parameter; None before the first step, or zeros.
def sgd(params: List[Tensor], d_p_list: List[Tensor], momentum_buffer_list: List[Optional[Tensor]],
        has_sparse_grad: Optional[bool] = None, foreach: Optional[bool] = None, *, weight_decay: float, momentum: float,
        lr: float, dampening: float, nesterov: bool, maximize: bool) -> None:
    for i in range(len(params)):
        step = d_p_list[i].neg() if maximize else d_p_list[i]
        if weight_decay != 0:
            step = step.add(params[i], alpha=weight_decay)
        if momentum != 0:
            buffer = momentum_buffer_list[i]
            if buffer is None:
                velocity = step.clone()
                momentum_buffer_list[i] = velocity
            else:
                velocity = buffer.mul_(momentum).add_(step, alpha=1 - dampening)
            step = step.add(velocity, alpha=momentum) if nesterov else velocity
        params[i].add_(step, alpha=-lr)


# D. Kingma, J. Ba, "Adam: A Method for Stochastic Optimization" (2015); amsgrad: S. Reddi et al., "On the Convergence of
# Adam and Beyond" (2018). state_steps: a tensor of one element for each parameter, zero before the first step.
def adam(params: List[Tensor], grads: List[Tensor], exp_avgs: List[Tensor], exp_avg_sqs: List[Tensor],
         max_exp_avg_sqs: List[Tensor], state_steps: List[Tensor], foreach: Optional[bool] = None,
         capturable: bool = False, *, amsgrad: bool, beta1: float, beta2: float, lr: float, weight_decay: float,
         eps: float, maximize: bool) -> None:
    for i in range(len(params)):
        grad = grads[i].neg() if maximize else grads[i]
        state_steps[i] += 1
        if weight_decay != 0:
            grad = grad.add(params[i], alpha=weight_decay)
        mean = exp_avgs[i].mul_(beta1).add_(grad, alpha=1 - beta1)
        square = exp_avg_sqs[i].mul_(beta2).addcmul_(grad, grad.conj(), value=1 - beta2)
        if amsgrad:
            square = torch.maximum(max_exp_avg_sqs[i], square)
            max_exp_avg_sqs[i].copy_(square)
        step = float(state_steps[i])
        rate = lr / (1 - beta1 ** step)
        params[i].addcdiv_(mean, (square.sqrt() / math.sqrt(1 - beta2 ** step)).add_(eps), value=-rate)


# I. Loshchilov, F. Hutter, "Decoupled Weight Decay Regularization" (2019).
def adamw(params: List[Tensor], grads: List[Tensor], exp_avgs: List[Tensor], exp_avg_sqs: List[Tensor],
          max_exp_avg_sqs: List[Tensor], state_steps: List[Tensor], foreach: Optional[bool] = None,
          capturable: bool = False, *, amsgrad: bool, beta1: float, beta2: float, lr: float, weight_decay: float,
          eps: float, maximize: bool) -> None:
    for i in range(len(params)):
        params[i].mul_(1 - lr * weight_decay)
    adam(params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps, amsgrad=amsgrad, beta1=beta1, beta2=beta2,
         lr=lr, weight_decay=0.0, eps=eps, maximize=maximize)

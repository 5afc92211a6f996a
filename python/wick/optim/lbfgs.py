"""L-BFGS (J. Nocedal, S. Wright, "Numerical Optimization", chapter 7) with a line search for Wolfe's conditions."""
import math

import wick
from wick.optim.optimizer import Optimizer


def _cubic_minimum(x1, f1, g1, x2, f2, g2, bounds=None):
    """Where the cubic through two points with two slopes is least, within ``bounds`` or the points themselves."""
    low, high = bounds if bounds is not None else (min(x1, x2), max(x1, x2))
    d1 = g1 + g2 - 3 * (f1 - f2) / (x1 - x2)
    square = d1 ** 2 - g1 * g2
    if square < 0:
        return (low + high) / 2.
    d2 = math.sqrt(square)
    least = x2 - (x2 - x1) * ((g2 + d2 - d1) / (g2 - g1 + 2 * d2)) if x1 <= x2 else \
        x1 - (x1 - x2) * ((g1 + d2 - d1) / (g1 - g2 + 2 * d2))
    return min(max(least, low), high)


class _Point:
    """A step length with loss, gradient and slope along the direction there."""

    def __init__(self, t, loss, grad, slope):
        self.t, self.loss, self.grad, self.slope = t, float(loss), grad, float(slope)


def _strong_wolfe(evaluate, start, t, largest, tolerance_change, c1=1e-4, c2=0.9, longest=25):
    """A step length with enough decrease (c1) and a slope small enough (c2): the point, and evaluations made.

    ``start``: the point at length 0; ``evaluate(t)`` gives the point at ``t``; ``largest``: the direction's largest
    element. Steps grow until an interval has such a length inside, which is then made smaller.
    """
    previous, now = start, evaluate(t)
    evaluations, rounds = 1, 0
    interval = None
    while rounds < longest:
        if now.loss > start.loss + c1 * now.t * start.slope or (rounds > 1 and now.loss >= previous.loss):
            interval = [previous, now]
            break
        if abs(now.slope) <= -c2 * start.slope:
            return now, evaluations
        if now.slope >= 0:
            interval = [previous, now]
            break
        least, most = now.t + 0.01 * (now.t - previous.t), now.t * 10
        t = _cubic_minimum(previous.t, previous.loss, previous.slope, now.t, now.loss, now.slope, (least, most))
        previous, now = now, evaluate(t)
        evaluations += 1
        rounds += 1
    if interval is None:
        interval = [start, now]
    low, high = (0, 1) if interval[0].loss <= interval[-1].loss else (1, 0)
    slow = False
    while rounds < longest:
        ends = sorted(point.t for point in interval)
        if (ends[1] - ends[0]) * largest < tolerance_change:
            break
        first, second = interval
        t = _cubic_minimum(first.t, first.loss, first.slope, second.t, second.loss, second.slope)
        edge = 0.1 * (ends[1] - ends[0])
        if min(ends[1] - t, t - ends[0]) < edge:
            if slow or t >= ends[1] or t <= ends[0]:
                t = ends[1] - edge if abs(t - ends[1]) < abs(t - ends[0]) else ends[0] + edge
                slow = False
            else:
                slow = True
        else:
            slow = False
        now = evaluate(t)
        evaluations += 1
        rounds += 1
        if now.loss > start.loss + c1 * t * start.slope or now.loss >= interval[low].loss:
            interval[high] = now
            low, high = (0, 1) if interval[0].loss <= interval[1].loss else (1, 0)
        else:
            done = abs(now.slope) <= -c2 * start.slope
            if not done and now.slope * (interval[high].t - interval[low].t) >= 0:
                interval[high] = interval[low]
            interval[low] = now
            if done:
                break
    return interval[low], evaluations


class LBFGS(Optimizer):
    """L-BFGS of one parameter group; ``step`` needs a closure that computes the loss and the gradients anew.

    ``line_search_fn``: None for steps of length lr, or 'strong_wolfe'.
    """

    def __init__(self, params, lr=1, max_iter=20, max_eval=None, tolerance_grad=1e-7, tolerance_change=1e-9,
                 history_size=100, line_search_fn=None):
        max_eval = max_iter * 5 // 4 if max_eval is None else max_eval
        super().__init__(params, dict(lr=lr, max_iter=max_iter, max_eval=max_eval, tolerance_grad=tolerance_grad,
                                      tolerance_change=tolerance_change, history_size=history_size,
                                      line_search_fn=line_search_fn))
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")
        self._params = self.param_groups[0]['params']

    def _flat_grad(self):
        return wick.cat([wick.zeros_like(param).reshape(-1) if param.grad is None else
                         param.grad.to_dense().reshape(-1) if param.grad.layout != wick.strided else
                         param.grad.reshape(-1) for param in self._params])

    def _move(self, t, direction):
        start = 0
        for param in self._params:
            count = param.numel()
            param.add_(direction[start:start + count].view_as(param), alpha=float(t))
            start += count

    def _search(self, closure, t, direction, loss, grad, slope, tolerance_change):
        """A step length by line search from where the parameters are, and evaluations made."""
        here = [param.clone() for param in self._params]

        def evaluate(length):
            self._move(length, direction)
            found = float(closure())
            gradient = self._flat_grad()
            for param, value in zip(self._params, here):
                param.copy_(value)
            return _Point(length, found, gradient, gradient.dot(direction))

        return _strong_wolfe(evaluate, _Point(0., loss, grad.clone(), slope), float(t), float(direction.abs().max()),
                             tolerance_change)

    @staticmethod
    def _direction(grad, last_grad, last_direction, t, state, history_size):
        """Minus the gradient times the approximate inverse Hessian of the last steps."""
        old_dirs, old_stps, ro = state['old_dirs'], state['old_stps'], state['ro']
        y, s = grad.sub(last_grad), last_direction.mul(t)
        ys = y.dot(s)
        if ys > 1e-10:
            if len(old_dirs) == history_size:
                for kept in (old_dirs, old_stps, ro):
                    kept.pop(0)
            old_dirs.append(y)
            old_stps.append(s)
            ro.append(1. / ys)
            state['H_diag'] = ys / y.dot(y)
        al = state.setdefault('al', [None] * history_size)
        q = grad.neg()
        for i in reversed(range(len(old_dirs))):
            al[i] = old_stps[i].dot(q) * ro[i]
            q.add_(old_dirs[i], alpha=-float(al[i]))
        direction = q.mul(state['H_diag'])
        for i in range(len(old_dirs)):
            be = old_dirs[i].dot(direction) * ro[i]
            direction.add_(old_stps[i], alpha=float(al[i] - be))
        return direction

    def step(self, closure):
        """Up to ``max_iter`` steps; returns the first loss."""
        with wick.no_grad():
            return self._steps(wick.enable_grad()(closure))

    def _steps(self, closure):
        group = self.param_groups[0]
        tolerance_change, max_iter = group['tolerance_change'], group['max_iter']
        if group['line_search_fn'] not in (None, 'strong_wolfe'):
            raise RuntimeError("only 'strong_wolfe' is supported")
        state = self.state[self._params[0]]
        state.setdefault('func_evals', 0)
        state.setdefault('n_iter', 0)
        first_loss = closure()
        loss = float(first_loss)
        evaluations = 1
        state['func_evals'] += 1
        grad = self._flat_grad()
        if grad.abs().max() <= group['tolerance_grad']:
            return first_loss
        direction, t, last_grad, last_loss = (state.get(name) for name in ('d', 't', 'prev_flat_grad', 'prev_loss'))
        done = 0
        while done < max_iter:
            done += 1
            state['n_iter'] += 1
            if state['n_iter'] == 1:
                direction = grad.neg()
                state.update(old_dirs=[], old_stps=[], ro=[], H_diag=1)
                t = min(1., 1. / float(grad.abs().sum())) * group['lr']
            else:
                direction = self._direction(grad, last_grad, direction, t, state, group['history_size'])
                t = group['lr']
            last_grad, last_loss = grad.clone(), loss
            slope = grad.dot(direction)
            if slope > -tolerance_change:
                break
            made = 0
            if group['line_search_fn'] is not None:
                point, made = self._search(closure, t, direction, loss, grad, slope, tolerance_change)
                loss, grad, t = point.loss, point.grad, point.t
                self._move(t, direction)
            else:
                self._move(t, direction)
                if done != max_iter:
                    loss = float(closure())
                    grad = self._flat_grad()
                    made = 1
            evaluations += made
            state['func_evals'] += made
            if (done == max_iter or evaluations >= group['max_eval'] or grad.abs().max() <= group['tolerance_grad']
                    or direction.mul(t).abs().max() <= tolerance_change or abs(loss - last_loss) < tolerance_change):
                break
        state.update(d=direction, t=t, prev_flat_grad=last_grad, prev_loss=last_loss)
        return first_loss

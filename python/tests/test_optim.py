"""Optimizers against PyTorch 1.13's parameters after steps, their state dicts and errors; schedules of rates.

With the argument --record and PyTorch installed this file prints the recorded numbers anew.
"""
import copy
import math
import sys
import unittest
import warnings

RECORD = '--record' in sys.argv
if RECORD:
    import torch as wick
else:
    import wick
    from wick import optim as _optim  # noqa: F401  (schedules are imported with it)
nn, optim = wick.nn, wick.optim
schedules = optim.lr_scheduler

OPTIMIZERS = [
    'SGD(p, lr=0.1)', 'SGD(p, lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.01)',
    'SGD(p, lr=0.1, momentum=0.9, dampening=0.5, maximize=True)', 'Adam(p)',
    'Adam(p, lr=0.05, amsgrad=True, weight_decay=0.1)', 'AdamW(p, lr=0.1)', 'RMSprop(p)',
    'RMSprop(p, momentum=0.9, centered=True, weight_decay=0.1)', 'Adagrad(p, lr=0.1, lr_decay=0.1)', 'Adadelta(p)',
    'Adamax(p, lr=0.1)', 'NAdam(p, lr=0.1)', 'RAdam(p, lr=0.1)', 'Rprop(p)', 'ASGD(p, lr=0.1, t0=3)',
    'LBFGS(p, lr=0.1, max_iter=3)', "LBFGS(p, line_search_fn='strong_wolfe', max_iter=3)",
]
SCHEDULES = [
    'StepLR(o, 2, 0.5)', 'MultiStepLR(o, [2, 4, 4])', 'ExponentialLR(o, 0.8)', 'CosineAnnealingLR(o, 4, 0.01)',
    'CosineAnnealingWarmRestarts(o, 2, 2)', 'LambdaLR(o, lambda epoch: 0.9 ** epoch)',
    'MultiplicativeLR(o, lambda epoch: 0.9)', 'OneCycleLR(o, 0.5, 9)',
    "OneCycleLR(o, 0.5, 9, anneal_strategy='linear', three_phase=True)", 'CyclicLR(o, 0.1, 0.5, 3)',
    "CyclicLR(o, 0.1, 0.5, 2, 1, 'triangular2')", "CyclicLR(o, 0.1, 0.5, 3, 2, 'exp_range', 0.9)",
    'LinearLR(o, 0.2, 0.7, 4)', 'ConstantLR(o, 0.5, 3)', 'PolynomialLR(o, 6, 2.0)',
    'SequentialLR(o, [L.ConstantLR(o, 0.5, 2), L.ExponentialLR(o, 0.9)], [3])',
    'ChainedScheduler([L.ConstantLR(o, 0.5, 2), L.ExponentialLR(o, 0.9)])',
]
# Parameters after six steps.
PARAMETERS = {
    'SGD(p, lr=0.1)': (0.5165339, -1.799395, -0.9680353, 0.7092726),
    'SGD(p, lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.01)': (-0.8681068, -1.431805, -2.796714, 1.699533),
    'SGD(p, lr=0.1, momentum=0.9, dampening=0.5, maximize=True)': (4.247315, -6.914209, 5.214569, -4.038496),
    'Adam(p)': (0.9940014, -1.994003, 0.4939998, 0.3059976),
    'Adam(p, lr=0.05, amsgrad=True, weight_decay=0.1)': (0.7037073, -1.719567, 0.1995695, 0.5835085),
    'AdamW(p, lr=0.1)': (0.4074649, -1.597364, -0.1032126, 0.7787812),
    'RMSprop(p)': (0.6621082, -1.784415, 0.1264848, 0.5674648),
    'RMSprop(p, momentum=0.9, centered=True, weight_decay=0.1)': (-0.1464509, -1.421754, -0.7518832, 0.902218),
    'Adagrad(p, lr=0.1, lr_decay=0.1)': (0.7115071, -1.794261, 0.1846597, 0.5417035),
    'Adadelta(p)': (0.980338, -1.980608, 0.4801301, 0.3195198),
    'Adamax(p, lr=0.1)': (0.4846922, -1.674004, -0.08306874, 0.6881133),
    'NAdam(p, lr=0.1)': (0.5549198, -1.755499, 0.009573461, 0.6272617),
    'RAdam(p, lr=0.1)': (0.5674749, -1.70846, -0.8792268, 0.7832203),
    'Rprop(p)': (0.9007008, -1.900701, 0.4007008, 0.3992992),
    'ASGD(p, lr=0.1, t0=3)': (0.5164943, -1.799313, -0.9680093, 0.7092158),
    'LBFGS(p, lr=0.1, max_iter=3)': (-0.8037899, -1.929307, -1.794404, 1.283431),
    "LBFGS(p, line_search_fn='strong_wolfe', max_iter=3)": (-3.028263, -3.259487, -3.629744, 6.556006),
}
# Rates of eight epochs.
RATES = {
    'StepLR(o, 2, 0.5)': (0.1, 0.1, 0.05, 0.05, 0.025, 0.025, 0.0125, 0.0125),
    'MultiStepLR(o, [2, 4, 4])': (0.1, 0.1, 0.01, 0.01, 0.0001, 0.0001, 0.0001, 0.0001),
    'ExponentialLR(o, 0.8)': (0.1, 0.08, 0.064, 0.0512, 0.04096, 0.032768, 0.0262144, 0.0209715),
    'CosineAnnealingLR(o, 4, 0.01)': (0.1, 0.0868198, 0.055, 0.0231802, 0.01, 0.0231802, 0.055, 0.0868198),
    'CosineAnnealingWarmRestarts(o, 2, 2)': (0.1, 0.05, 0.1, 0.0853553, 0.05, 0.0146447, 0.1, 0.096194),
    'LambdaLR(o, lambda epoch: 0.9 ** epoch)': (0.1, 0.09, 0.081, 0.0729, 0.06561, 0.059049, 0.0531441, 0.0478297),
    'MultiplicativeLR(o, lambda epoch: 0.9)': (0.1, 0.09, 0.081, 0.0729, 0.06561, 0.059049, 0.0531441, 0.0478297),
    'OneCycleLR(o, 0.5, 9)': (0.02, 0.325679, 0.497208, 0.449283, 0.352822, 0.231319, 0.114365, 0.0304465),
    "OneCycleLR(o, 0.5, 9, anneal_strategy='linear', three_phase=True)":
        (0.02, 0.302353, 0.415294, 0.132941, 0.0173916, 0.0130442, 0.00869678, 0.00434939),
    'CyclicLR(o, 0.1, 0.5, 3)': (0.1, 0.233333, 0.366667, 0.5, 0.366667, 0.233333, 0.1, 0.233333),
    "CyclicLR(o, 0.1, 0.5, 2, 1, 'triangular2')": (0.1, 0.3, 0.5, 0.1, 0.2, 0.3, 0.1, 0.15),
    "CyclicLR(o, 0.1, 0.5, 3, 2, 'exp_range', 0.9)": (0.1, 0.22, 0.316, 0.3916, 0.23122, 0.1, 0.170859, 0.227546),
    'LinearLR(o, 0.2, 0.7, 4)': (0.02, 0.0325, 0.045, 0.0575, 0.07, 0.07, 0.07, 0.07),
    'ConstantLR(o, 0.5, 3)': (0.05, 0.05, 0.05, 0.1, 0.1, 0.1, 0.1, 0.1),
    'PolynomialLR(o, 6, 2.0)': (0.1, 0.0694444, 0.0444444, 0.025, 0.0111111, 0.00277778, 0, 0),
    'SequentialLR(o, [L.ConstantLR(o, 0.5, 2), L.ExponentialLR(o, 0.9)], [3])':
        (0.05, 0.05, 0.1, 0.1, 0.09, 0.081, 0.0729, 0.06561),
    'ChainedScheduler([L.ConstantLR(o, 0.5, 2), L.ExponentialLR(o, 0.9)])':
        (0.05, 0.045, 0.081, 0.0729, 0.06561, 0.059049, 0.0531441, 0.0478297),
}


def problem():
    """Two parameters and a loss of them; of float64, since rounding leads L-BFGS far apart."""
    first = nn.Parameter(wick.tensor([1.0, -2.0, 0.5], dtype=wick.float64))
    second = nn.Parameter(wick.tensor([0.3], dtype=wick.float64))
    weights = wick.tensor([1.0, 2.0, 3.0], dtype=wick.float64)

    def loss():
        return ((first * first).sum() / 5 - second[0]) ** 2 + (first.tanh() * weights).sum()

    return [first, second], loss


def after_steps(text, steps=6, reload_at=None):
    params, loss = problem()
    make = lambda: eval('optim.' + text, {'optim': optim, 'p': params})  # noqa: E731
    optimizer = make()

    def closure():
        optimizer.zero_grad()
        value = loss()
        value.backward()
        return value

    for step in range(steps):
        if step == reload_at:
            state = copy.deepcopy(optimizer.state_dict())
            optimizer = make()
            optimizer.load_state_dict(state)
        optimizer.step(closure)
    return [value for param in params for value in param.tolist()], optimizer


def rates(text):
    params, _ = problem()
    optimizer = optim.SGD(params, lr=0.1, momentum=0.5)
    schedule = eval('L.' + text, {'L': schedules, 'o': optimizer})
    found = []
    for _ in range(8):
        found.append(optimizer.param_groups[0]['lr'])
        optimizer.step()
        schedule.step()
    return found, schedule


class Optimizers(unittest.TestCase):
    def near(self, found, wanted, tolerance, what):
        for value, expected in zip(found, wanted):
            self.assertAlmostEqual(value, expected, delta=tolerance * max(1.0, abs(expected)), msg=what)

    def test_parameters_after_steps(self):
        for text in OPTIMIZERS:
            self.near(after_steps(text)[0], PARAMETERS[text], 1e-5, text)

    def test_state_goes_on_in_another(self):
        for text in OPTIMIZERS:
            self.near(after_steps(text, reload_at=3)[0], after_steps(text)[0], 1e-6, text)

    def test_state_dict_keys(self):
        for text, keys in (
                ('SGD(p, lr=0.1)', ['momentum_buffer']), ('Adam(p)', ['step', 'exp_avg', 'exp_avg_sq']),
                ('Adam(p, amsgrad=True)', ['step', 'exp_avg', 'exp_avg_sq', 'max_exp_avg_sq']),
                ('RMSprop(p, momentum=0.9, centered=True)', ['step', 'square_avg', 'momentum_buffer', 'grad_avg']),
                ('Adagrad(p)', ['step', 'sum']), ('Adadelta(p)', ['step', 'square_avg', 'acc_delta']),
                ('NAdam(p)', ['step', 'mu_product', 'exp_avg', 'exp_avg_sq']),
                ('Rprop(p)', ['step', 'prev', 'step_size'])):
            state = after_steps(text, 1)[1].state_dict()
            self.assertEqual(list(state), ['state', 'param_groups'])
            self.assertEqual(list(state['state'][0]), keys, text)
            self.assertEqual(state['param_groups'][0]['params'], [0, 1])
        self.assertEqual(float(after_steps('Adam(p)', 3)[1].state_dict()['state'][1]['step']), 3)

    def test_groups(self):
        params, loss = problem()
        optimizer = optim.SGD([{'params': params[:1]}, {'params': params[1], 'lr': 0.0}], lr=0.1)
        loss().backward()
        before = [param.detach().clone() for param in params]
        optimizer.step()
        self.assertFalse(wick.equal(params[0], before[0]))
        self.assertTrue(wick.equal(params[1], before[1]))
        lines = repr(optim.SGD(params, lr=0.1)).split('\n')
        self.assertEqual(lines[:3], ['SGD (', 'Parameter Group 0', '    dampening: 0'])
        self.assertEqual(lines[-2:], ['    weight_decay: 0', ')'])
        optimizer.zero_grad()
        self.assertEqual(params[0].grad.abs().sum().item(), 0)
        optimizer.zero_grad(set_to_none=True)
        self.assertIsNone(params[0].grad)
        optimizer.step()

    def test_errors(self):
        params, _ = problem()
        for make, kind, text in (
                (lambda: optim.SGD([], lr=0.1), ValueError, 'empty parameter list'),
                (lambda: optim.SGD(params), ValueError, 'required optimization parameter lr'),
                (lambda: optim.SGD(params, lr=-1), ValueError, 'Invalid learning rate: -1'),
                (lambda: optim.SGD(params, lr=0.1, nesterov=True), ValueError, 'Nesterov momentum requires'),
                (lambda: optim.SGD(params[0], lr=0.1), TypeError, 'iterable of Tensors or dicts'),
                (lambda: optim.SGD([params[0] * 2], lr=0.1), ValueError, 'non-leaf'),
                (lambda: optim.SGD([3], lr=0.1), TypeError, 'one of the params is int'),
                (lambda: optim.SGD([{'params': params}, {'params': params[:1]}], 0.1), ValueError, 'more than one'),
                (lambda: optim.Adam(params, betas=(1.0, 0.9)), ValueError, 'beta parameter at index 0: 1.0'),
                (lambda: optim.Rprop(params, etas=(2, 3)), ValueError, 'Invalid eta values: 2, 3'),
                (lambda: optim.SGD(params, lr=1).load_state_dict({'state': {}, 'param_groups': []}), ValueError,
                 'different number of parameter groups')):
            with self.assertRaisesRegex(kind, text):
                make()

    def test_training_learns(self):
        wick.manual_seed(0)
        x = wick.randn(64, 3)
        y = (x @ wick.tensor([[1.0], [-2.0], [0.5]])) + 0.3
        layer = nn.Linear(3, 1)
        optimizer = optim.Adam(layer.parameters(), lr=0.05)
        for _ in range(300):
            optimizer.zero_grad()
            nn.functional.mse_loss(layer(x), y).backward()
            optimizer.step()
        self.assertTrue(wick.allclose(layer.weight, wick.tensor([[1.0, -2.0, 0.5]]), atol=1e-2))
        self.assertAlmostEqual(layer.bias.item(), 0.3, delta=1e-2)


class Schedules(unittest.TestCase):
    def test_rates(self):
        for text in SCHEDULES:
            found, _ = rates(text)
            for value, wanted in zip(found, RATES[text]):
                self.assertAlmostEqual(value, wanted, places=6, msg=text)

    def test_closed_forms_agree(self):
        for text in SCHEDULES[:4] + SCHEDULES[12:15]:
            found, schedule = rates(text)
            with warnings.catch_warnings():
                warnings.simplefilter('ignore')
                for epoch in (5, 1, 7):
                    schedule.step(epoch)
                    self.assertAlmostEqual(schedule.get_last_lr()[0], found[epoch], places=9, msg=text)

    def test_state_dicts(self):
        for text in SCHEDULES:
            found, schedule = rates(text)
            other = rates(text)[1]
            other.load_state_dict(copy.deepcopy(schedule.state_dict()))
            self.assertEqual(other.get_last_lr(), schedule.get_last_lr())

    def test_plateau(self):
        params, _ = problem()
        optimizer = optim.SGD(params, lr=0.1)
        schedule = schedules.ReduceLROnPlateau(optimizer, patience=1, cooldown=1, min_lr=1e-3)
        seen = []
        for metric in (1.0, 0.9, 0.95, 0.95, 0.95, 0.95, 0.95, 0.8):
            schedule.step(metric)
            seen.append(round(optimizer.param_groups[0]['lr'], 6))
        self.assertEqual(seen, [0.1, 0.1, 0.1, 0.01, 0.01, 0.01, 0.001, 0.001])

    def test_momentum_goes_the_other_way(self):
        params, _ = problem()
        optimizer = optim.Adam(params)
        schedule = schedules.OneCycleLR(optimizer, 0.1, total_steps=10)
        self.assertEqual(optimizer.param_groups[0]['betas'][0], 0.95)
        for _ in range(2):
            optimizer.step()
            schedule.step()
        self.assertAlmostEqual(optimizer.param_groups[0]['betas'][0], 0.85)
        self.assertAlmostEqual(optimizer.param_groups[0]['lr'], 0.1)

    def test_errors(self):
        params, _ = problem()
        optimizer = optim.SGD(params, lr=0.1)
        for make, kind, text in (
                (lambda: schedules.StepLR(3, 2), TypeError, 'int is not an Optimizer'),
                (lambda: schedules.StepLR(optimizer, 2, last_epoch=3), KeyError, 'initial_lr'),
                (lambda: schedules.OneCycleLR(optimizer, 0.1), ValueError, 'You must define either'),
                (lambda: schedules.LambdaLR(optimizer, [1, 2]), ValueError, 'Expected 1 lr_lambdas, but got 2'),
                (lambda: schedules.ReduceLROnPlateau(optimizer, factor=2.0), ValueError, 'Factor should be'),
                (lambda: schedules.CyclicLR(optim.Adagrad(params), 0.1, 0.2), ValueError, 'must support momentum')):
            with self.assertRaisesRegex(kind, text):
                make()


if __name__ == '__main__':
    if RECORD:
        warnings.simplefilter('ignore')
        for table, texts in (('P', [(t, after_steps(t)[0]) for t in OPTIMIZERS]),
                             ('R', [(t, rates(t)[0]) for t in SCHEDULES])):
            print(table)
            for text, numbers in texts:
                print('    {!r}: ('.format(text) + ', '.join('{:.7g}'.format(number) for number in numbers) + '),')
    else:
        unittest.main()

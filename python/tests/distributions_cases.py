"""What distributions give: samples by seed, densities, moments, entropies, gradients, divergences, errors.

`python3 distributions_cases.py FILE` with PyTorch 1.13 writes FILE, which test_distributions.py compares with wick's.
"""
import gzip
import json
import sys


def parameters(torch):
    """Name: (class, arguments)."""
    t, d = torch.tensor, torch.distributions
    covariance = t([[2.0, 0.5, 0.1], [0.5, 1.0, 0.2], [0.1, 0.2, 1.5]])
    return {
        "normal": (d.Normal, (t([0.0, 1.0, -2.0]), t([1.0, 0.5, 3.0]))),
        "normal_numbers": (d.Normal, (0.5, 2)),
        "normal_double": (d.Normal, (t([0.0, 1.0], dtype=torch.float64), 2.0)),
        "normal_broadcast": (d.Normal, (torch.zeros(2, 1), torch.ones(3))),
        "uniform": (d.Uniform, (t([-1.0, 0.0]), t([1.0, 3.0]))),
        "bernoulli": (d.Bernoulli, (t([0.0, 0.3, 0.5, 1.0]),)),
        "bernoulli_logits": (lambda logits: d.Bernoulli(logits=logits), (t([-3.0, 0.3, 40.0]),)),
        "categorical": (d.Categorical, (t([[0.1, 0.2, 0.7], [3.0, 0.0, 1.0]]),)),
        "categorical_logits": (lambda logits: d.Categorical(logits=logits), (t([1.0, -2.0, 0.5]),)),
        "one_hot": (d.OneHotCategorical, (t([[0.1, 0.2, 0.7], [3.0, 1.0, 1.0]]),)),
        "exponential": (d.Exponential, (t([0.5, 2.0]),)),
        "laplace": (d.Laplace, (t([0.0, 1.0]), t([1.0, 0.3]))),
        "gamma": (d.Gamma, (t([0.5, 2.0, 9.0]), t([1.0, 3.0, 0.5]))),
        "dirichlet": (d.Dirichlet, (t([[0.5, 2.0, 1.5], [0.2, 0.3, 0.1]]),)),
        "beta": (d.Beta, (t([0.5, 2.0, 3.0]), t([0.5, 5.0, 1.0]))),
        "poisson": (d.Poisson, (t([0.5, 4.0, 30.0]),)),
        "geometric": (d.Geometric, (t([0.2, 0.9]),)),
        "log_normal": (d.LogNormal, (t([0.0, 0.5]), t([1.0, 0.25]))),
        "multivariate_covariance": (d.MultivariateNormal, (torch.zeros(3), covariance)),
        "multivariate_precision": (lambda m, p: d.MultivariateNormal(m, precision_matrix=p),
                                   (torch.ones(2, 3), covariance)),
        "multivariate_tril": (lambda m, f: d.MultivariateNormal(m, scale_tril=f),
                              (torch.ones(3), t([[1.5, 0.0, 0.0], [0.5, 1.0, 0.0], [0.25, -0.5, 2.0]]))),
        "independent": (lambda m, s: d.Independent(d.Normal(m, s), 1), (torch.zeros(2, 3), torch.ones(2, 3))),
        "tanh_normal": (lambda m, s: d.TransformedDistribution(d.Normal(m, s), [d.TanhTransform(cache_size=1)]),
                        (t([0.0, 1.0]), t([1.0, 0.3]))),
        "affine": (lambda m, s: d.TransformedDistribution(d.Normal(m, s), [
            d.AffineTransform(1.0, -2.0), d.SigmoidTransform(), d.AffineTransform(t([0.0, 1.0]), 3.0)]),
            (t([0.0, 1.0]), t([1.0, 0.3]))),
        "affine_of_rows": (lambda m, s: d.TransformedDistribution(d.Independent(d.Normal(m, s), 1), [
            d.AffineTransform(1.0, t([2.0, 3.0]), event_dim=1)]), (torch.zeros(4, 2), torch.ones(4, 2))),
    }


def plain(value):
    """A result as JSON has it: NaN and infinities as text."""
    if hasattr(value, "tolist"):
        return [str(value.dtype).split(".")[1], list(value.shape), [repr(x) for x in value.reshape(-1).tolist()]]
    return repr(value)


def said(function):
    """What `function` gives or the class and text of its error, without the package's name."""
    try:
        return plain(function())
    except Exception as error:  # noqa: BLE001  (what is compared)
        return type(error).__name__ + ": " + str(error).replace("wick", "torch")


def of_one(torch, name, make, arguments):
    """All that one distribution answers."""
    out = {}
    distribution = make(*arguments)
    out["repr"] = repr(distribution).replace("wick", "torch")
    out["shapes"] = [list(distribution.batch_shape), list(distribution.event_shape)]
    torch.manual_seed(7)
    sample = distribution.sample((2,))
    out["sample"] = plain(sample)
    for what in ("mean", "mode", "variance", "stddev"):
        if name.startswith(("independent",)) and what == "mode":
            continue
        out[what] = said(lambda: getattr(distribution, what))
    for what in ("entropy", "perplexity"):
        out[what] = said(getattr(distribution, what))
    out["log_prob"] = said(lambda: distribution.log_prob(sample))
    if name != "gamma":  # 1.13 has none
        out["cdf"] = said(lambda: distribution.cdf(sample))
    out["icdf"] = said(lambda: distribution.icdf(torch.full(sample.shape, 0.3)))
    if distribution.has_enumerate_support:
        out["support"] = [plain(distribution.enumerate_support(expand=expand)) for expand in (True, False)]
    out["expand"] = said(lambda: distribution.expand((5,) + tuple(distribution.batch_shape)).log_prob(sample[:1]))
    leaves = [a.clone().requires_grad_() if isinstance(a, torch.Tensor) else a for a in arguments]
    again = make(*leaves)
    tensors = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
    if tensors:
        total = again.log_prob(sample).sum()
        out["gradients"] = said(lambda: torch.cat([g.reshape(-1) for g in torch.autograd.grad(total, tensors)]))
    if name not in ("gamma", "dirichlet", "beta") and again.has_rsample and tensors:
        again = make(*leaves)
        torch.manual_seed(8)
        drawn = again.rsample((3,))
        out["rsample"] = plain(drawn.detach())
        gradients = torch.autograd.grad(drawn.sum(), tensors)
        out["rsample_gradients"] = plain(torch.cat([g.reshape(-1) for g in gradients]))
    return out


def divergences(torch):
    d, t, out = torch.distributions, torch.tensor, {}
    pairs = {
        "normal": lambda: (d.Normal(t([0.0, 1.0]), 1.0), d.Normal(0.5, t([2.0, 0.3]))),
        "bernoulli": lambda: (d.Bernoulli(t([0.0, 0.3, 1.0, 0.2])), d.Bernoulli(t([0.5, 0.2, 0.0, 1.0]))),
        "categorical": lambda: (d.Categorical(t([0.2, 0.0, 0.8])), d.Categorical(t([0.5, 0.5, 0.0]))),
        "one_hot": lambda: (d.OneHotCategorical(t([0.2, 0.3, 0.5])), d.OneHotCategorical(t([0.5, 0.4, 0.1]))),
        "uniform": lambda: (d.Uniform(t([0.0, -1.0]), t([1.0, 1.0])), d.Uniform(t([-1.0, 0.0]), t([2.0, 1.0]))),
        "exponential": lambda: (d.Exponential(t([1.0, 2.0])), d.Exponential(t([0.5, 3.0]))),
        "laplace": lambda: (d.Laplace(t([0.0, 2.0]), 1.0), d.Laplace(0.5, t([2.0, 0.3]))),
        "gamma": lambda: (d.Gamma(t([0.5, 2.0]), 1.0), d.Gamma(t([1.5, 0.7]), 2.0)),
        "dirichlet": lambda: (d.Dirichlet(t([0.5, 2.0])), d.Dirichlet(t([1.5, 0.7]))),
        "beta": lambda: (d.Beta(t([0.5, 2.0]), 1.0), d.Beta(t([1.5, 0.7]), 2.0)),
        "poisson": lambda: (d.Poisson(t([0.5, 2.0])), d.Poisson(t([1.5, 0.7]))),
        "geometric": lambda: (d.Geometric(t([0.5, 0.2])), d.Geometric(t([0.3, 0.7]))),
        "multivariate": lambda: (d.MultivariateNormal(torch.zeros(2), torch.eye(2)),
                         d.MultivariateNormal(torch.ones(2), t([[2.0, 0.5], [0.5, 1.0]]))),
        "independent": lambda: (d.Independent(d.Normal(torch.zeros(2, 3), 1.0), 1),
                        d.Independent(d.Normal(torch.ones(2, 3), 2.0), 1)),
        "log_normal": lambda: (d.LogNormal(t([0.0, 1.0]), 1.0), d.LogNormal(0.5, t([2.0, 0.3]))),
        "uniform_normal": lambda: (d.Uniform(t([0.0, 1.0]), 3.0), d.Normal(0.0, t([1.0, 2.0]))),
    }
    for name, pair in pairs.items():
        out["kl_" + name] = said(lambda: d.kl_divergence(*pair()))
    return out


def errors(torch):
    d, t = torch.distributions, torch.tensor
    tries = {
        "scale": lambda: d.Normal(t([0.0, 1.0]), t([1.0, -1.0])),
        "loc": lambda: d.Normal(t(float("nan")), 1.0),
        "uniform": lambda: d.Uniform(1.0, 0.0),
        "probs": lambda: d.Bernoulli(t([1.5])),
        "both": lambda: d.Bernoulli(t([0.5]), t([0.5])),
        "neither": lambda: d.Categorical(),
        "scalar": lambda: d.Categorical(t(0.5)),
        "negative": lambda: d.Categorical(t([0.5, -0.5, 1.0])),
        "outside": lambda: d.Categorical(t([0.5, 0.5])).log_prob(t(2)),
        "not_whole": lambda: d.Poisson(t([1.0])).log_prob(t([0.5])),
        "number": lambda: d.Normal(0.0, 1.0).log_prob(1.0),
        "sizes": lambda: d.Normal(torch.zeros(3), 1.0).log_prob(torch.zeros(2)),
        "event": lambda: d.MultivariateNormal(torch.zeros(3), torch.eye(3)).log_prob(torch.zeros(2)),
        "covariance": lambda: d.MultivariateNormal(torch.zeros(2), t([[1.0, 0.5], [0.4, 1.0]])),
        "not_positive": lambda: d.MultivariateNormal(torch.zeros(2), t([[1.0, 2.0], [2.0, 1.0]])),
        "two_matrices": lambda: d.MultivariateNormal(torch.zeros(2), torch.eye(2), torch.eye(2)),
        "dims": lambda: d.Independent(d.Normal(torch.zeros(2), 1.0), 2),
        "not_a_number": lambda: d.Normal("a", 1.0),
        "unchecked": lambda: d.Normal(t([0.0]), t([-1.0]), validate_args=False).scale,
    }
    return {"error_" + name: said(function) for name, function in tries.items()}


def results(torch):
    out = {}
    for name, what in parameters(torch).items():
        try:
            out[name] = of_one(torch, name, *what)
        except NotImplementedError as error:  # a build without linear algebra
            out[name] = str(error)
    out.update(divergences(torch))
    out.update(errors(torch))
    return out


if __name__ == "__main__":
    import torch
    with gzip.GzipFile(sys.argv[1], "wb", mtime=0) as file:
        file.write(json.dumps(results(torch), indent=0).encode())

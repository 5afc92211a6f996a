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
        "binomial": (lambda p: d.Binomial(5, p), (t([0.2, 0.5, 0.9]),)),
        "binomial_logits": (lambda logits: d.Binomial(t([3.0, 60.0]), logits=logits), (t([0.3, -1.0]),)),
        "negative_binomial": (d.NegativeBinomial, (t([2.0, 5.5]), t([0.3, 0.6]))),
        "negative_binomial_logits": (lambda logits: d.NegativeBinomial(4, logits=logits), (t([0.3, -1.0]),)),
        "cauchy": (d.Cauchy, (t([0.0, 1.0]), t([1.0, 0.3]))),
        "cauchy_numbers": (d.Cauchy, (0.5, 2)),
        "half_cauchy": (d.HalfCauchy, (t([1.0, 0.3]),)),
        "half_normal": (d.HalfNormal, (t([1.0, 0.3]),)),
        "chi2": (d.Chi2, (t([0.5, 3.0]),)),
        "continuous_bernoulli": (d.ContinuousBernoulli, (t([0.1, 0.4999, 0.8]),)),
        "continuous_bernoulli_logits": (lambda logits: d.ContinuousBernoulli(logits=logits), (t([-2.0, 0.001]),)),
        "fisher_snedecor": (d.FisherSnedecor, (t([1.5, 3.0, 5.0]), t([1.0, 3.0, 9.0]))),
        "gumbel": (d.Gumbel, (t([0.0, 1.0]), t([1.0, 0.3]))),
        "kumaraswamy": (d.Kumaraswamy, (t([0.5, 2.0]), t([0.7, 3.0]))),
        "lkj_cholesky": (lambda c: d.LKJCholesky(3, c), (t([0.5, 1.0, 3.0]),)),
        "logistic_normal": (d.LogisticNormal, (t([0.0, 1.0]), t([1.0, 0.3]))),
        "low_rank": (d.LowRankMultivariateNormal, (t([0.0, 1.0, 2.0]), t([[1.0], [0.5], [-0.3]]),
                                                   t([0.5, 1.0, 2.0]))),
        "low_rank_batch": (d.LowRankMultivariateNormal, (
            torch.zeros(2, 3), t([[1.0, 0.1], [0.5, -1.0], [-0.3, 0.0]]), torch.ones(2, 3))),
        "mixture": (lambda p, m, s: d.MixtureSameFamily(d.Categorical(p), d.Normal(m, s)), (
            t([0.2, 0.5, 0.3]), t([0.0, 1.0, -2.0]), t([1.0, 0.5, 3.0]))),
        "mixture_of_rows": (lambda p, m, s: d.MixtureSameFamily(
            d.Categorical(p), d.Independent(d.Normal(m, s), 1)), (
            t([[0.2, 0.8], [0.5, 0.5]]), torch.arange(12.0).view(2, 2, 3), torch.ones(2, 2, 3))),
        "multinomial": (lambda p: d.Multinomial(5, p), (t([[0.2, 0.3, 0.5], [1.0, 0.0, 2.0]]),)),
        "multinomial_logits": (lambda logits: d.Multinomial(5, logits=logits), (t([0.2, -0.3, 0.5]),)),
        "straight_through": (d.OneHotCategoricalStraightThrough, (t([[0.1, 0.2, 0.7], [3.0, 1.0, 1.0]]),)),
        "pareto": (d.Pareto, (t([1.0, 2.0]), t([0.5, 3.0]))),
        "relaxed_bernoulli": (d.RelaxedBernoulli, (t([0.7]), t([0.2, 0.9]))),
        "relaxed_bernoulli_logits": (lambda h, logits: d.RelaxedBernoulli(h, logits=logits),
                                     (t([0.7]), t([0.2, -2.0]))),
        "relaxed_one_hot": (d.RelaxedOneHotCategorical, (t(0.7), t([[0.1, 0.2, 0.7], [3.0, 1.0, 1.0]]))),
        "student": (d.StudentT, (t([0.5, 1.5, 4.0]), t([0.0, 1.0, 2.0]), t([1.0, 0.5, 2.0]))),
        "student_numbers": (d.StudentT, (4.0,)),
        "von_mises": (d.VonMises, (t([0.0, 1.0, 3.0]), t([0.1, 2.0, 50.0]))),
        "weibull": (d.Weibull, (t([1.0, 2.0]), t([1.5, 3.0]))),
        "wishart": (d.Wishart, (t(5.0), covariance)),
        "wishart_precision": (lambda n, p: d.Wishart(n, precision_matrix=p), (t([5.0, 7.0]), covariance)),
        "wishart_tril": (lambda n, f: d.Wishart(n, scale_tril=f),
                         (t([5.0, 7.0]), t([[1.5, 0.0, 0.0], [0.5, 1.0, 0.0], [0.25, -0.5, 2.0]]))),
        "power_of_vectors": (lambda m: d.TransformedDistribution(d.Normal(m, 1.0), [
            d.StickBreakingTransform(), d.SoftmaxTransform().inv, d.ReshapeTransform((4,), (2, 2))]),
            (torch.zeros(2, 3),)),
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
        text = str(error).replace("wick", "torch")
        return type(error).__name__ + ": " + " ".join(word for word in text.split(" ") if word)


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
    if name not in ("gamma", "chi2"):  # 1.13 has none
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
    if again.has_rsample and tensors and not name.startswith("wishart"):  # 1.13 writes over what backward needs
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
        "binomial": lambda: (d.Binomial(t([5.0, 7.0]), t([0.2, 0.3])), d.Binomial(5, t([0.5, 0.1]))),
        "binomial_fewer": lambda: (d.Binomial(4, t([0.2])), d.Binomial(5, t([0.5]))),
        "cauchy": lambda: (d.Cauchy(t([0.0, 1.0]), 1.0), d.Cauchy(0.5, t([2.0, 0.3]))),
        "continuous_bernoulli": lambda: (d.ContinuousBernoulli(t([0.2, 0.5])), d.ContinuousBernoulli(t([0.5, 0.9]))),
        "gumbel": lambda: (d.Gumbel(t([0.0, 1.0]), 1.0), d.Gumbel(0.5, t([2.0, 0.3]))),
        "half_normal": lambda: (d.HalfNormal(t([1.0, 2.0])), d.HalfNormal(t([0.5, 3.0]))),
        "pareto": lambda: (d.Pareto(t([1.0, 2.0]), 2.0), d.Pareto(t([2.0, 1.0]), 3.0)),
        "chi2": lambda: (d.Chi2(t([1.0, 3.0])), d.Chi2(t([2.0, 2.5]))),
        "wishart": lambda: (d.Wishart(t(5.0), torch.eye(2)), d.Wishart(t(4.0), t([[2.0, 0.5], [0.5, 1.0]]))),
        "weibull": lambda: (d.Weibull(1.0, t([2.0])), d.Weibull(1.0, t([3.0]))),
        "student": lambda: (d.StudentT(t([2.0])), d.StudentT(t([3.0]))),
        "of_one_family": lambda: (d.Gamma(t([2.0]), 1.0), d.Poisson(t([2.0]))),
        "bernoulli_poisson": lambda: (d.Bernoulli(t([0.3, 0.9])), d.Poisson(t([0.5, 2.0]))),
        "poisson_bernoulli": lambda: (d.Poisson(t([0.5, 2.0])), d.Bernoulli(t([0.3, 0.9]))),
        "poisson_binomial": lambda: (d.Poisson(t([0.5, 2.0])), d.Binomial(3, t([0.3, 0.9]))),
    }

    def vectors():
        low = d.LowRankMultivariateNormal(t([0.0, 1.0]), t([[1.0], [-0.5]]), t([0.5, 2.0]))
        other = d.LowRankMultivariateNormal(t([1.0, 1.0]), t([[0.3], [0.5]]), t([1.5, 1.0]))
        return {"low": low, "low_other": other, "full": d.MultivariateNormal(t([1.0, 0.0]), low.covariance_matrix)}
    for first in ("low", "low_other", "full"):
        for second in ("low", "low_other", "full"):
            pairs["vectors_{}_{}".format(first, second)] = lambda first=first, second=second: (
                vectors()[first], vectors()[second])

    def numbers():
        return [d.Beta(t([0.5, 2.0]), 1.5), d.ContinuousBernoulli(t([0.3, 0.6])), d.Exponential(t([0.5, 2.0])),
                d.Gamma(t([0.5, 2.0]), 1.5), d.Gumbel(t([0.5, 2.0]), 1.5), d.Laplace(t([0.5, 2.0]), 1.5),
                d.Normal(t([0.5, 2.0]), 1.5), d.Pareto(t([0.1, 2.0]), t([1.5, 2.5])),
                d.Uniform(t([-0.5, 0.2]), t([0.75, 0.9])), d.Uniform(t([0.5, 3.0]), t([0.75, 4.0]))]
    for i in range(len(numbers())):
        for j in range(len(numbers())):
            name = "{}_{}_{}_{}".format(type(numbers()[i]).__name__, i, type(numbers()[j]).__name__, j)
            pairs[name] = lambda i=i, j=j: (numbers()[i], numbers()[j])
    for name, pair in pairs.items():
        out["kl_" + name] = said(lambda: d.kl_divergence(*pair()))
    return out


def transforms(torch):
    """Values, inverses, determinants, sizes, regions of transforms, and what regions are transformed into."""
    d, t, c = torch.distributions, torch.tensor, torch.distributions.constraints
    numbers, positive = t([[-1.5, 0.3, 2.0], [0.1, -0.2, 0.4]]), t([[0.5, 1.0, 2.0], [0.1, 0.2, 0.4]])
    values = {
        "exp": (d.ExpTransform(), numbers), "power": (d.PowerTransform(t([2.0, 0.5, -1.0])), positive),
        "sigmoid": (d.SigmoidTransform(), numbers), "softplus": (d.SoftplusTransform(), numbers),
        "tanh": (d.TanhTransform(), numbers), "abs": (d.AbsTransform(), numbers),
        "affine": (d.AffineTransform(1.0, t([2.0, -3.0, 0.5])), numbers),
        "affine_rows": (d.AffineTransform(1.0, t([2.0, -3.0, 0.5]), event_dim=1), numbers),
        "softmax": (d.SoftmaxTransform(), numbers), "stick": (d.StickBreakingTransform(), numbers),
        "cholesky": (d.LowerCholeskyTransform(), t([[0.5, 7.0], [0.2, -1.0]])),
        "corr": (d.CorrCholeskyTransform(), numbers),
        "reshape": (d.ReshapeTransform((3,), (3, 1)), numbers),
        "independent": (d.IndependentTransform(d.ExpTransform(), 1), numbers),
        "compose": (d.ComposeTransform([d.ExpTransform(), d.AffineTransform(1.0, 2.0)]), numbers),
        "compose_vectors": (d.ComposeTransform([d.ExpTransform(), d.StickBreakingTransform()]), numbers),
        "cat": (d.CatTransform([d.ExpTransform(), d.TanhTransform()], dim=1, lengths=[1, 2]), numbers),
        "cat_vectors": (d.CatTransform([d.IndependentTransform(d.ExpTransform(), 1), d.TanhTransform()], dim=-1,
                                       lengths=[1, 2]), numbers),
        "stack": (d.StackTransform([d.ExpTransform(), d.TanhTransform()]), numbers),
        "cumulative": (d.CumulativeDistributionTransform(d.Normal(0.5, 2.0)), numbers),
    }
    regions = {
        "real": c.real, "real_vector": c.real_vector, "positive": c.positive, "nonnegative": c.nonnegative,
        "greater_than": c.greater_than(2.0), "less_than": c.less_than(3.0), "unit_interval": c.unit_interval,
        "interval": c.interval(-1.0, 3.0), "half_open_interval": c.half_open_interval(0.0, 2.0),
        "simplex": c.simplex, "lower_cholesky": c.lower_cholesky, "corr_cholesky": c.corr_cholesky,
        "boolean": c.boolean, "positive_definite": c.positive_definite,
        "cat": c.cat([c.positive, c.real], dim=-1, lengths=[1, 2]), "stack": c.stack([c.positive, c.real], dim=0),
    }
    out = {}
    for name, (transform, x) in values.items():
        y = transform(x)
        out["transform_" + name] = {
            "repr": repr(transform).replace("wick", "torch") if name != "cumulative" else "", "y": plain(y),
            "inverse": said(lambda: transform.inv(y)), "twice": transform.inv.inv is transform,
            "determinant": said(lambda: transform.log_abs_det_jacobian(x, y)),
            "of_inverse": said(lambda: transform.inv.log_abs_det_jacobian(y, x)),
            "sizes": [list(transform.forward_shape(x.shape)), list(transform.inv.forward_shape(y.shape))],
            "regions": [repr(transform.domain), repr(transform.codomain)] if "cat" != name[:3] != "sta" else [],
            "event_dim": said(lambda: transform.event_dim), "sign": said(lambda: transform.sign),
            "bijective": transform.bijective, "same": said(lambda: transform == transform.inv.inv),
            "cached": said(lambda: transform.with_cache()(x)),
        }
    for name, region in regions.items():
        for way in ("biject_to", "transform_to"):
            def made(x):
                return getattr(d, way)(region)(x)
            x = t([[0.5, 7.0], [0.2, -1.0]]) if name == "lower_cholesky" else numbers
            out["{}_{}".format(way, name)] = {
                "repr": said(lambda: repr(getattr(d, way)(region))) if name[:3] not in ("cat", "sta") else "",
                "value": said(lambda: made(x)), "check": said(lambda: region.check(made(x)))}
    return out


def regions(torch):
    """What is in a region."""
    t, c = torch.tensor, torch.distributions.constraints
    matrices = t([[[1.0, 0.0], [0.0, 1.0]], [[1.0, 2.0], [2.0, 1.0]], [[0.6, 0.0], [0.6, 0.8]],
                  [[1.0, 0.0], [0.6, 0.8]], [[1.0, 1.0], [1.0, 1.0]], [[-1.0, 0.0], [0.0, 0.0]]])
    values = t([[0.5, 0.5], [1.0, 0.0], [2.0, -1.0], [float("nan"), 3.0]])
    of_numbers = {name: getattr(c, name) for name in (
        "boolean", "nonnegative", "nonnegative_integer", "one_hot", "positive", "positive_integer", "real",
        "real_vector", "simplex", "unit_interval")}
    of_numbers.update({
        "less_than": c.less_than(1.0), "half_open": c.half_open_interval(0.0, 1.0), "interval": c.interval(0, 1),
        "integers": c.integer_interval(0, 2), "greater_eq": c.greater_than_eq(1.0), "multinomial": c.multinomial(1),
        "independent": c.independent(c.positive, 1), "cat": c.cat([c.positive, c.boolean], 1),
        "stack": c.stack([c.positive, c.boolean, c.real, c.real], 0)})
    of_matrices = ("corr_cholesky", "lower_cholesky", "lower_triangular", "positive_definite",
                   "positive_semidefinite", "square", "symmetric")
    out = {}
    for name, region in list(of_numbers.items()) + [(name, getattr(c, name)) for name in of_matrices]:
        value = matrices if name in of_matrices else values
        out["region_" + name] = {
            "repr": repr(region) if name not in ("cat", "stack") else "", "check": said(lambda: region.check(value)),
            "event_dim": said(lambda: region.event_dim), "is_discrete": said(lambda: region.is_discrete)}
    out["region_square_not"] = plain(c.square.check(torch.ones(2, 3, 4)))
    dependent = c.dependent(is_discrete=True)
    out["region_dependent"] = [said(lambda: dependent.is_discrete), said(lambda: dependent.event_dim),
                               said(lambda: dependent.check(values)), repr(c.is_dependent(dependent))]
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
        "binomial_count": lambda: d.Binomial(-1, t([0.5])),
        "binomial_support": lambda: d.Binomial(3, t([0.5])).log_prob(t([4.0])),
        "binomial_counts": lambda: d.Binomial(t([3, 4]), t([0.5, 0.5])).enumerate_support(),
        "negative_binomial": lambda: d.NegativeBinomial(3, t([1.0])),
        "multinomial_count": lambda: d.Multinomial(t([3, 4]), t([0.5, 0.5])),
        "multinomial_above": lambda: d.Multinomial(2, t([0.5, 0.5])).log_prob(t([2.0, 1.0])),
        "lkj_dim": lambda: d.LKJCholesky(1),
        "lkj_value": lambda: d.LKJCholesky(2).log_prob(torch.ones(2, 2)),
        "low_rank_loc": lambda: d.LowRankMultivariateNormal(t(1.0), torch.ones(2, 1), torch.ones(2)),
        "low_rank_factor": lambda: d.LowRankMultivariateNormal(torch.ones(2), torch.ones(3, 1), torch.ones(2)),
        "low_rank_diag": lambda: d.LowRankMultivariateNormal(torch.ones(2), torch.ones(2, 1), torch.ones(3)),
        "low_rank_batch": lambda: d.LowRankMultivariateNormal(torch.ones(2, 2), torch.ones(3, 2, 1), torch.ones(2)),
        "mixture_first": lambda: d.MixtureSameFamily(d.Normal(0.0, 1.0), d.Normal(torch.zeros(2), 1.0)),
        "mixture_sizes": lambda: d.MixtureSameFamily(d.Categorical(torch.ones(3)), d.Normal(torch.zeros(2), 1.0)),
        "mixture_batch": lambda: d.MixtureSameFamily(d.Categorical(torch.ones(3, 2)),
                                                     d.Normal(torch.zeros(2, 2), 1.0)),
        "pareto": lambda: d.Pareto(t([1.0]), t([2.0])).log_prob(t([0.5])),
        "relaxed": lambda: d.RelaxedBernoulli(t([1.0])),
        "wishart_df": lambda: d.Wishart(t(1.0), torch.eye(3)),
        "weibull": lambda: d.Weibull(t([1.0]), t([-1.0])),
        "half_normal": lambda: d.HalfNormal(t([1.0])).log_prob(t([-1.0])),
        "transforms": lambda: d.TransformedDistribution(d.Normal(0.0, 1.0), 3),
        "transforms_list": lambda: d.TransformedDistribution(d.Normal(0.0, 1.0), [3]),
        "too_few": lambda: d.TransformedDistribution(d.Normal(0.0, 1.0), d.SoftmaxTransform()),
        "reshape": lambda: d.ReshapeTransform((2,), (3,)),
        "reshape_sizes": lambda: d.ReshapeTransform((2,), (2, 1)).forward_shape(torch.Size([3])),
        "corr": lambda: d.CorrCholeskyTransform().forward_shape(torch.Size([4])),
        "cache": lambda: d.ExpTransform(cache_size=2),
        "register": lambda: d.biject_to.register(3, 4),
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
    out.update(transforms(torch))
    out.update(regions(torch))
    out.update(errors(torch))
    return out


if __name__ == "__main__":
    import torch
    with gzip.GzipFile(sys.argv[1], "wb", mtime=0) as file:
        file.write(json.dumps(results(torch), indent=0).encode())

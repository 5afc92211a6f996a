/* Rows of the special functions. */
#include "call/row.h"

#define SPECIAL(name, formula, gradient)                                                                         \
  {                                                                                                              \
    .schema = "aten::special_" name "(Tensor self) -> Tensor", .lower = formula, .shape = shape_pointwise_float, \
    .grad = gradient, .flags = OP_OUT | OP_ALIASING_OK                                                           \
  }
#define BESSEL(name, formula, parameter)                                                     \
  {                                                                                          \
    .schema = "aten::special_" name "(Tensor " parameter ") -> Tensor", .lower = formula,    \
    .shape = shape_pointwise_float, .flags = OP_OUT | OP_ALIASING_OK | OP_NOT_DIFFERENTIABLE \
  }
#define POLYNOMIAL_OF(name, overload, x, n, formula)                                                           \
  {                                                                                                            \
    .schema = "aten::special_" name overload "(" x " x, " n " n) -> Tensor", .lower = formula,                 \
    .shape = shape_pointwise_float, .promote = "x n", .flags = OP_OUT | OP_ALIASING_OK | OP_NOT_DIFFERENTIABLE \
  }
#define POLYNOMIAL_BY(name, formula)                                                                                   \
  POLYNOMIAL_OF(name, "", "Tensor", "Tensor", formula), POLYNOMIAL_OF(name, ".x_scalar", "Scalar", "Tensor", formula), \
      POLYNOMIAL_OF(name, ".n_scalar", "Tensor", "Scalar", formula)
#define POLYNOMIAL(name) POLYNOMIAL_BY(name, name "(x, n)")
/* On [0, 1] what the other is on [-1, 1]. */
#define SHIFTED(name) POLYNOMIAL_BY("shifted_" name, name "(2 * x - 1, n)")

#define XLOGY "nan if isnan(other) else 0 if self == 0 else self * log(other)"
#define XLOG1PY "nan if isnan(other) else 0 if self == 0 else self * log1p(other)"
#define XLOGY_SELF "self: grad * torch.log(other).masked_fill(torch.logical_and(self == 0, other <= 0), 0)"
#define XLOG1PY_SELF "self: grad * torch.log1p(other).masked_fill(torch.logical_and(self == 0, other <= -1), 0)"
#define GAMMA_DENSITY "torch.exp((self - 1) * torch.log(other) - other - torch.lgamma(self))"
/* Of i1 and i1e: 1/2 at zero; PyTorch takes NaN for it too. */
#define AT_ZERO ".masked_fill(torch.logical_not(torch.abs(self) > 1e-30), 0.5)"
#define ZETA_OTHER "other: -grad * self * torch.special_zeta(self + 1, other)"

static const OpRow rows[] = {
    SPECIAL("erfcx", "erfcx(self)", "self: (2 * self * result - 1.12837916709551257) * grad"),
    SPECIAL("ndtr", "0.5 * erfc(-self * 0.70710678118654752)",
            "self: grad * torch.exp(-0.5 * self * self) * 0.398942280401432678"),
    SPECIAL("log_ndtr", "log_ndtr(self)",
            "self: grad / torch.special_erfcx(self * -0.70710678118654752) * 0.797884560802865356"),
    SPECIAL("ndtri", "ndtri(self)", "self: grad * torch.exp(result * result / 2) * 2.50662827463100051"),
    SPECIAL("entr", "nan if isnan(self) else -self * log(self) if self > 0 else 0 if self == 0 else -inf",
            "self: -grad * (1 + torch.log(self))"),
    SPECIAL("i0e", "i0e(self)", "self: grad * (torch.special_i1e(self) - torch.sgn(self) * result)"),
    SPECIAL("i1", "i1(self)", "self: grad * (torch.i0(self) - result / self)" AT_ZERO),
    SPECIAL("i1e", "i1e(self)",
            "self: grad * (torch.special_i0e(self) - torch.sgn(self) * result - result / self)" AT_ZERO),
    BESSEL("bessel_j0", "bessel_j0(self)", "self"),
    BESSEL("bessel_j1", "bessel_j1(self)", "self"),
    BESSEL("bessel_y0", "bessel_y0(self)", "self"),
    BESSEL("bessel_y1", "bessel_y1(self)", "self"),
    BESSEL("modified_bessel_i0", "i0(self)", "self"),
    BESSEL("modified_bessel_i1", "i1(self)", "self"),
    BESSEL("modified_bessel_k0", "modified_bessel_k0(self)", "self"),
    BESSEL("modified_bessel_k1", "modified_bessel_k1(self)", "self"),
    BESSEL("scaled_modified_bessel_k0", "scaled_modified_bessel_k0(x)", "x"),
    BESSEL("scaled_modified_bessel_k1", "scaled_modified_bessel_k1(x)", "x"),
    BESSEL("spherical_bessel_j0", "spherical_bessel_j0(x)", "x"),
    BESSEL("airy_ai", "airy_ai(x)", "x"),
    POLYNOMIAL("chebyshev_polynomial_t"),
    POLYNOMIAL("chebyshev_polynomial_u"),
    POLYNOMIAL("chebyshev_polynomial_v"),
    POLYNOMIAL("chebyshev_polynomial_w"),
    SHIFTED("chebyshev_polynomial_t"),
    SHIFTED("chebyshev_polynomial_u"),
    SHIFTED("chebyshev_polynomial_v"),
    SHIFTED("chebyshev_polynomial_w"),
    POLYNOMIAL("hermite_polynomial_h"),
    POLYNOMIAL("hermite_polynomial_he"),
    POLYNOMIAL("laguerre_polynomial_l"),
    POLYNOMIAL("legendre_polynomial_p"),
    {.schema = "aten::xlogy.Tensor(Tensor self, Tensor other) -> Tensor",
     .dtypes = "xlogy_cpu: bool integral floating",
     .out = "OutTensor",
     .lower = XLOGY,
     .shape = shape_pointwise_float,
     .grad = XLOGY_SELF "; other: grad * self / other",
     .flags = OP_INPLACE | OP_OUT | OP_ALIASING_OK},
    {.schema = "aten::xlogy.Scalar_Self(Scalar self, Tensor other) -> Tensor",
     .dtypes = "xlogy_cpu: bool integral floating",
     .out = "OutScalar_Self",
     .lower = XLOGY,
     .shape = shape_pointwise_float,
     .grad = "other: grad * self / other",
     .flags = OP_OUT | OP_ALIASING_OK},
    {.schema = "aten::xlogy.Scalar_Other(Tensor self, Scalar other) -> Tensor",
     .dtypes = "xlogy_cpu: bool integral floating",
     .out = "OutScalar_Other",
     .lower = XLOGY,
     .shape = shape_pointwise_float,
     .grad = "self: grad * torch.log(torch.tensor(float(other)))",
     .flags = OP_INPLACE | OP_OUT | OP_ALIASING_OK},
    {.schema = "aten::special_xlog1py(Tensor self, Tensor other) -> Tensor",
     .dtypes = "xlog1py_cpu: bool integral floating",
     .lower = XLOG1PY,
     .shape = shape_pointwise_float,
     .grad = XLOG1PY_SELF "; other: grad * self / (other + 1)",
     .flags = OP_OUT | OP_ALIASING_OK},
    {.schema = "aten::special_xlog1py.self_scalar(Scalar self, Tensor other) -> Tensor",
     .dtypes = "xlog1py_cpu: bool integral floating",
     .lower = XLOG1PY,
     .shape = shape_pointwise_float,
     .grad = "other: grad * self / (other + 1)",
     .flags = OP_OUT | OP_ALIASING_OK},
    {.schema = "aten::special_xlog1py.other_scalar(Tensor self, Scalar other) -> Tensor",
     .dtypes = "xlog1py_cpu: bool integral floating",
     .lower = XLOG1PY,
     .shape = shape_pointwise_float,
     .grad = "self: grad * torch.log1p(torch.tensor(float(other)))",
     .flags = OP_OUT | OP_ALIASING_OK},
    {.schema = "aten::special_zeta(Tensor self, Tensor other) -> Tensor",
     .lower = "zeta(self, other)",
     .shape = shape_pointwise_float,
     .grad = ZETA_OTHER,
     .flags = OP_OUT | OP_ALIASING_OK},
    {.schema = "aten::special_zeta.self_scalar(Scalar self, Tensor other) -> Tensor",
     .lower = "zeta(self, other)",
     .shape = shape_pointwise_float,
     .grad = ZETA_OTHER,
     .flags = OP_OUT | OP_ALIASING_OK},
    {.schema = "aten::special_zeta.other_scalar(Tensor self, Scalar other) -> Tensor",
     .lower = "zeta(self, other)",
     .shape = shape_pointwise_float,
     .flags = OP_OUT | OP_ALIASING_OK},
    {.schema = "aten::igamma(Tensor self, Tensor other) -> Tensor",
     .lower = "igamma(self, other)",
     .grad = "other: grad * " GAMMA_DENSITY,
     .flags = OP_INPLACE | OP_OUT | OP_ALIASING_OK},
    {.schema = "aten::igammac(Tensor self, Tensor other) -> Tensor",
     .lower = "igammac(self, other)",
     .grad = "other: -grad * " GAMMA_DENSITY,
     .flags = OP_INPLACE | OP_OUT | OP_ALIASING_OK}};

OP_TABLE(op_table_pointwise_special, rows);

/* Second names: each row calls the operator that it is another name of. */
#include "call/row.h"

#define ALIAS(name, parameters, call, more, ...)                                                            \
  {                                                                                                         \
    .schema = "aten::" name "(" parameters ") -> Tensor", .body = "return " call, .flags = OP_OUT | (more), \
    __VA_ARGS__                                                                                             \
  }
/* In place they are the other one's form, which looks at memory that is shared. */
#define IN_PLACE(name, parameters, call, arguments)                              \
  {                                                                              \
    .schema = "aten::" name "(Tensor(a!) self" parameters ") -> Tensor(a!)",     \
    .body = "return self." call "_(" arguments ")", .same_as = "aten::" call "_" \
  }
#define UNARY(name, call) \
  ALIAS(name, "Tensor self", "torch." call "(self)", 0, .same_as = "aten::" call), IN_PLACE(name "_", "", call, "")
#define SPECIAL(name, call) ALIAS("special_" name, "Tensor self", "torch." call "(self)", 0, .same_as = "aten::" call)
#define BINARY(name, call)                                                                                            \
  ALIAS(name ".Tensor", "Tensor self, Tensor other", "torch." call "(self, other)", 0, .same_as = "aten::" call,      \
        .out = "out"),                                                                                                \
      ALIAS(name ".Scalar", "Tensor self, Scalar other", "torch." call "(self, other)", 0, .same_as = "aten::" call), \
      IN_PLACE(name "_.Tensor", ", Tensor other", call, "other"),                                                     \
      IN_PLACE(name "_.Scalar", ", Scalar other", call, "other")
#define WRITES(method, right, call)                                                             \
  {                                                                                             \
    .schema = "aten::__" method "__." right "(Tensor(a!) self, " right " other) -> Tensor(a!)", \
    .body = "return self." call "_(other)"                                                      \
  }
#define WRITES_BOTH(method, call) WRITES(method, "Tensor", call), WRITES(method, "Scalar", call)

static const OpRow rows[] = {
    UNARY("absolute", "abs"),
    UNARY("arccos", "acos"),
    UNARY("arccosh", "acosh"),
    UNARY("arcsin", "asin"),
    UNARY("arcsinh", "asinh"),
    UNARY("arctan", "atan"),
    UNARY("arctanh", "atanh"),
    UNARY("fix", "trunc"),
    UNARY("negative", "neg"),
    ALIAS("arctan2", "Tensor self, Tensor other", "torch.atan2(self, other)", 0, .same_as = "aten::atan2"),
    IN_PLACE("arctan2_", ", Tensor other", "atan2", "other"),
    BINARY("divide", "div"),
    BINARY("multiply", "mul"),
    BINARY("true_divide", "div"),
    ALIAS("divide.Tensor_mode", "Tensor self, Tensor other, *, str? rounding_mode",
          "torch.div(self, other, rounding_mode=rounding_mode)", 0, .out = "out_mode", .same_as = "aten::div"),
    ALIAS("divide.Scalar_mode", "Tensor self, Scalar other, *, str? rounding_mode",
          "torch.div(self, other, rounding_mode=rounding_mode)", 0, .same_as = "aten::div"),
    IN_PLACE("divide_.Tensor_mode", ", Tensor other, *, str? rounding_mode", "div",
             "other, rounding_mode=rounding_mode"),
    IN_PLACE("divide_.Scalar_mode", ", Scalar other, *, str? rounding_mode", "div",
             "other, rounding_mode=rounding_mode"),
    ALIAS("subtract.Tensor", "Tensor self, Tensor other, *, Scalar alpha=1", "torch.sub(self, other, alpha=alpha)", 0,
          .out = "out", .same_as = "aten::sub"),
    ALIAS("subtract.Scalar", "Tensor self, Scalar other, Scalar alpha=1", "torch.sub(self, other, alpha)", 0,
          .same_as = "aten::sub"),
    IN_PLACE("subtract_.Tensor", ", Tensor other, *, Scalar alpha=1", "sub", "other, alpha=alpha"),
    IN_PLACE("subtract_.Scalar", ", Scalar other, Scalar alpha=1", "sub", "other, alpha"),
    SPECIAL("expit", "sigmoid"),
    SPECIAL("exp2", "exp2"),
    SPECIAL("expm1", "expm1"),
    SPECIAL("erf", "erf"),
    SPECIAL("erfc", "erfc"),
    SPECIAL("erfinv", "erfinv"),
    SPECIAL("gammaln", "lgamma"),
    SPECIAL("psi", "digamma"),
    SPECIAL("digamma", "digamma"),
    SPECIAL("i0", "i0"),
    SPECIAL("log1p", "log1p"),
    SPECIAL("sinc", "sinc"),
    ALIAS("special_logit", "Tensor self, float? eps=None", "torch.logit(self, eps)", 0, .same_as = "aten::logit"),
    ALIAS("special_multigammaln", "Tensor self, int p", "torch.mvlgamma(self, p)", 0, .same_as = "aten::mvlgamma"),
    ALIAS("special_polygamma", "int n, Tensor self", "torch.polygamma(n, self)", 0, .same_as = "aten::polygamma"),
    ALIAS("special_round", "Tensor self, *, int decimals=0", "torch.round(self, decimals=decimals)", 0,
          .same_as = "aten::round"),
    ALIAS("special_xlogy", "Tensor self, Tensor other", "torch.xlogy(self, other)", 0, .same_as = "aten::xlogy"),
    ALIAS("special_xlogy.self_scalar", "Scalar self, Tensor other", "torch.xlogy(self, other)", 0,
          .same_as = "aten::xlogy"),
    ALIAS("special_xlogy.other_scalar", "Tensor self, Scalar other", "torch.xlogy(self, other)", 0,
          .same_as = "aten::xlogy"),
    ALIAS("special_gammainc", "Tensor self, Tensor other", "torch.igamma(self, other)", 0, .same_as = "aten::igamma"),
    ALIAS("special_gammaincc", "Tensor self, Tensor other", "torch.igammac(self, other)", 0,
          .same_as = "aten::igammac"),
    {.schema = "aten::positive(Tensor(a) self) -> Tensor(a)",
     .body = "if self.dtype == torch.bool:\n"
             "    raise RuntimeError('The `+` operator, on a bool tensor is not supported.')\n"
             "return self"},
    {.schema = "aten::polygamma_(Tensor(a!) self, int n) -> Tensor(a!)",
     .body = "return self.copy_(torch.polygamma(n, self.clone()))"},
    WRITES_BOTH("iand", "bitwise_and"),
    WRITES_BOTH("ior", "bitwise_or"),
    WRITES_BOTH("ixor", "bitwise_xor"),
    WRITES_BOTH("ilshift", "bitwise_left_shift"),
    WRITES_BOTH("irshift", "bitwise_right_shift")};

OP_TABLE(op_table_pointwise_alias, rows);

/* aten::_foreach_*: one operator over lists of tensors, as optimizers call them. In-place forms derive from these. */
#include "call/row.h"

#define EACH(schema_, expression)           \
  {                                         \
    .schema = schema_, .flags = OP_INPLACE, \
    .body =                                 \
        "results: List[Tensor] = []\n"      \
        "for i in range(len(self)):\n"      \
        "    results.append(" expression    \
        ")\n"                               \
        "return results"                    \
  }
/* Lists that go together are of one length. */
#define EACH_WITH(schema_, other, expression)                                                         \
  {                                                                                                   \
    .schema = schema_, .flags = OP_INPLACE,                                                           \
    .body = "if len(self) != len(" other                                                              \
            "):\n"                                                                                    \
            "    raise RuntimeError('Tensor lists must have the same number of tensors, got {} and '" \
            "'{}'.format(len(self), len(" other                                                       \
            ")))\n"                                                                                   \
            "results: List[Tensor] = []\n"                                                            \
            "for i in range(len(self)):\n"                                                            \
            "    results.append(" expression                                                          \
            ")\n"                                                                                     \
            "return results"                                                                          \
  }
#define UNARY(name) EACH("aten::_foreach_" name "(Tensor[] self) -> Tensor[]", "torch." name "(self[i])")
#define WITH_SCALARS(name)                                                                                             \
  EACH("aten::_foreach_" name ".Scalar(Tensor[] self, Scalar scalar) -> Tensor[]", "torch." name "(self[i], scalar)"), \
      EACH_WITH("aten::_foreach_" name ".ScalarList(Tensor[] self, Scalar[] scalars) -> Tensor[]", "scalars",          \
                "torch." name "(self[i], scalars[i])")
#define WITH_ALPHA(name)                                                                                           \
  EACH_WITH("aten::_foreach_" name ".List(Tensor[] self, Tensor[] other, *, Scalar alpha=1) -> Tensor[]", "other", \
            "torch." name "(self[i], other[i], alpha=alpha)"),                                                     \
      WITH_SCALARS(name)
#define WITH_LIST(name, function)                                                               \
  EACH_WITH("aten::_foreach_" name ".List(Tensor[] self, Tensor[] other) -> Tensor[]", "other", \
            "torch." function "(self[i], other[i])")
#define WITH_LIMITS(name, function)                                                                           \
  EACH("aten::_foreach_" name ".Scalar(Tensor[] self, Scalar scalar) -> Tensor[]",                            \
       "torch." function "(self[i], scalar)"),                                                                \
      EACH_WITH("aten::_foreach_" name ".ScalarList(Tensor[] self, Scalar[] scalars) -> Tensor[]", "scalars", \
                "torch." function "(self[i], scalars[i])")
#define WITH_TENSOR(name) \
  EACH("aten::_foreach_" name ".Tensor(Tensor[] self, Tensor other) -> Tensor[]", "torch." name "(self[i], other)")
#define ADD_PRODUCT(name)                                                                          \
  EACH_WITH("aten::_foreach_" name                                                                 \
            ".Scalar(Tensor[] self, Tensor[] tensor1, Tensor[] tensor2, Scalar value=1) -> "       \
            "Tensor[]",                                                                            \
            "tensor1", "torch." name "(self[i], tensor1[i], tensor2[i], value=value)"),            \
      EACH_WITH("aten::_foreach_" name                                                             \
                ".ScalarList(Tensor[] self, Tensor[] tensor1, Tensor[] tensor2, Scalar[] scalars)" \
                " -> Tensor[]",                                                                    \
                "tensor1", "torch." name "(self[i], tensor1[i], tensor2[i], value=scalars[i])"),   \
      EACH_WITH("aten::_foreach_" name                                                             \
                ".Tensor(Tensor[] self, Tensor[] tensor1, Tensor[] tensor2, Tensor scalars) -> "   \
                "Tensor[]",                                                                        \
                "tensor1",                                                                         \
                "torch." name "(self[i], tensor1[i], tensor2[i], value=each_number(scalars, i, len(self)))")

static const OpRow rows[] = {
    WITH_ALPHA("add"),
    EACH("aten::_foreach_add.Tensor(Tensor[] self, Tensor other, *, Scalar alpha=1) -> Tensor[]",
         "torch.add(self[i], one_number(other), alpha=alpha)"),
    WITH_ALPHA("sub"),
    WITH_LIST("mul", "mul"),
    WITH_SCALARS("mul"),
    WITH_TENSOR("mul"),
    WITH_LIST("div", "div"),
    WITH_SCALARS("div"),
    WITH_TENSOR("div"),
    WITH_LIST("maximum", "maximum"),
    WITH_LIMITS("maximum", "clamp_min"),
    WITH_LIST("minimum", "minimum"),
    WITH_LIMITS("minimum", "clamp_max"),
    WITH_LIST("clamp_min", "maximum"),
    WITH_SCALARS("clamp_min"),
    WITH_LIST("clamp_max", "minimum"),
    WITH_SCALARS("clamp_max"),
    EACH_WITH("aten::_foreach_pow.List(Tensor[] self, Tensor[] exponent) -> Tensor[]", "exponent",
              "torch.pow(self[i], exponent[i])"),
    EACH("aten::_foreach_pow.Scalar(Tensor[] self, Scalar exponent) -> Tensor[]", "torch.pow(self[i], exponent)"),
    EACH_WITH("aten::_foreach_pow.ScalarList(Tensor[] self, Scalar[] exponent) -> Tensor[]", "exponent",
              "torch.pow(self[i], exponent[i])"),
    {.schema = "aten::_foreach_pow.ScalarAndTensor(Scalar self, Tensor[] exponent) -> Tensor[]",
     .body = "results: List[Tensor] = []\n"
             "for x in exponent:\n"
             "    results.append(torch.pow(self, x))\n"
             "return results"},
    ADD_PRODUCT("addcdiv"),
    ADD_PRODUCT("addcmul"),
    EACH_WITH("aten::_foreach_lerp.List(Tensor[] self, Tensor[] tensors1, Tensor[] weights) -> Tensor[]", "tensors1",
              "torch.lerp(self[i], tensors1[i], weights[i])"),
    EACH_WITH("aten::_foreach_lerp.Scalar(Tensor[] self, Tensor[] tensors1, Scalar weight) -> Tensor[]", "tensors1",
              "torch.lerp(self[i], tensors1[i], weight)"),
    EACH_WITH("aten::_foreach_lerp.ScalarList(Tensor[] self, Tensor[] tensors1, Scalar[] weight) -> Tensor[]", "weight",
              "torch.lerp(self[i], tensors1[i], weight[i])"),
    {.schema = "aten::_foreach_clone(Tensor[] self, *, MemoryFormat? memory_format=None) -> Tensor[]",
     .body = "results: List[Tensor] = []\n"
             "for x in self:\n"
             "    results.append(x.clone(memory_format=memory_format))\n"
             "return results"},
    {.schema = "aten::_foreach_copy_(Tensor(a!)[] self, Tensor[] src, bool non_blocking=False) -> ()",
     .body = "check_lengths(len(self), len(src))\n"
             "for i in range(len(self)):\n"
             "    self[i].copy_(src[i])"},
    {.schema = "aten::_foreach_max(Tensor[] self) -> Tensor[]",
     .body = "results: List[Tensor] = []\n"
             "for x in self:\n"
             "    if x.numel() == 0:\n"
             "        raise RuntimeError('_foreach_max cannot compute the maximum of an empty tensor; max over zero "
             "elements "
             "is undefined.')\n"
             "    results.append(torch.max(x))\n"
             "return results"},
    {.schema = "aten::_foreach_mm(Tensor[] self, Tensor[] mat2) -> Tensor[]",
     .body = "check_lengths(len(self), len(mat2))\n"
             "results: List[Tensor] = []\n"
             "for i in range(len(self)):\n"
             "    results.append(torch.mm(self[i], mat2[i]))\n"
             "return results"},
    {.schema = "aten::_foreach_powsum.Scalar(Tensor[] self, Scalar ord=2, ScalarType? dtype=None) -> Tensor[]",
     .body = "results: List[Tensor] = []\n"
             "for x in self:\n"
             "    results.append((x if dtype is None else x.to(dtype)).abs().pow(ord).sum())\n"
             "return results"},
    {.schema = "aten::_foreach_norm.Scalar(Tensor[] self, Scalar ord=2) -> Tensor[]",
     .body = "results: List[Tensor] = []\n"
             "for x in self:\n"
             "    results.append(torch.linalg_vector_norm(x, ord))\n"
             "return results"},
    {.schema = "aten::_foreach_zero_(Tensor(a!)[] self) -> ()",
     .body = "for x in self:\n"
             "    x.zero_()"},
    UNARY("abs"),
    UNARY("acos"),
    UNARY("asin"),
    UNARY("atan"),
    UNARY("ceil"),
    UNARY("cos"),
    UNARY("cosh"),
    UNARY("erf"),
    UNARY("erfc"),
    UNARY("exp"),
    UNARY("expm1"),
    UNARY("floor"),
    UNARY("frac"),
    UNARY("lgamma"),
    UNARY("log"),
    UNARY("log10"),
    UNARY("log1p"),
    UNARY("log2"),
    UNARY("neg"),
    UNARY("reciprocal"),
    UNARY("round"),
    UNARY("rsqrt"),
    UNARY("sigmoid"),
    UNARY("sign"),
    UNARY("sin"),
    UNARY("sinh"),
    UNARY("sqrt"),
    UNARY("tan"),
    UNARY("tanh"),
    UNARY("trunc"),
};
OP_TABLE(op_table_foreach, rows);

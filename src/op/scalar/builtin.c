/* Functions of the aten namespace that are TorchScript text: matched together with the operators and inlined where they
 * are called. They give numbers on the left of a tensor, lists from single numbers, and a few shorthands. */
#include "call/row.h"

#define TENSOR_ON_THE_RIGHT(scalar)                                                                     \
  {.schema = "aten::add.builtin_" scalar "(" scalar " a, Tensor b) -> Tensor",                          \
   .body = "return b + a",                                                                              \
   .flags = OP_BUILTIN},                                                                                \
      {.schema = "aten::sub.builtin_" scalar "(" scalar " a, Tensor b) -> Tensor",                      \
       .body = "return torch.neg(b) + a",                                                               \
       .flags = OP_BUILTIN},                                                                            \
      {.schema = "aten::mul.builtin_" scalar "(" scalar " a, Tensor b) -> Tensor",                      \
       .body = "return b * a",                                                                          \
       .flags = OP_BUILTIN},                                                                            \
      {.schema = "aten::div.builtin_" scalar "(" scalar " a, Tensor b) -> Tensor",                      \
       .body = "return torch.reciprocal(b) * a",                                                        \
       .flags = OP_BUILTIN},                                                                            \
      {.schema = "aten::eq.builtin_" scalar "(" scalar " a, Tensor b) -> Tensor",                       \
       .body = "return b == a",                                                                         \
       .flags = OP_BUILTIN},                                                                            \
  {                                                                                                     \
    .schema = "aten::ne.builtin_" scalar "(" scalar " a, Tensor b) -> Tensor", .body = "return b != a", \
    .flags = OP_BUILTIN                                                                                 \
  }

#define ORDERED_TENSOR_ON_THE_RIGHT(scalar)                                                             \
  {.schema = "aten::lt.builtin_" scalar "(" scalar " a, Tensor b) -> Tensor",                           \
   .body = "return b > a",                                                                              \
   .flags = OP_BUILTIN},                                                                                \
      {.schema = "aten::le.builtin_" scalar "(" scalar " a, Tensor b) -> Tensor",                       \
       .body = "return b >= a",                                                                         \
       .flags = OP_BUILTIN},                                                                            \
      {.schema = "aten::gt.builtin_" scalar "(" scalar " a, Tensor b) -> Tensor",                       \
       .body = "return b < a",                                                                          \
       .flags = OP_BUILTIN},                                                                            \
  {                                                                                                     \
    .schema = "aten::ge.builtin_" scalar "(" scalar " a, Tensor b) -> Tensor", .body = "return b <= a", \
    .flags = OP_BUILTIN                                                                                 \
  }

#define LISTS_OF(scalar)                                                                                  \
  {.schema = "aten::_single.builtin_" scalar "(" scalar "[1] x) -> " scalar "[]",                         \
   .body = "return x",                                                                                    \
   .flags = OP_BUILTIN},                                                                                  \
      {.schema = "aten::_pair.builtin_" scalar "(" scalar "[2] x) -> " scalar "[]",                       \
       .body = "return x",                                                                                \
       .flags = OP_BUILTIN},                                                                              \
      {.schema = "aten::_triple.builtin_" scalar "(" scalar "[3] x) -> " scalar "[]",                     \
       .body = "return x",                                                                                \
       .flags = OP_BUILTIN},                                                                              \
  {                                                                                                       \
    .schema = "aten::_quadruple.builtin_" scalar "(" scalar "[4] x) -> " scalar "[]", .body = "return x", \
    .flags = OP_BUILTIN                                                                                   \
  }

static const OpRow rows[] = {
    TENSOR_ON_THE_RIGHT("int"),
    TENSOR_ON_THE_RIGHT("float"),
    TENSOR_ON_THE_RIGHT("complex"),
    TENSOR_ON_THE_RIGHT("Scalar"),
    ORDERED_TENSOR_ON_THE_RIGHT("int"),
    ORDERED_TENSOR_ON_THE_RIGHT("float"),
    ORDERED_TENSOR_ON_THE_RIGHT("Scalar"),
    LISTS_OF("int"),
    LISTS_OF("float"),
    LISTS_OF("bool"),
    {.schema = "aten::floordiv.builtin_Tensor(Tensor self, Tensor other) -> Tensor",
     .body = "return torch.floor_divide(self, other)",
     .flags = OP_BUILTIN},
    {.schema = "aten::floordiv.builtin_int(Tensor self, int other) -> Tensor",
     .body = "return torch.floor_divide(self, other)",
     .flags = OP_BUILTIN},
    {.schema = "aten::floordiv.builtin_float(Tensor self, float other) -> Tensor",
     .body = "return torch.floor_divide(self, other)",
     .flags = OP_BUILTIN},
    {.schema = "aten::_assert_int_or_pair(int[] vals, str name, str message) -> ()",
     .body = "pass",
     .flags = OP_BUILTIN},
    {.schema = "aten::list_with_default(int[] out_size, int[] defaults) -> int[]",
     .body = "assert len(defaults) > len(out_size)\nreturn out_size",
     .flags = OP_BUILTIN},
    {.schema = "aten::_assert(bool condition, str message) -> ()",
     .body = "assert condition, message",
     .flags = OP_BUILTIN},
    /* torch._check of 2.x. */
    {.schema = "aten::_check(bool condition, str message=\"\") -> ()",
     .body = "assert condition, message",
     .flags = OP_BUILTIN},
    {.schema = "aten::_check.Tensor(Tensor condition, str message=\"\") -> ()",
     .body = "assert bool(condition), message",
     .flags = OP_BUILTIN},
    {.schema = "aten::device.builtin(str type) -> Device", .body = "return torch.device(type)", .flags = OP_BUILTIN},
    {.schema = "aten::type(Tensor self, int dtype, bool non_blocking=False, bool copy=False) -> Tensor",
     .body = "return self.to(dtype, non_blocking, copy)",
     .flags = OP_BUILTIN},
};
OP_TABLE(op_table_builtin, rows);

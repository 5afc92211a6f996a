/* What PyTorch calls a recorded call: the operator's words, "Backward", and a number where several overloads have
 * gradients of their own. */
#include <ctype.h>

#include "autodiff/foreign_gradient.h" /* what it is called */

typedef struct NodeName {
  const char *name, *overload; /* of the operator, without aten::; overload NULL: any */
  const char *shown;
} NodeName;
static const NodeName exceptions[] = {
    {"pow", "Tensor_Tensor", "PowBackward1"},
    {"pow", "Scalar", "PowBackward1"},
    {"sum", "dim_IntList", "SumBackward1"},
    {"mean", "dim", "MeanBackward1"},
    {"prod", "dim_int", "ProdBackward1"},
    {"max", "", "MaxBackward1"},
    {"min", "", "MinBackward1"},
    {"squeeze", "dim", "SqueezeBackward1"},
    {"clamp", "", "ClampBackward1"},
    {"norm", "Scalar", "NormBackward0"},
    {"norm", "ScalarOpt_dim", "NormBackward1"},
    {"to", NULL, "ToCopyBackward0"},
    {"_to_copy", NULL, "ToCopyBackward0"},
    {"reshape", NULL, "ReshapeAliasBackward0"},
    {"type_as", NULL, "ToCopyBackward0"},
};

static const char *exception_of(Str name, Str overload) {
  for (size_t i = 0; i < sizeof exceptions / sizeof *exceptions; i++) {
    const NodeName *e = &exceptions[i];
    if (str_is(name, e->name) && (!e->overload || str_is(overload, e->overload))) return e->shown;
  }
  return NULL;
}

static void print_operator(const Operator *op, StrBuf *out) {
  Str name = op->name;
  for (size_t i = 0; i + 1 < name.length; i++)
    if (name.data[i] == ':' && name.data[i + 1] == ':') {
      name = (Str){name.data + i + 2, name.length - i - 2};
      break;
    }
  if (op->variant == VARIANT_INPLACE) name.length--; /* the form without '_' */
  const char *known = exception_of(name, op->overload_name);
  if (known) {
    strbuf_puts(out, known);
    return;
  }
  bool upper = true;
  for (size_t i = 0; i < name.length; i++) {
    if (name.data[i] != '_') strbuf_char(out, upper ? (char)toupper((unsigned char)name.data[i]) : name.data[i]);
    upper = name.data[i] == '_';
  }
  strbuf_puts(out, "Backward0");
}

void gradnode_print_name(const GradNode *node, StrBuf *out) {
  switch (node->kind) {
    case GRAD_ACCUMULATE:
      strbuf_puts(out, "AccumulateGrad");
      return;
    case GRAD_COPY_SLICES:
      strbuf_puts(out, "CopySlices");
      return;
    case GRAD_FOREIGN:
      strbuf_puts(out, node->foreign->name);
      return;
    case GRAD_GRAPH:
      strbuf_puts(out, "DifferentiableGraphBackward");
      return;
    case GRAD_NOT_IMPLEMENTED:
      strbuf_puts(out, "NotImplemented");
      return;
    default:
      print_operator(node->op, out);
  }
}

/* Recurrent layers and cells with quantized weights. Products are those of dynamic linear layers; what lies between is
 * computed in numbers. */
#include "call/results.h"
#include "call/row.h"
#include "op/quantized/packed.h"

typedef struct CellParams {
  NativeValue base;
  IValue linear[2]; /* objects: input to hidden, hidden to hidden */
  Tensor *bias[2];  /* kept for who saves them; the linear layers have their own. NULL: none */
  bool is_fp16, reduce_range;
} CellParams;

static void free_params(Capsule *capsule) {
  CellParams *p = (CellParams *)capsule;
  for (int i = 0; i < 2; i++) {
    ivalue_release(p->linear[i]);
    tensor_release(p->bias[i]);
  }
  mem_free(p);
}

static Status check_linear(IValue object, bool is_fp16) {
  const LinearParams *linear;
  TRY(packed_linear_params(object, &linear));
  if (linear->is_fp16 == is_fp16) return OK;
  return status_new(ERROR_RUNTIME, "the weights of a cell are not of the kind that the cell computes with");
}

/* Retains what it is given. */
static Status new_params(IValue ih, IValue hh, const Tensor *bias_ih, const Tensor *bias_hh, bool is_fp16,
                         bool reduce_range, NativeValue **out) {
  TRY(check_linear(ih, is_fp16));
  TRY(check_linear(hh, is_fp16));
  CellParams *p = mem_calloc(1, sizeof *p);
  if (!p) return status_out_of_memory();
  ref_init(&p->base.base.refs);
  p->base.base.free = free_params;
  p->base.native = &native_cell_params;
  p->linear[0] = ivalue_retain(ih);
  p->linear[1] = ivalue_retain(hh);
  p->bias[0] = tensor_retain(bias_ih);
  p->bias[1] = tensor_retain(bias_hh);
  p->is_fp16 = is_fp16;
  p->reduce_range = reduce_range;
  *out = &p->base;
  return OK;
}

static Status set_object(Call *c, NativeValue *value) {
  IValue object;
  TRY(native_object_new(value, &object));
  call_set(c, 0, object);
  return OK;
}
static Status kernel_make_dynamic(Call *c) { /* (w_ih, w_hh, bias_ih, bias_hh, reduce_range) */
  NativeValue *value;
  TRY(new_params(call_value(c, 0), call_value(c, 1), call_tensor(c, 2), call_tensor(c, 3), false, call_bool(c, 4),
                 &value));
  return set_object(c, value);
}
static Status kernel_make_fp16(Call *c) { /* (w_ih, w_hh) */
  NativeValue *value;
  TRY(new_params(call_value(c, 0), call_value(c, 1), NULL, NULL, true, false, &value));
  return set_object(c, value);
}

static Status cell_params(const Call *c, const CellParams **out) {
  NativeValue *value;
  TRY(native_object_get(call_value(c, 0), &native_cell_params, &value));
  *out = (const CellParams *)value;
  return OK;
}

/* ---- products ---- */

static Status kernel_linear(Call *c) { /* (self, x) */
  int which = (int)call_param(c);
  static OpRef dynamic = OP_REF("quantized::linear_dynamic", ""), fp16 = OP_REF("quantized::linear_dynamic_fp16", "");
  const CellParams *p;
  IValue out;
  TRY(cell_params(c, &p));
  TRY(op_call(c->exec, p->is_fp16 ? &fp16 : &dynamic, p->is_fp16 ? 2 : 3,
              (IValue[]){call_value(c, 1), p->linear[which], ivalue_bool(p->reduce_range)}, 1, &out));
  call_set(c, 0, out);
  return OK;
}

/* ---- pickled state: (kind, tensors, numbers, integers, linear parameters) ---- */

static Status append_bias(List *tensors, const Tensor *bias) {
  return bias ? list_append(tensors, ivalue_tensor(tensor_retain(bias))) : OK;
}
static Status kernel_getstate(Call *c) {
  const CellParams *p;
  List *tensors, *numbers, *integers, *packed;
  int64_t reduce = 0;
  TRY(cell_params(c, &p));
  reduce = p->reduce_range;
  TRY(result_str(c, 0, p->is_fp16 ? STR("quantized_fp16") : STR("quantized_dynamic")));
  TRY(list_new(TYPE(TENSOR), 2, &tensors));
  call_set(c, 1, ivalue_list(tensors));
  TRY(append_bias(tensors, p->bias[0]));
  TRY(append_bias(tensors, p->bias[1]));
  TRY(list_from_doubles(NULL, 0, &numbers));
  call_set(c, 2, ivalue_list(numbers));
  TRY(list_from_ints(&reduce, p->is_fp16 ? 0 : 1, &integers));
  call_set(c, 3, ivalue_list(integers));
  TRY(list_new(native_class_type(&native_linear_params), 2, &packed));
  call_set(c, 4, ivalue_list(packed));
  TRY(list_append(packed, ivalue_retain(p->linear[0])));
  return list_append(packed, ivalue_retain(p->linear[1]));
}

static Status bad_state(void) {
  return status_new(ERROR_DATA, "the state of a recurrent cell's parameters is not of a known kind");
}
static const Tensor *tensor_at(const List *list, size_t i) {
  bool there = i < list->length && list->values[i].tag == TAG_TENSOR && tensor_is_defined(list->values[i].tensor);
  return there ? list->values[i].tensor : NULL;
}
static Status kernel_setstate(Call *c) {
  const Tuple *t = call_value(c, 1).tag == TAG_TUPLE ? call_value(c, 1).tuple : NULL;
  NativeValue *value;
  if (!t || t->length != 5 || t->values[0].tag != TAG_STRING || t->values[1].tag != TAG_LIST ||
      t->values[3].tag != TAG_LIST || t->values[4].tag != TAG_LIST)
    return bad_state();
  const List *tensors = t->values[1].list, *integers = t->values[3].list, *packed = t->values[4].list;
  bool is_fp16 = str_is(ivalue_str(t->values[0]), "quantized_fp16");
  if (!is_fp16 && !str_is(ivalue_str(t->values[0]), "quantized_dynamic")) return bad_state();
  if (packed->kind != LIST_VALUES || packed->length != 2 || tensors->kind != LIST_VALUES || integers->kind != LIST_INTS)
    return bad_state();
  bool reduce_range = !is_fp16 && integers->length > 0 && integers->ints[0];
  TRY(new_params(packed->values[0], packed->values[1], tensor_at(tensors, 0), tensor_at(tensors, 1), is_fp16,
                 reduce_range, &value));
  return native_object_set(call_value(c, 0), value);
}

#define LINEARS LINEAR_PARAMS " w_ih, " LINEAR_PARAMS " w_hh, "
#define LAYERS CELL_PARAMS "[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional"
#define LAYER_VALUES "params, num_layers, dropout, train, bidirectional"
#define PARAMS_ROW(text, ...) \
  { .schema = text, .flags = OP_NOT_DIFFERENTIABLE | OP_ACCEPT_QUANTIZED, .kernel = __VA_ARGS__ }
#define SIMPLE_CELL(name)                                                                        \
  {                                                                                              \
    .schema = "quantized::quantized_rnn_" name "_cell_dynamic(Tensor input, Tensor hx, " LINEARS \
              "Tensor b_ih, Tensor b_hh) -> Tensor",                                             \
    .body =                                                                                      \
        "return (torch.ops.quantized.linear_dynamic(input, w_ih, True) + "                       \
        "torch.ops.quantized.linear_dynamic(hx, w_hh, True))." name "()"                         \
  }

static const OpRow rows[] = {
    PARAMS_ROW("quantized::make_quantized_cell_params_dynamic(" LINEARS
               "Tensor bias_ih, Tensor bias_hh, bool reduce_range=False) -> " CELL_PARAMS,
               kernel_make_dynamic),
    PARAMS_ROW("quantized::make_quantized_cell_params_fp16(" LINEAR_PARAMS " w_ih, " LINEAR_PARAMS
               " w_hh) -> " CELL_PARAMS,
               kernel_make_fp16),
    PARAMS_ROW("classes::CellParamsBase_getstate(" CELL_PARAMS
               " self) -> (str, Tensor[], float[], int[], " LINEAR_PARAMS "[])",
               kernel_getstate),
    PARAMS_ROW("classes::CellParamsBase_setstate(" CELL_PARAMS
               "(a!) self, (str, Tensor[], float[], int[], " LINEAR_PARAMS "[]) state) -> ()",
               kernel_setstate),
    PARAMS_ROW("classes::CellParamsBase_linear_ih(" CELL_PARAMS " self, Tensor x) -> Tensor", kernel_linear,
               .param = 0),
    PARAMS_ROW("classes::CellParamsBase_linear_hh(" CELL_PARAMS " self, Tensor x) -> Tensor", kernel_linear,
               .param = 1),
    {.schema = "aten::quantized_lstm.input(Tensor input, Tensor[] hx, " LAYERS
               ", bool batch_first, *, ScalarType? dtype=None, bool use_dynamic=False) -> (Tensor, Tensor, Tensor)",
     .body = "if len(hx) != 2:\n"
             "    raise RuntimeError('lstm expects two hidden states')\n"
             "return quantized_rnn_sequence(0, input, hx[0], hx[1], " LAYER_VALUES ", batch_first)"},
    {.schema = "aten::quantized_lstm.data(Tensor data, Tensor batch_sizes, Tensor[] hx, " LAYERS
               ", *, ScalarType? dtype=None, bool use_dynamic=False) -> (Tensor, Tensor, Tensor)",
     .body = "if len(hx) != 2:\n"
             "    raise RuntimeError('lstm expects two hidden states')\n"
             "sizes: List[int] = batch_sizes.tolist()\n"
             "return quantized_rnn_layers(0, data, sizes, hx[0], hx[1], " LAYER_VALUES ")"},
    {.schema = "aten::quantized_gru.input(Tensor input, Tensor hx, " LAYERS ", bool batch_first) -> (Tensor, Tensor)",
     .body = "out, h, c = quantized_rnn_sequence(1, input, hx, hx, " LAYER_VALUES ", batch_first)\nreturn out, h"},
    {.schema = "aten::quantized_gru.data(Tensor data, Tensor batch_sizes, Tensor hx, " LAYERS ") -> (Tensor, Tensor)",
     .body = "sizes: List[int] = batch_sizes.tolist()\n"
             "out, h, c = quantized_rnn_layers(1, data, sizes, hx, hx, " LAYER_VALUES ")\nreturn out, h"},
    {.schema = "quantized::quantized_lstm_cell_dynamic(Tensor input, Tensor[] hx, " LINEARS
               "Tensor bias_ih, Tensor bias_hh) -> (Tensor, Tensor)",
     .body = "gates = (torch.ops.quantized.linear_dynamic(input, w_ih, True) + "
             "torch.ops.quantized.linear_dynamic(hx[0], w_hh, True)).chunk(4, 1)\n"
             "c = gates[1].sigmoid() * hx[1] + gates[0].sigmoid() * gates[2].tanh()\n"
             "return gates[3].sigmoid() * c.tanh(), c"},
    {.schema = "quantized::quantized_gru_cell_dynamic(Tensor input, Tensor hx, " LINEARS
               "Tensor b_ih, Tensor b_hh) -> Tensor",
     .body = "i = torch.ops.quantized.linear_dynamic(input, w_ih, True).chunk(3, 1)\n"
             "g = torch.ops.quantized.linear_dynamic(hx, w_hh, True).chunk(3, 1)\n"
             "reset = (i[0] + g[0]).sigmoid()\n"
             "update = (i[1] + g[1]).sigmoid()\n"
             "new = (i[2] + reset * g[2]).tanh()\n"
             "return (hx - new) * update + new"},
    SIMPLE_CELL("relu"),
    SIMPLE_CELL("tanh"),
};
OP_TABLE(op_table_quantized_cells, rows);

static const NativeMethod methods[] = {
    {"__getstate__", "classes::CellParamsBase_getstate"},
    {"__setstate__", "classes::CellParamsBase_setstate"},
};
const NativeClass native_cell_params = {"rnn.CellParamsBase", methods, sizeof methods / sizeof *methods};

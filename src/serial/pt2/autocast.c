#include "serial/pt2/autocast.h"

#include "call/row.h"

static Value *cast(Pt2Builder *b, Value *value, bool reduce) {
  Value *off = pt2_constant(b, ivalue_bool(false)), *on = pt2_constant(b, ivalue_bool(true));
  if (!reduce) return PT2_EMIT(b, "aten::_autocast_to_full_precision", value, off, on);
  return PT2_EMIT(b, "aten::_autocast_to_reduced_precision", value, off, on, pt2_constant(b, ivalue_int(DTYPE_FLOAT16)),
                  pt2_constant(b, ivalue_int(b->autocast.dtype)));
}
static Value *cast_value(Pt2Builder *b, Value *value, bool reduce) {
  if (value->type->kind == TYPE_TENSOR) return cast(b, value, reduce);
  if (value->node->kind != SYM_prim_ListConstruct || value->type->elements[0]->kind != TYPE_TENSOR) return value;
  Node *list = value->node; /* made for this call */
  for (uint32_t i = 0; i < list->input_count; i++) node_replace_input(list, i, cast(b, node_input(list, i), reduce));
  node_move_before(list, b->graph->insert_before);
  return value;
}

static bool has_dtype(const FunctionSchema *schema, const MatchedSchema *m) {
  IValue value;
  ptrdiff_t at = schema_find_argument(schema, STR("dtype"));
  return at >= 0 && at < (ptrdiff_t)m->input_count &&
         !(value_is_constant(m->inputs[at], &value) && value.tag == TAG_NONE);
}

void pt2_autocast_inputs(Pt2Builder *b, const Operator *op, MatchedSchema *m) {
  if (!b->autocast.is_on || m->schema->is_mutable) return;
  bool reduce = false;
  switch (op->row->cast) {
    case CAST_REFUSED:
      pt2_fail(b, ERROR_UNSUPPORTED, "the operator can't be computed in a reduced dtype");
    case CAST_REDUCED:
      reduce = true;
      break;
    case CAST_FULL_UNLESS_DTYPE:
      if (has_dtype(m->schema, m)) return;
      break;
    case CAST_FULL:
    case CAST_WIDEST:
      break;
    default:
      return;
  }
  for (uint32_t i = 0; i < m->input_count; i++) m->inputs[i] = cast_value(b, m->inputs[i], reduce);
}

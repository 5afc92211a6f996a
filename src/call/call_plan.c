/* Makes CallPlans. They live as long as their operators: always. */
#include "call/call_plan.h"

#include "base/heap.h"
#include "call/built_in.h"
#include "call/derive.h"
#include "call/row_dtypes.h"
#include "call/row_extras.h"
#include "call/torch_version.h"

static bool is_list(const Type *type) {
  return type->kind == TYPE_LIST || (type->kind == TYPE_OPTIONAL && type->elements[0]->kind == TYPE_LIST);
}

static bool is_tensor_list(const Type *type) {
  if (type->kind == TYPE_OPTIONAL) type = type->elements[0];
  if (type->kind != TYPE_LIST) return false;
  const Type *element = type->elements[0];
  if (element->kind == TYPE_OPTIONAL) element = element->elements[0];
  return element->kind == TYPE_TENSOR;
}

/* A Tensor, or some of them: none may be undefined. */
static bool needs_tensors(const Type *type) {
  if (type->kind == TYPE_OPTIONAL && type->elements[0]->kind == TYPE_LIST) type = type->elements[0];
  if (type->kind == TYPE_LIST) type = type->elements[0];
  return type->kind == TYPE_TENSOR;
}

static bool is_device(const Type *type) {
  return type->kind == TYPE_DEVICE || (type->kind == TYPE_OPTIONAL && type->elements[0]->kind == TYPE_DEVICE);
}

/* `to.prim_dtype` has a plain int. */
static bool is_dtype(const Argument *a) {
  const Type *type = a->type->kind == TYPE_OPTIONAL ? a->type->elements[0] : a->type;
  return type->kind == TYPE_INT && (a->int_kind == INT_SCALAR_TYPE || str_is(a->name, "dtype"));
}

/* Arguments of which a call reads no elements, or sees to it itself that they are in memory. */
static uint64_t restored_by(const Operator *op, const CallPlan *plan) {
  bool reads_none = plan->is_view || (op->row->body && !row_extras(op->row)->beside) || op->flags & OP_METADATA_ONLY;
  return reads_none ? UINT64_MAX : row_extras(op->row)->restores;
}

Status call_plan_make(const Operator *op, const CallPlan **out) {
  HEAP_SCOPE(NULL);
  const FunctionSchema *schema = operator_schema(op);
  if (!schema->name.length) return status_out_of_memory(); /* the stand-in for one that could not be parsed */
  CallPlan *plan = mem_calloc(1, sizeof *plan);
  if (!plan) return status_out_of_memory();
  plan->schema = schema;
  plan->options_at = -1;
  plan->taken = row_dtypes_taken(op->row);
  for (uint32_t i = 0; i < schema->argument_count && i < CALL_MAX_INPUTS; i++) {
    const Argument *a = &schema->arguments[i];
    uint64_t bit = (uint64_t)1 << i;
    if (needs_tensors(a->type)) plan->required |= bit;
    if (a->type->kind == TYPE_OPTIONAL && a->type->elements[0]->kind == TYPE_TENSOR) plan->optional |= bit;
    if (is_tensor_list(a->type)) plan->lists |= bit;
    if (is_list(a->type) && (!a->alias || (a->alias->contained_write && !a->alias->is_write))) plan->held |= bit;
    if (is_dtype(a)) plan->dtypes |= bit;
    if (is_device(a->type)) plan->devices |= bit;
    bool is_tensor =
        a->type->kind == TYPE_TENSOR || (a->type->kind == TYPE_OPTIONAL && a->type->elements[0]->kind == TYPE_TENSOR);
    /* A container that is itself written keeps its tensors as they are. */
    if (a->alias && ((a->alias->is_write && is_tensor) || a->alias->contained_write)) plan->writes |= bit;
    if (a->is_out) {
      if (plan->out_count++ == 0) plan->first_out = i;
    }
  }
  /* Regions take what their operators take: numbers in lists, too. */
  if (schema->is_vararg && operator_is_of_plans(op) && schema->argument_count < CALL_MAX_INPUTS)
    plan->held |= UINT64_MAX << schema->argument_count;
  for (uint32_t i = 0; i < schema->return_count; i++) {
    const AliasInfo *alias = schema->returns[i].alias;
    if (alias && !alias->is_write && !alias->contained_write) plan->is_view = true;
  }
  plan->output_kind = schema->return_count == 0 ? OUTPUT_OTHER : OUTPUT_TENSOR;
  for (uint32_t i = 0; i < schema->return_count; i++) {
    const Type *type = schema->returns[i].type;
    if (type->kind != TYPE_TENSOR) plan->output_kind = is_tensor_list(type) ? OUTPUT_LIST : OUTPUT_OTHER;
  }
  plan->functional = op;
  if (op->variant != VARIANT_FUNCTIONAL) {
    Str name, overload;
    const Operator *functional = NULL;
    if (schema_text_split(str_from(op->row->schema), &name, &overload))
      functional = operator_in(operator_find_overload(name, overload), (TorchVersion)op->row->torch);
    if (functional && functional->row == op->row)
      plan->functional = functional; /* a retired one can't be found: then without sharing */
  }
  plan->quantized =
      kind_form_find(built_in()->quantized_forms, plan->functional->name, plan->functional->overload_name);
  plan->sparse = kind_form_find(built_in()->sparse_forms, plan->functional->name, plan->functional->overload_name);
  if (op->variant == VARIANT_OUT) {
    plan->options_at = derive_dropped_options(str_from(op->row->schema));
    if (plan->out_count == 0) { /* a schema could not be read */
      mem_free(plan);
      return status_new(ERROR_OUT_OF_MEMORY, "no memory for the schema of " STR_FMT, STR_ARG(op->name));
    }
  }
  bool composite = (op->flags & OP_COMPOSITE) || op->row->body || op->row->factory;
  plan->records = !(op->flags & OP_NOT_DIFFERENTIABLE) && (!composite || op->row->grad);
  plan->restores = restored_by(op, plan);
  plan->asks = plan->dtypes || plan->devices || schema->open;
  plan->direct = op->variant == VARIANT_FUNCTIONAL && plan->writes == 0 && !plan->is_view;
  CallPlan *expected = NULL;
  if (!atomic_compare_exchange_strong(&((Operator *)op)->plan, &expected, plan)) {
    mem_free(plan);
    plan = expected;
  }
  *out = plan;
  return OK;
}

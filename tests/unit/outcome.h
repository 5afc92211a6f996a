/* What a run of a program leaves behind, and whether two runs left the same: values, dtypes, sizes, strides, who shares
 * memory with whom, who requires grad, gradients. What the tests share that compare a program as written with what
 * rewriting made of it. */
#pragma once

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api/handles.h"
#include "autodiff/autodiff.h"
#include "autodiff/node.h"

enum { MAX_OUTCOME_TENSORS = 128 };

/* All tensors of a value in order, borrowed. */
static inline void tensors_of(IValue v, const Tensor **out, int *count) {
  if (v.tag == TAG_TENSOR && tensor_is_defined(v.tensor)) {
    assert_true(*count < MAX_OUTCOME_TENSORS);
    out[(*count)++] = v.tensor;
  } else if (v.tag == TAG_TUPLE) {
    for (uint32_t i = 0; i < v.tuple->length; i++) tensors_of(v.tuple->values[i], out, count);
  } else if (v.tag == TAG_LIST && v.list->kind == LIST_VALUES) {
    for (size_t i = 0; i < v.list->length; i++) tensors_of(v.list->values[i], out, count);
  } else if (v.tag == TAG_OBJECT) {
    for (uint32_t i = 0; i < v.object->slot_count; i++) tensors_of(v.object->slots[i], out, count);
  }
}

/* Equal bits, or nearly equal where `tolerance` says so; dtype and sizes as well. */
static inline bool same_values(const Tensor *a, const Tensor *b, double tolerance) {
  if (a->dtype != b->dtype || !tensor_same_sizes(a, b)) return false;
  const Tensor *from[2] = {a, b};
  Tensor *wide[2];
  for (int i = 0; i < 2; i++) {
    assert_null(tensor_empty(DTYPE_COMPLEX128, a->ndim, a->sizes, &wide[i]));
    assert_null(tensor_copy(wide[i], from[i], 1));
  }
  const double *p = tensor_data(wide[0]), *q = tensor_data(wide[1]);
  bool same = true;
  for (int64_t i = 0; i < 2 * a->numel; i++) {
    double scale = fabs(p[i]) > 1 ? fabs(p[i]) : 1;
    same &= p[i] == q[i] || (p[i] != p[i] && q[i] != q[i]) || fabs(p[i] - q[i]) <= tolerance * scale;
  }
  for (int i = 0; i < 2; i++) tensor_release(wide[i]);
  return same;
}

/* Of everything but tensors. Objects hold no cycles. */
static inline bool same_structure(IValue a, IValue b) {
  if (a.tag != b.tag) return false;
  switch (a.tag) {
    case TAG_INT:
      return a.i == b.i;
    case TAG_FLOAT:
      return a.f == b.f || (a.f != a.f && b.f != b.f);
    case TAG_BOOL:
      return a.b == b.b;
    case TAG_TENSOR:
      return tensor_is_defined(a.tensor) == tensor_is_defined(b.tensor);
    case TAG_LIST:
      if (a.list->length != b.list->length || a.list->kind != b.list->kind) return false;
      for (size_t i = 0; i < a.list->length; i++) {
        IValue x = list_get(a.list, i), y = list_get(b.list, i);
        bool same = same_structure(x, y);
        ivalue_release(x);
        ivalue_release(y);
        if (!same) return false;
      }
      return true;
    case TAG_TUPLE:
      if (a.tuple->length != b.tuple->length) return false;
      for (uint32_t i = 0; i < a.tuple->length; i++)
        if (!same_structure(a.tuple->values[i], b.tuple->values[i])) return false;
      return true;
    case TAG_STRING:
      return str_equal(ivalue_str(a), ivalue_str(b));
    case TAG_OBJECT:
      if (a.object->slot_count != b.object->slot_count) return false;
      for (uint32_t i = 0; i < a.object->slot_count; i++)
        if (!same_structure(a.object->slots[i], b.object->slots[i])) return false;
      return true;
    default:
      return true;
  }
}

/* What of the second `count` tensors is not as of the first; NULL: nothing. The first `arguments` are arguments. */
static inline const char *different_tensors(const Tensor *const *x, const Tensor *const *y, int count, int arguments,
                                            double tolerance, bool gradients) {
  for (int i = 0; i < count; i++) {
    bool is_argument = i < arguments;
    if (x[i]->dtype != y[i]->dtype) return is_argument ? "arguments of another dtype" : "other dtypes";
    if (!tensor_same_sizes(x[i], y[i])) return is_argument ? "arguments of other sizes" : "other sizes";
    if (!same_values(x[i], y[i], tolerance)) return is_argument ? "arguments changed otherwise" : "other values";
  }
  for (int i = 0; i < count; i++)
    if (memcmp(x[i]->strides, y[i]->strides, (size_t)x[i]->ndim * sizeof *x[i]->strides)) return "other strides";
  for (int i = 0; i < count && gradients; i++)
    if (tensor_records(x[i]) != tensor_records(y[i])) {
      static char message[80];
      snprintf(message, sizeof message, "tensor %d of %d requires grad %s", i, count,
               tensor_records(x[i]) ? "no more" : "now");
      return message;
    }
  for (int i = 0; i < count; i++)
    for (int k = 0; k < i; k++)
      if ((x[i] == x[k]) != (y[i] == y[k])) {
        static char message[80];
        snprintf(message, sizeof message, "tensors %d and %d of %d are one %s", k, i, count,
                 x[i] == x[k] ? "no more" : "now");
        return message;
      }
  for (int i = 0; i < count; i++)
    for (int k = 0; k < i; k++)
      if (tensor_shares_storage(x[i], x[k]) != tensor_shares_storage(y[i], y[k])) return "memory shared otherwise";
  return NULL;
}

/* Gradients of the sum of all that a result holds, into the leaves' .grad. */
static inline Status backward_of_sum(const Exec *in, IValue result) {
  const Tensor *all[MAX_OUTCOME_TENSORS];
  Tensor *outputs[MAX_OUTCOME_TENSORS], *ones[MAX_OUTCOME_TENSORS];
  int count = 0, wanted = 0;
  static OpRef ones_like = OP_REF("aten::ones_like", "");
  Exec exec = *in;
  Status status = OK;
  exec.grad_enabled = false;
  tensors_of(result, all, &count);
  for (int i = 0; i < count; i++) {
    if (!tensor_records(all[i])) continue;
    IValue one = IVALUE_NONE;
    outputs[wanted] = (Tensor *)(uintptr_t)all[i];
    assert_null(op_call(&exec, &ones_like, 1, (IValue[]){ivalue_tensor(outputs[wanted])}, 1, &one));
    ones[wanted++] = one.tensor;
  }
  exec.grad_enabled = true;
  if (wanted) status = autograd_backward(&exec, (size_t)wanted, outputs, ones, (BackwardOptions){0});
  for (int i = 0; i < wanted; i++) tensor_release(ones[i]);
  return status;
}

static inline const Tensor *gradient_of(const Tensor *leaf) {
  return leaf->autograd ? leaf->autograd->grad : NULL;
}

static inline const char *different_gradient(const Tensor *x, const Tensor *y) {
  if (!x && !y) return NULL;
  if (!x || !y) return "only one of them has a gradient";
  bool is_double = x->dtype == DTYPE_FLOAT64 || x->dtype == DTYPE_COMPLEX128;
  bool is_half = x->dtype == DTYPE_FLOAT16 || x->dtype == DTYPE_BFLOAT16;
  return same_values(x, y, is_double ? 1e-9 : is_half ? 2e-2 : 1e-4) ? NULL : "other gradients";
}

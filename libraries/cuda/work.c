#include "cuda/work.h"

#include <stdarg.h>
#include <stdio.h>

void work_begin(Work *w, wick_call *call, wick_error **error) {
  *w = (Work){.call = call, .error = error};
}

void work_take(Work *w, wick_status status) {
  if (!w->status) w->status = status;
}

void work_refuse(Work *w, const char *format, ...) {
  char text[300];
  va_list list;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  if (!w->status) w->status = fail(w->error, WICK_UNSUPPORTED, "%s", text);
}

wick_value *work_hold(Work *w, wick_value *value) {
  if (!value) {
    if (!w->status) w->status = fail(w->error, WICK_OUT_OF_MEMORY, "out of memory");
  } else if (w->held_count == WORK_MAX_HELD) {
    wick_value_release(value);
    work_refuse(w, "CUDA: a call of so many tensors");
    return NULL;
  } else {
    w->held[w->held_count++] = value;
  }
  return value;
}

wick_value *work_call(Work *w, const char *name, const char *overload, const wick_value *const *arguments,
                      size_t count) {
  wick_value *out = NULL;
  if (w->status) return NULL;
  work_take(w, wick_call_operator(w->call, name, overload, arguments, count, &out, w->error));
  return w->status ? NULL : work_hold(w, out);
}

wick_status work_end(Work *w) {
  for (int i = 0; i < 3; i++)
    if (w->targets[i] && w->targets[i] != w->results[i])
      work_call(w, "aten::copy_", NULL, (const wick_value *const[]){w->results[i], w->targets[i]}, 2);
  for (int i = 0; i < w->held_count; i++) wick_value_release(w->held[i]);
  return w->status;
}

/* ---- arguments ---- */

size_t work_argument_count(const Work *w) {
  return wick_call_argument_count(w->call);
}
wick_value *work_argument(Work *w, size_t index) {
  return work_hold(w, wick_call_argument(w->call, index));
}
bool work_is_none(Work *w, size_t index) {
  wick_value *v = work_argument(w, index);
  wick_tensor_info info = {.size = sizeof info};
  if (!v || wick_value_kind(v) == WICK_NONE) return true;
  if (wick_value_kind(v) != WICK_TENSOR) return false;
  return wick_tensor_info_of(v, &info, NULL) || info.flags & WICK_INFO_UNDEFINED;
}
int64_t work_int(Work *w, size_t index) {
  wick_value *v = work_argument(w, index);
  return v ? wick_value_to_int(v) : 0;
}
double work_real(Work *w, size_t index) {
  wick_value *v = work_argument(w, index);
  return v ? wick_value_to_double(v) : 0;
}

int work_ints(Work *w, size_t index, int64_t *out, int room) {
  wick_value *v = work_argument(w, index);
  if (!v || wick_value_kind(v) == WICK_NONE) return 0;
  if (wick_value_kind(v) == WICK_INT && room > 0) return *out = wick_value_to_int(v), 1;
  size_t count = wick_value_length(v);
  if (count > (size_t)room) return work_refuse(w, "CUDA: a list of %zu numbers", count), 0;
  for (size_t i = 0; i < count; i++) {
    wick_value *item = wick_value_item(v, i);
    out[i] = item ? wick_value_to_int(item) : 0;
    wick_value_release(item);
  }
  return (int)count;
}

/* ---- tensors ---- */

bool work_view(Work *w, const wick_value *tensor, wick_tensor_view *out) {
  *out = (wick_tensor_view){.size = sizeof *out};
  if (w->status || !tensor) return false;
  work_take(w, wick_device_tensor_of(tensor, out, w->error));
  if (w->status) return false;
  if (out->device_type == WICK_DEVICE_CUDA) work_take(w, card_enter(out->device_index, &w->card, w->error));
  return !w->status;
}

wick_value *work_dense(Work *w, wick_value *tensor) {
  wick_tensor_info info = {.size = sizeof info};
  if (!tensor || w->status) return NULL;
  wick_tensor_info_of(tensor, &info, NULL);
  if (info.flags & WICK_INFO_CONTIGUOUS && !(info.flags & (WICK_INFO_CONJ | WICK_INFO_NEG))) return tensor;
  return work_call(w, "aten::contiguous", NULL, (const wick_value *const[]){tensor}, 1);
}

bool work_tensor(Work *w, size_t index, bool dense, wick_tensor_view *out) {
  if (w->status || work_is_none(w, index)) return false;
  wick_value *v = work_argument(w, index);
  if (dense) v = work_dense(w, v);
  if (!work_view(w, v, out)) return false;
  if (out->device_type != WICK_DEVICE_CUDA) work_refuse(w, "CUDA: a number in the place of a tensor");
  return !w->status;
}

bool work_result(Work *w, size_t index, wick_tensor_view *out) {
  wick_value *v = w->results[index] = work_hold(w, wick_call_result(w->call, index));
  w->targets[index] = work_dense(w, v);
  return work_view(w, w->targets[index], out);
}

void work_launch(Work *w, Source *source, const SourceUse *use, int64_t threads, void **parameters) {
  if (!w->status) work_take(w, source_launch(source, use, w->card, threads, parameters, w->error));
}

int64_t view_count(const wick_tensor_view *t) {
  int64_t count = 1;
  for (int32_t d = 0; d < t->ndim; d++) count *= t->sizes[d];
  return count;
}
int view_dim(const wick_tensor_view *t, int64_t dim) {
  return (int)(dim < 0 ? dim + (t->ndim ? t->ndim : 1) : dim);
}

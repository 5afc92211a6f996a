/* Calls of a method: one, or one for each piece of an input. */
#include "cli/stream.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cli/literal.h"
#include "wick/tensor.h"

bool call_once(const Call *call, const Inputs *inputs, wick_value **out) {
  wick_error *error;
  const wick_value *const *values = (const wick_value *const *)inputs->values;
  wick_status status = call->method ? wick_run(call->module, call->method, values, inputs->count, inputs->names,
                                               inputs->named_count, call->options, out, &error)
                                    : wick_module_call(call->module, values, inputs->count, inputs->names,
                                                       inputs->named_count, call->options, out, &error);
  if (status) complain_error(call->path, error);
  return !status;
}

bool chunks_parse(const char *text, Chunks *out) {
  char *end;
  *out = (Chunks){0};
  if (!text) return true;
  out->size = strtol(text, &end, 10);
  out->pads = !strcmp(end, ",pad");
  if (out->size > 0 && out->size <= 1 << 28 && end != text && (!*end || out->pads)) return true;
  complain(NULL, "--chunk takes a size such as 512, or 512,pad, not '%s'", text);
  return false;
}

/* ---- pieces ---- */

/* x[..., start:start + size], with zeros after where it is shorter and that is wanted. */
static wick_status cut(const wick_value *whole, int64_t start, const Chunks *chunks, wick_value **out,
                       wick_error **error) {
  wick_value *dim = wick_value_int(-1), *begin = wick_value_int(start), *end = wick_value_int(start + chunks->size);
  wick_value *step = wick_value_int(1), *piece = NULL;
  wick_tensor_spec spec;
  wick_status status =
      wick_op_call(NULL, "aten::slice", "Tensor", (const wick_value *const[]){whole, dim, begin, end, step}, 5, NULL, 0,
                   &piece, error);
  if (!status) status = wick_tensor_spec_of(piece, &spec, error);
  int64_t missing = status ? 0 : chunks->size - spec.sizes[spec.ndim - 1];
  if (!status && missing && chunks->pads) {
    wick_value *none = wick_value_int(0), *more = wick_value_int(missing), *widths = NULL;
    status = wick_value_list((const wick_value *const[]){none, more}, 2, &widths, error);
    if (!status)
      status = wick_op_call(NULL, "aten::constant_pad_nd", "", (const wick_value *const[]){piece, widths, none}, 3,
                            NULL, 0, out, error);
    wick_value_release(none);
    wick_value_release(more);
    wick_value_release(widths);
  } else if (!status) {
    *out = wick_value_retain(piece);
  }
  wick_value_release(dim);
  wick_value_release(begin);
  wick_value_release(end);
  wick_value_release(step);
  wick_value_release(piece);
  return status;
}

/* All results as the kind of file wants them. */
static bool write_all(const Output *output, const Items *results) {
  wick_value *all = NULL, *joined = NULL;
  wick_error *error = NULL;
  if (wick_value_list((const wick_value *const *)results->values, results->count, &all, &error)) {
    wick_error_free(error); /* of different types */
    if (wick_value_tuple((const wick_value *const *)results->values, results->count, &all, &error)) {
      complain_error(output->path, error);
      return false;
    }
  }
  bool fine = true;
  if (output_holds_tensor(output)) {
    wick_value *dim = wick_value_int(-1);
    fine = !wick_op_call(NULL, "aten::cat", "", (const wick_value *const[]){all, dim}, 2, NULL, 0, &joined, &error);
    if (!fine) complain_error(output->path, error);
    wick_value_release(dim);
  }
  fine = fine && output_write(output, joined ? joined : all);
  wick_value_release(joined);
  wick_value_release(all);
  return fine;
}

typedef struct Stream {
  const Call *call;
  const Chunks *chunks;
  const Output *output;
  Items results; /* where they are kept: for a file, or an object of JSON */
} Stream;
/* Calls with the piece in the first input's place; takes it over. */
static bool take_piece(Stream *s, Inputs *inputs, wick_value *piece) {
  assert(inputs->count > 0);
  wick_value *whole = inputs->values[0], *result = NULL;
  wick_tensor_spec spec;
  bool is_short = !wick_tensor_spec_of(piece, &spec, NULL) && spec.ndim && spec.sizes[spec.ndim - 1] < s->chunks->size;
  inputs->values[0] = piece;
  bool fine = call_once(s->call, inputs, &result);
  inputs->values[0] = whole;
  wick_value_release(piece);
  if (!fine && is_short && !s->chunks->pads)
    complain(NULL, "the last piece is shorter than %ld: --chunk %ld,pad fills it up with zeros", s->chunks->size,
             s->chunks->size);
  if (!fine) return false;
  if (s->output->path || s->output->json) {
    fine = items_push(&s->results, result);
    if (!fine) complain(NULL, "too many results");
    return fine;
  }
  fine = output_write_line(s->output, result) && show_finish();
  wick_value_release(result);
  return fine;
}
static bool stream_live(Stream *s, Inputs *inputs) {
  wick_value *piece, *whole;
  wick_tensor_spec spec;
  wick_error *error;
  bool fine = true;
  while (fine && (piece = input_floats_read(stdin, (size_t)s->chunks->size)) &&
         !wick_tensor_spec_of(piece, &spec, NULL) && spec.sizes[0]) {
    bool is_last = spec.sizes[0] < s->chunks->size;
    whole = piece;
    fine = !cut(whole, 0, s->chunks, &piece, &error);
    wick_value_release(whole);
    if (!fine)
      complain_error("-", error);
    else
      fine = take_piece(s, inputs, piece);
    piece = NULL;
    if (is_last) break;
  }
  wick_value_release(piece);
  return fine;
}
static bool stream_tensor(Stream *s, Inputs *inputs) {
  wick_tensor_spec spec;
  wick_error *error;
  if (wick_tensor_spec_of(inputs->values[0], &spec, NULL) || !spec.ndim) {
    complain(NULL, "--chunk cuts the first input, which is to be a tensor");
    return false;
  }
  int64_t length = spec.sizes[spec.ndim - 1];
  for (int64_t start = 0; start < length; start += s->chunks->size) {
    wick_value *piece = NULL;
    if (cut(inputs->values[0], start, s->chunks, &piece, &error)) {
      complain_error(NULL, error);
      return false;
    }
    if (!take_piece(s, inputs, piece)) return false;
  }
  return true;
}

bool stream(const Call *call, const Chunks *chunks, Inputs *inputs, const Output *output) {
  Stream s = {call, chunks, output, {0}};
  if (!inputs->count) {
    complain(NULL, "--chunk cuts the first input: there is none");
    return false;
  }
  bool fine = chunks->live ? stream_live(&s, inputs) : stream_tensor(&s, inputs);
  if (fine && (output->path || output->json)) fine = write_all(output, &s.results);
  items_dispose(&s.results);
  return fine;
}

/* Every row of the registry with tensors on a device that has kernels for a few operators, and whose memory faults
 * where the host reads it: the call gives what it gives on the CPU, or an error that names the device; with some
 * arguments on the device and some on the host, or results asked for there, it may give any error. Never a fault.
 *
 * Calls run in a child process, so that a fault is told with its arguments and the others go on.
 *
 *   WICK_ROW=aten::add   rows of that name alone
 *   WICK_ROW_LIST=1      tells of every row what came of it */
#include "sample.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../fake_device.h"
#include "api/api.h"
#include "api/handles.h"
#include "base/clock.h"

enum { ATTEMPTS = 240, MEMORY = 64 << 20, MAX_FAULTS = 100, TEXT = 3000 };

/* What parent and child both see. */
typedef struct Progress {
  size_t row; /* to come, or running */
  size_t called, ran, named, wrong;
  bool is_on_device; /* what runs, else the search for a sample */
  bool deadly[ATTEMPTS];
  int attempt;
  char running[TEXT];
} Progress;
static Progress *progress;

/* ---- calls ---- */

static Status run(const Operator *op, const MadeCall *made, IValue *outputs, uint32_t output_count) {
  Exec exec;
  WorkBudget budget = {.steps_left = 1000000, .limits_memory = true, .memory = {.left = MEMORY}};
  api_exec_init(&exec, NULL);
  exec.is_silent = true;
  exec.work.budget = &budget;
  exec.work.threads = 1;
  work_set_deadline(&exec.work, clock_now_ns() + 500000000);
  for (uint32_t i = 0; i < output_count; i++) outputs[i] = IVALUE_NONE;
  Call call = {.inputs = made->inputs, .input_count = made->count, .outputs = outputs, .output_count = output_count};
  ExecBefore before = exec_enter(&exec);
  WorkLimit limit = {.deadline_ns = exec.work.deadline_ns}, *limit_before = work_limit_enter(&limit);
  Status status = operator_call(&exec, op, &call);
  if (!status && limit.noticed) status = work_status();
  work_limit_enter(limit_before);
  exec_leave(before);
  return status;
}

static void release_all(IValue *values, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) ivalue_release(values[i]);
}

/* The tensor on the device; NULL where there is no such tensor on it. */
static Tensor *sent(const Tensor *t, Device device) {
  TensorSpec spec;
  Tensor *out = NULL;
  if (!tensor_is_defined(t) || t->flags & TENSOR_UNUSUAL & ~(uint32_t)TENSOR_NOT_CPU) return NULL;
  tensor_spec_of(t, &spec);
  spec.device = device;
  if (tensor_shows_twice(t)) spec.has_strides = false;
  check(tensor_new(&spec, &out));
  check(tensor_copy(out, t, 1));
  out->flags |= t->flags & TENSOR_REQUIRES_GRAD;
  return out;
}

/* Sends tensor number `which` of the call to the device, or all: which == SIZE_MAX. How many there are. */
static size_t send(MadeCall *made, size_t which) {
  static const Device device = {FAKE, 0};
  size_t count = 0;
  for (uint32_t i = 0; i < made->count; i++) {
    IValue *v = &made->inputs[i];
    bool is_list = v->tag == TAG_LIST && v->list->kind == LIST_VALUES;
    size_t items = v->tag == TAG_TENSOR ? 1 : is_list ? v->list->length : 0;
    for (size_t k = 0; k < items; k++) {
      IValue item = is_list ? v->list->values[k] : *v;
      if (item.tag != TAG_TENSOR || (count++ != which && which != SIZE_MAX)) continue;
      Tensor *there = sent(item.tensor, device);
      if (!there) continue;
      if (is_list) {
        list_set(v->list, k, ivalue_tensor(there));
      } else {
        ivalue_release(*v);
        *v = ivalue_tensor(there);
      }
    }
  }
  return count;
}

/* ---- results ---- */

static bool same_tensors(const Tensor *a, const Tensor *b) {
  if (tensor_is_defined(a) != tensor_is_defined(b)) return false;
  if (!tensor_is_defined(a) || (a->flags | b->flags) & (TENSOR_SPARSE | TENSOR_QUANTIZED | TENSOR_OPAQUE | TENSOR_META))
    return true;
  if (a->dtype != b->dtype || !tensor_same_sizes(a, b)) return false;
  Tensor *wide[2];
  const Tensor *from[2] = {a, b};
  for (int i = 0; i < 2; i++) {
    Tensor *here = sent(from[i], DEVICE_CPU_0);
    if (!here) return true;
    check(tensor_to_dtype(here, DTYPE_COMPLEX128, &wide[i]));
    tensor_release(here);
  }
  const double *p = tensor_data(wide[0]), *q = tensor_data(wide[1]);
  bool same = true;
  for (int64_t i = 0; i < 2 * a->numel; i++) same &= p[i] == q[i] || (p[i] != p[i] && q[i] != q[i]);
  tensor_release(wide[0]);
  tensor_release(wide[1]);
  return same;
}

static bool same_values(IValue a, IValue b) {
  if (a.tag != b.tag) return false;
  if (a.tag == TAG_TENSOR) return same_tensors(a.tensor, b.tensor);
  if (a.tag != TAG_LIST || a.list->kind != LIST_VALUES) return true;
  bool same = a.list->length == b.list->length;
  for (size_t i = 0; same && i < a.list->length; i++) same = same_values(a.list->values[i], b.list->values[i]);
  return same;
}

static void tell(const char *what, const char *more) {
  printf("%s: %s%s\n", what, progress->running, more);
  fflush(stdout);
}

/* All tensors on the device. */
static void run_there(const SampleCall *sample, const IValue *expected, uint32_t output_count, bool list) {
  IValue outputs[CALL_MAX_OUTPUTS];
  MadeCall made;
  if (!sample_make_call(sample, &made)) return;
  if (send(&made, SIZE_MAX)) {
    Status status = run(sample->op, &made, outputs, output_count);
    bool is_random = sample->op->flags & OP_NONDETERMINISTIC || str_starts_with(sample->op->name, "aten::empty") ||
                     str_starts_with(sample->op->name, "aten::new_empty");
    bool names = status && (strstr(status->message, "device 'fake") || strstr(status->message, "devices, fake"));
    if (status && operator_is_of_plans(sample->op)) /* what it was made from would name it, and is not here */
      names |= strstr(status->message, "where the kernel computes, and it has no body") != NULL;
    progress->called++;
    *(status ? &progress->named : &progress->ran) += 1;
    if (list) tell(status ? status->message : "ran", "");
    if (status && !names) {
      progress->wrong++;
      tell("does not name the device", status->message);
    }
    for (uint32_t i = 0; !status && !is_random && i < output_count; i++)
      if (!same_values(expected[i], outputs[i])) {
        progress->wrong++;
        tell("other results", "");
      }
    status_free(status);
    release_all(outputs, output_count);
  }
  made_call_release(&made);
}

/* One tensor on the device, or the results: what comes of it is open. */
static void run_mixed(const SampleCall *sample, uint32_t output_count) {
  IValue outputs[CALL_MAX_OUTPUTS];
  const FunctionSchema *schema = operator_schema(sample->op);
  size_t tensors = 1;
  for (size_t which = 0; which < tensors; which++) {
    MadeCall made;
    if (!sample_make_call(sample, &made)) return;
    tensors = send(&made, which);
    status_free(run(sample->op, &made, outputs, output_count));
    release_all(outputs, output_count);
    made_call_release(&made);
  }
  for (uint32_t i = 0; i < schema->argument_count && i < sample->count; i++) {
    const Type *type = schema->arguments[i].type;
    if (type->kind == TYPE_OPTIONAL) type = type->elements[0];
    MadeCall made;
    if (type->kind != TYPE_DEVICE || !sample_make_call(sample, &made)) continue;
    ivalue_release(made.inputs[i]);
    made.inputs[i] = ivalue_device((Device){FAKE, 1});
    status_free(run(sample->op, &made, outputs, output_count));
    release_all(outputs, output_count);
    made_call_release(&made);
  }
}

/* ---- rows ---- */

/* The first that the operator takes on the CPU, with its results. */
static bool find_sample(const Operator *op, SampleCall *out, IValue *outputs, uint32_t output_count) {
  int own = sample_own_attempts(op), most = own ? own : ATTEMPTS;
  for (int attempt = 0; attempt < most; attempt++) {
    MadeCall made;
    if (progress->deadly[attempt]) continue;
    progress->attempt = attempt;
    samples_reset(0);
    if (!sample_guess(op, attempt, out) || !sample_make_call(out, &made)) continue;
    StrBuf text = {0};
    sample_call_print(out, &text);
    snprintf(progress->running, TEXT, "%s", text.data);
    strbuf_dispose(&text);
    Status status = run(op, &made, outputs, output_count);
    made_call_release(&made);
    if (!status) return true;
    status_free(status);
    release_all(outputs, output_count);
  }
  return false;
}

static void run_row(const Operator *op, bool list) {
  static SampleCall sample;
  IValue expected[CALL_MAX_OUTPUTS];
  uint32_t output_count = operator_schema(op)->return_count;
  if (op->row->factory || !find_sample(op, &sample, expected, output_count)) return;
  progress->is_on_device = true;
  run_there(&sample, expected, output_count, list);
  run_mixed(&sample, output_count);
  release_all(expected, output_count);
}

static int run_child(void) {
  size_t index = 0, from = progress->row;
  const char *wanted = getenv("WICK_ROW");
  bool list = getenv("WICK_ROW_LIST") != NULL;
  fake_register();
  for (const Operator *op = operator_next(NULL); op; op = operator_next(op), index++) {
    if (index < from || (wanted && !str_is(op->name, wanted))) continue;
    if (index != from) memset(progress->deadly, 0, sizeof progress->deadly);
    progress->row = index;
    progress->is_on_device = false;
    run_row(op, list);
  }
  return fake_block_count() ? 4 : 0;
}

int main(void) {
  size_t faults = 0;
  int status;
  progress = mmap(NULL, sizeof *progress, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (progress == MAP_FAILED) return 1;
  samples_open("rows/samples.txt");
  for (;;) {
    fflush(stdout);
    pid_t child = fork();
    if (child < 0) return 1;
    if (child == 0) _exit(run_child());
    if (waitpid(child, &status, 0) != child) return 1;
    if ((WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 4)) || faults == MAX_FAULTS) break;
    if (!progress->is_on_device) {
      progress->deadly[progress->attempt] = true;
      continue;
    }
    tell("a fault", "");
    faults++;
    progress->row++;
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 4) printf("tensors are left on the device\n");
  printf("%zu rows called on a device: %zu give what the CPU gives, %zu name the device; %zu wrong, %zu faults\n",
         progress->called, progress->ran, progress->named, progress->wrong, faults);
  return faults || progress->wrong || status || !progress->called;
}

/* einsum: the equation is read into a label for each dimension; operands are laid out over all labels and multiplied
 * two at a time, labels that no later operand has being summed on the way: by bmm. */
#include <assert.h>

#include "call/row_extras.h"

enum { LABELS = 52, MAX_LABELS = TENSOR_MAX_DIMS };

/* Labels are numbers: 0 to 51 for letters, then the dimensions that "..." stands for, the last first. */
typedef struct Term {
  int count;
  int labels[TENSOR_MAX_DIMS];
  int ellipsis; /* where "..." stands in labels, or -1 */
} Term;

static int letter_label(char c) {
  return c >= 'A' && c <= 'Z' ? c - 'A' : c >= 'a' && c <= 'z' ? c - 'a' + 26 : -1;
}

static Status parse_term(Str text, const char *what, size_t operand, Term *out) {
  *out = (Term){.ellipsis = -1};
  for (size_t i = 0; i < text.length; i++) {
    char c = text.data[i];
    if (c == ' ') continue;
    if (c == '.') {
      if (out->ellipsis >= 0 || i + 2 >= text.length || text.data[i + 1] != '.' || text.data[i + 2] != '.')
        return status_new(ERROR_RUNTIME, "einsum(): found '.' for %s %zu that is not part of any ellipsis", what,
                          operand);
      out->ellipsis = out->count;
      i += 2;
      continue;
    }
    int label = letter_label(c);
    if (label < 0)
      return status_new(
          ERROR_RUNTIME,
          "einsum(): invalid subscript given at index %zu in the equation string, subscripts must be in [a-zA-Z]", i);
    if (out->count == TENSOR_MAX_DIMS)
      return status_new(ERROR_RUNTIME, "einsum(): %s %zu has too many subscripts", what, operand);
    out->labels[out->count++] = label;
  }
  return OK;
}

typedef struct Plan {
  int label_count; /* positions: output labels first, then summed ones in order */
  int out_count;
  int position[LABELS + TENSOR_MAX_DIMS]; /* of a label, -1: unused */
  int last_use[MAX_LABELS];               /* the last operand with that label */
  int ellipsis_dims;
} Plan;

static Status call_ints_op(Exec *exec, OpRef *ref, Tensor **x, const int64_t *ints, size_t count) {
  List *list;
  TRY(list_from_ints(ints, count, &list));
  IValue result = IVALUE_NONE, argument = ivalue_list(list);
  Status status = op_call(exec, ref, 2, (IValue[]){ivalue_tensor(*x), argument}, 1, &result);
  ivalue_release(argument);
  if (status != OK) return status;
  tensor_release(*x);
  *x = result.tensor;
  return OK;
}

/* Repeated labels become diagonals; dimensions are put at their labels' positions, the missing ones being 1. */
static Status lay_out(Exec *exec, const Term *term, size_t operand, const Plan *plan, Tensor **x) {
  static OpRef diagonal = OP_REF("aten::diagonal", ""), movedim = OP_REF("aten::movedim", "int"),
               permute = OP_REF("aten::permute", ""), reshape = OP_REF("aten::reshape", "");
  int64_t at[MAX_LABELS];
  for (int i = 0; i < MAX_LABELS; i++) at[i] = -1;
  int dim = 0;
  for (int k = 0; k <= term->count; k++) {
    if (k == term->ellipsis) {
      int covered = (*x)->ndim - dim - (term->count - k);
      for (int e = 0; e < covered; e++) at[plan->position[LABELS + covered - 1 - e]] = dim++;
    }
    if (k == term->count) break;
    int position = plan->position[term->labels[k]];
    if (at[position] < 0) {
      at[position] = dim++;
      continue;
    }
    int64_t first = at[position];
    if ((*x)->sizes[first] != (*x)->sizes[dim])
      return status_new(ERROR_RUNTIME,
                        "einsum(): subscript %c is repeated for operand %zu but the sizes don't match, %lld != %lld",
                        term->labels[k] < 26 ? 'A' + term->labels[k] : 'a' + term->labels[k] - 26, operand,
                        (long long)(*x)->sizes[dim], (long long)(*x)->sizes[first]);
    IValue result = IVALUE_NONE;
    TRY(op_call(exec, &diagonal, 4, (IValue[]){ivalue_tensor(*x), ivalue_int(0), ivalue_int(first), ivalue_int(dim)}, 1,
                &result));
    tensor_release(*x);
    *x = result.tensor;
    TRY(op_call(exec, &movedim, 3, (IValue[]){ivalue_tensor(*x), ivalue_int(-1), ivalue_int(first)}, 1, &result));
    tensor_release(*x);
    *x = result.tensor;
  }
  int64_t order[MAX_LABELS], sizes[MAX_LABELS];
  int count = 0;
  for (int p = 0; p < plan->label_count; p++) {
    sizes[p] = at[p] < 0 ? 1 : (*x)->sizes[at[p]];
    if (at[p] >= 0) order[count++] = at[p];
  }
  TRY(call_ints_op(exec, &permute, x, order, (size_t)count));
  return call_ints_op(exec, &reshape, x, sizes, (size_t)plan->label_count);
}

/* Sums over positions, which stay with size 1. */
static Status sum_positions(Exec *exec, const bool *chosen, int count, Tensor **x) {
  assert(count >= 0 && count <= MAX_LABELS);
  static OpRef sum = OP_REF("aten::sum", "dim_IntList");
  int64_t dims[MAX_LABELS];
  size_t n = 0;
  for (int p = 0; p < count; p++)
    if (chosen[p]) dims[n++] = p;
  if (n == 0) return OK;
  List *list;
  TRY(list_from_ints(dims, n, &list));
  IValue result = IVALUE_NONE, argument = ivalue_list(list);
  Status status = op_call(exec, &sum, 3, (IValue[]){ivalue_tensor(*x), argument, ivalue_bool(true)}, 1, &result);
  ivalue_release(argument);
  TRY(status);
  tensor_release(*x);
  *x = result.tensor;
  return OK;
}

/* a (taken over) times b, summed over the chosen positions: groups of positions become the dimensions of a bmm. */
static Status contract(Exec *exec, const bool *summed, int count, Tensor **a, const Tensor *b) {
  assert(count >= 0 && count <= MAX_LABELS);
  static OpRef permute = OP_REF("aten::permute", ""), reshape = OP_REF("aten::reshape", ""),
               bmm = OP_REF("aten::bmm", ""), mul = OP_REF("aten::mul", "Tensor");
  IValue result = IVALUE_NONE;
  Tensor *x = *a, *y = tensor_retain(b);
  bool alone_x[MAX_LABELS] = {false}, alone_y[MAX_LABELS] = {false};
  enum { BATCH, LEFT, RIGHT, SUM, GROUPS };
  int64_t members[GROUPS][MAX_LABELS];
  int sizes[GROUPS] = {0};
  int64_t size_a[MAX_LABELS];
  memcpy(size_a, x->sizes, (size_t)count * sizeof *size_a);
  Status status = OK;
  for (int p = 0; p < count; p++) { /* what only one of them has can be summed before */
    alone_x[p] = summed[p] && y->sizes[p] == 1;
    alone_y[p] = summed[p] && x->sizes[p] == 1 && !alone_x[p];
  }
  TRY_GOTO(sum_positions(exec, alone_x, count, &x), done);
  TRY_GOTO(sum_positions(exec, alone_y, count, &y), done);
  int64_t product[GROUPS] = {1, 1, 1, 1};
  bool any_sum = false;
  for (int p = 0; p < count; p++) {
    int64_t in_x = x->sizes[p], in_y = y->sizes[p];
    if (in_x != in_y && in_x != 1 && in_y != 1) {
      status = status_new(ERROR_RUNTIME,
                          "einsum(): operands do not broadcast with remapped shapes [original->remapped]: %s and %s",
                          SIZES_TEXT(x->ndim, x->sizes), SIZES_TEXT(y->ndim, y->sizes));
      goto done;
    }
    int group = summed[p] && !alone_x[p] && !alone_y[p] ? SUM : in_x == in_y ? BATCH : in_x != 1 ? LEFT : RIGHT;
    any_sum = any_sum || group == SUM;
    members[group][sizes[group]++] = p;
    product[group] *= in_x == 1 ? in_y : in_x;
  }
  if (!any_sum) {
    TRY_GOTO(op_call(exec, &mul, 2, (IValue[]){ivalue_tensor(x), ivalue_tensor(y)}, 1, &result), done);
    tensor_release(x);
    x = result.tensor;
    goto done;
  }
  /* (batch, left, sum) x (batch, sum, right) */
  static const int orders[2][GROUPS] = {{BATCH, LEFT, SUM, RIGHT}, {BATCH, SUM, RIGHT, LEFT}};
  Tensor **operands[2] = {&x, &y};
  for (int side = 0; side < 2; side++) {
    int64_t order[MAX_LABELS];
    int n = 0;
    for (int g = 0; g < GROUPS; g++)
      for (int k = 0; k < sizes[orders[side][g]]; k++) order[n++] = members[orders[side][g]][k];
    TRY_GOTO(call_ints_op(exec, &permute, operands[side], order, (size_t)n), done);
    const int *g = orders[side];
    TRY_GOTO(
        call_ints_op(exec, &reshape, operands[side], (const int64_t[]){product[g[0]], product[g[1]], product[g[2]]}, 3),
        done);
  }
  TRY_GOTO(op_call(exec, &bmm, 2, (IValue[]){ivalue_tensor(x), ivalue_tensor(y)}, 1, &result), done);
  int64_t shape[MAX_LABELS], back[MAX_LABELS];
  int n = 0;
  for (int g = 0; g <= SUM; g++)
    for (int k = 0; k < sizes[g]; k++) {
      int64_t p = members[g][k];
      shape[n] = g == SUM || alone_x[p] || alone_y[p] ? 1 : size_a[p] == 1 ? b->sizes[p] : size_a[p];
      back[p] = n++;
    }
  tensor_release(x);
  x = result.tensor;
  TRY_GOTO(call_ints_op(exec, &reshape, &x, shape, (size_t)n), done);
  TRY_GOTO(call_ints_op(exec, &permute, &x, back, (size_t)n), done);
done:
  tensor_release(y);
  *a = x;
  return status;
}

static const char *label_text(const Plan *plan, int position, char buffer[8]) {
  assert(position >= 0 && position < plan->label_count);
  strcpy(buffer, "...");
  for (int l = 0; l < LABELS; l++)
    if (plan->position[l] == position) buffer[0] = (char)(l < 26 ? 'A' + l : 'a' + l - 26), buffer[1] = 0;
  return buffer;
}
static Status check_sizes(Tensor *const *operands, size_t count, const Plan *plan) {
  int64_t known[MAX_LABELS];
  for (int p = 0; p < MAX_LABELS; p++) known[p] = 1;
  for (size_t i = 0; i < count; i++)
    for (int p = 0; p < plan->label_count; p++) {
      int64_t size = operands[i]->sizes[p];
      if (size != 1 && known[p] != 1 && known[p] != size)
        return status_new(ERROR_RUNTIME,
                          "einsum(): subscript %s has size %lld for operand %zu which does not broadcast with "
                          "previously seen size %lld",
                          label_text(plan, p, (char[8]){0}), (long long)size, i, (long long)known[p]);
      if (size != 1) known[p] = size;
    }
  return OK;
}

static Status make_plan(const Term *terms, Tensor *const *operands, size_t count, const Term *output, Plan *plan) {
  int uses[LABELS] = {0};
  *plan = (Plan){0};
  for (size_t i = 0; i < count; i++) {
    for (int k = 0; k < terms[i].count; k++) uses[terms[i].labels[k]]++;
    int covered = operands[i]->ndim - terms[i].count;
    if (terms[i].ellipsis < 0 ? covered != 0 : covered < 0)
      return status_new(
          ERROR_RUNTIME,
          "einsum(): the number of subscripts in the equation (%d) %s the number of dimensions (%d) for operand %zu%s",
          terms[i].count, terms[i].ellipsis < 0 ? "does not match" : "is more than", operands[i]->ndim, i,
          terms[i].ellipsis < 0 ? " and no ellipsis was given" : "");
    if (covered > plan->ellipsis_dims) plan->ellipsis_dims = covered;
  }
  for (int l = 0; l < LABELS + TENSOR_MAX_DIMS; l++) plan->position[l] = -1;
  int total = plan->ellipsis_dims;
  for (int l = 0; l < LABELS; l++) total += uses[l] > 0;
  if (total > MAX_LABELS) return status_new(ERROR_RUNTIME, "einsum(): more than %d subscripts", MAX_LABELS);
  int next = 0;
  if (output) {
    for (int k = 0; k <= output->count; k++) {
      if (k == output->ellipsis)
        for (int e = plan->ellipsis_dims - 1; e >= 0; e--) plan->position[LABELS + e] = next++;
      if (k == output->count) break;
      int l = output->labels[k];
      char letter = (char)(l < 26 ? 'A' + l : 'a' + l - 26);
      if (plan->position[l] >= 0)
        return status_new(ERROR_RUNTIME, "einsum(): output subscript %c appears more than once in the output", letter);
      if (!uses[l])
        return status_new(ERROR_RUNTIME,
                          "einsum(): output subscript %c does not appear in the equation for any input operand",
                          letter);
      plan->position[l] = next++;
    }
  } else { /* "..." and then every letter that stands once, in order */
    for (int e = plan->ellipsis_dims - 1; e >= 0; e--) plan->position[LABELS + e] = next++;
    for (int l = 0; l < LABELS; l++)
      if (uses[l] == 1) plan->position[l] = next++;
  }
  plan->out_count = next;
  for (int e = plan->ellipsis_dims - 1; e >= 0; e--)
    if (plan->position[LABELS + e] < 0) plan->position[LABELS + e] = next++;
  for (int l = 0; l < LABELS; l++)
    if (uses[l] && plan->position[l] < 0) plan->position[l] = next++;
  plan->label_count = next;
  return OK;
}

static Status multiply(Exec *exec, Tensor **operands, size_t count, Plan *plan) {
  static OpRef reshape = OP_REF("aten::reshape", "");
  for (int p = 0; p < plan->label_count; p++)
    for (size_t i = 0; i < count; i++)
      if (operands[i]->sizes[p] != 1) plan->last_use[p] = (int)i;
  bool summed[MAX_LABELS];
  for (int p = 0; p < plan->label_count; p++) summed[p] = p >= plan->out_count && plan->last_use[p] == 0;
  TRY(sum_positions(exec, summed, plan->label_count, &operands[0]));
  for (size_t i = 1; i < count; i++) {
    for (int p = 0; p < plan->label_count; p++) summed[p] = p >= plan->out_count && plan->last_use[p] == (int)i;
    TRY(contract(exec, summed, plan->label_count, &operands[0], operands[i]));
  }
  int64_t sizes[MAX_LABELS];
  for (int p = 0; p < plan->out_count; p++) sizes[p] = operands[0]->sizes[p];
  return call_ints_op(exec, &reshape, &operands[0], sizes, (size_t)plan->out_count);
}

/* einsum(equation, tensors, path): the path is advice that is not needed. */
static Status kernel_einsum(Call *call) {
  Str equation = call_str(call, 0);
  List *tensors = call_list(call, 1);
  size_t count = tensors->length;
  if (count == 0) return status_new(ERROR_RUNTIME, "einsum(): must provide at least one operand");
  ptrdiff_t arrow = -1;
  for (size_t i = 0; i + 1 < equation.length && arrow < 0; i++)
    if (equation.data[i] == '-' && equation.data[i + 1] == '>') arrow = (ptrdiff_t)i;
  Str left = arrow < 0 ? equation : str_slice(equation, 0, (size_t)arrow), right = {0};
  Term output;
  if (arrow >= 0) {
    right = str_slice(equation, (size_t)arrow + 2, equation.length);
    TRY(parse_term(right, "the output", 0, &output));
  }
  Term *terms = mem_calloc(count, sizeof *terms);
  Tensor **operands = mem_calloc(count, sizeof *operands);
  Status status = OK;
  if (!terms || !operands) {
    status = status_out_of_memory();
    goto done;
  }
  size_t begin = 0, given = 0;
  for (size_t i = 0; i <= left.length; i++) {
    if (i < left.length && left.data[i] != ',') continue;
    if (given == count) {
      status = status_new(ERROR_RUNTIME, "einsum(): fewer operands were provided than specified in the equation");
      goto done;
    }
    TRY_GOTO(parse_term(str_slice(left, begin, i), "operand", given, &terms[given]), done);
    given++;
    begin = i + 1;
  }
  if (given < count) {
    status = status_new(ERROR_RUNTIME, "einsum(): more operands were provided than specified in the equation");
    goto done;
  }
  for (size_t i = 0; i < count; i++) operands[i] = tensor_retain(list_tensor(tensors, i));
  Plan plan;
  TRY_GOTO(make_plan(terms, operands, count, arrow >= 0 ? &output : NULL, &plan), done);
  for (size_t i = 0; i < count; i++) TRY_GOTO(lay_out(call->exec, &terms[i], i, &plan, &operands[i]), done);
  TRY_GOTO(check_sizes(operands, count, &plan), done);
  TRY_GOTO(multiply(call->exec, operands, count, &plan), done);
  call_set_tensor(call, 0, tensor_retain(operands[0]));
done:
  for (size_t i = 0; operands && i < count; i++) tensor_release(operands[i]);
  mem_free(operands);
  mem_free(terms);
  return status;
}

static Status append_labels(IValue labels, StrBuf *equation) {
  if (labels.tag != TAG_LIST || (labels.list->length && labels.list->element->kind != TYPE_INT))
    return status_new(ERROR_RUNTIME, "einsum(): expected a list of subscripts");
  for (size_t i = 0; i < labels.list->length; i++) {
    int64_t label = list_get(labels.list, i).i;
    if (label < 0 || label >= 52)
      return status_new(ERROR_RUNTIME, "einsum(): subscripts must be in [0, 52), but got %lld", (long long)label);
    strbuf_char(equation, (char)(label < 26 ? 'A' + label : 'a' + label - 26)); /* sorted as the numbers are */
  }
  return OK;
}
/* einsum(a, [0, 1], b, [1, 2], [0, 2]): subscripts as lists after the operands, those of the output last or left out.
 */
static Status kernel_einsum_sublist(Call *call) {
  static OpRef einsum = OP_REF("aten::einsum", "");
  size_t count = call->input_count;
  StrBuf equation = {0};
  List *operands = NULL;
  IValue result = IVALUE_NONE;
  Status status;
  TRY(list_new(TYPE(TENSOR), count / 2, &operands));
  for (size_t i = 0; i + 1 < count; i += 2) {
    if (call->inputs[i].tag != TAG_TENSOR) {
      status = status_new(ERROR_RUNTIME, "einsum(): expected a Tensor before each list of subscripts");
      goto done;
    }
    if (i) strbuf_char(&equation, ',');
    TRY_GOTO(append_labels(call->inputs[i + 1], &equation), done);
    TRY_GOTO(list_append(operands, ivalue_retain(call->inputs[i])), done);
  }
  if (count % 2) {
    strbuf_puts(&equation, "->");
    TRY_GOTO(append_labels(call->inputs[count - 1], &equation), done);
  }
  String *text;
  if (equation.failed) {
    status = status_out_of_memory();
    goto done;
  }
  TRY_GOTO(string_new(strbuf_view(&equation), &text), done);
  status =
      op_call(call->exec, &einsum, 3, (IValue[]){ivalue_string(text), ivalue_list(operands), IVALUE_NONE}, 1, &result);
  ivalue_release(ivalue_string(text));
  if (!status) call_set(call, 0, result);
done:
  ivalue_release(ivalue_list(operands));
  strbuf_dispose(&equation);
  return status;
}

static const OpRow rows[] = {
    {.schema = "aten::einsum(str equation, Tensor[] tensors, *, int[]? path=None) -> Tensor",
     .kernel = kernel_einsum,
     .flags = OP_COMPOSITE | OP_RETURNS_ARGUMENT},
    {.schema = "aten::einsum.sublist(Tensor a, ...) -> Tensor",
     OPEN("Any..."),
     .kernel = kernel_einsum_sublist,
     .flags = OP_COMPOSITE | OP_RETURNS_ARGUMENT},
};
OP_TABLE(op_table_linalg_einsum, rows);

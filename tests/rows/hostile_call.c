/* See hostile_call.h: each kind of value as a program, a pickle, IR text and C have it. */
#include "hostile_call.h"

#include <stdio.h>
#include <stdlib.h>
#include <assert.h>
#define assert_non_null assert

#include "../zip_writer.h"
#include "api/api.h"
#include "api/handles.h"
#include "base/clock.h"
#include "call/open_inputs.h"
#include "call/row.h"
#include "schema/open_types.h"
#include "wick/wick.h"

enum { MEMORY = 64 << 20 };
const char *const door_names[DOOR_COUNT] = {"program", "bytecode", "caller", "kernel", "graph"};

/* ---- the kinds ---- */

static Status make_number(IValue *out) {
  *out = ivalue_int(hostile_number);
  return OK;
}
static Status make_one(IValue *out) {
  *out = ivalue_int(1);
  return OK;
}
static Status make_float(IValue *out) {
  *out = ivalue_float(2.5);
  return OK;
}
static Status make_bool(IValue *out) {
  *out = ivalue_bool(true);
  return OK;
}
static Status make_text(IValue *out) {
  return ivalue_from_str(STR("abc"), out);
}
static Status make_none(IValue *out) {
  *out = IVALUE_NONE;
  return OK;
}
static Status make_tensor(IValue *out) {
  TensorSpec spec = {.dtype = DTYPE_FLOAT32, .ndim = 2, .sizes = {2, 2}};
  Tensor *tensor;
  TRY(tensor_new(&spec, &tensor));
  memset(tensor_data(tensor), 0, 4 * sizeof(float));
  *out = ivalue_tensor(tensor);
  return OK;
}
static Status make_undefined(IValue *out) {
  *out = ivalue_tensor(tensor_undefined());
  return OK;
}
static Status make_meta(IValue *out) {
  TensorSpec spec = {.dtype = DTYPE_FLOAT32, .ndim = 2, .sizes = {2, 2}, .flags = TENSOR_META};
  Tensor *tensor;
  TRY(tensor_new(&spec, &tensor));
  *out = ivalue_tensor(tensor);
  return OK;
}
static Status make_list(const Type *element, IValue item, IValue *out) {
  List *list;
  TRY(list_new(element, 2, &list));
  for (int i = 0; i < 2; i++) TRY(list_append(list, ivalue_retain(item)));
  *out = ivalue_list(list);
  return OK;
}
static Status make_ints(IValue *out) {
  return make_list(TYPE(INT), ivalue_int(hostile_number), out);
}
static Status make_floats(IValue *out) {
  return make_list(TYPE(FLOAT), ivalue_float(0.5), out);
}
static Status make_texts(IValue *out) {
  IValue text;
  TRY(make_text(&text));
  Status status = make_list(TYPE(STRING), text, out);
  ivalue_release(text);
  return status;
}
static Status make_tensors(IValue *out) {
  IValue tensor;
  TRY(make_tensor(&tensor));
  Status status = make_list(TYPE(TENSOR), tensor, out);
  ivalue_release(tensor);
  return status;
}
static Status make_pair(IValue *out) {
  Tuple *tuple;
  TRY(tuple_new(2, NULL, &tuple));
  tuple->values[0] = ivalue_int(hostile_number);
  *out = ivalue_tuple(tuple);
  return make_tensor(&tuple->values[1]);
}
static Status make_dict(IValue *out) {
  IValue key;
  Dict *dict;
  TRY(make_text(&key));
  TRY(dict_new(TYPE(STRING), TYPE(INT), &dict));
  *out = ivalue_dict(dict);
  return dict_set(dict, key, ivalue_int(1));
}
static Status make_device(IValue *out) {
  *out = ivalue_device(DEVICE_CPU_0);
  return OK;
}

/* A pickle's text loads a constant; "" where bytecode makes it of q otherwise: `code`. */
static const struct {
  const char *text, *type, *constant, *code;
  size_t constant_length;
  Status (*make)(IValue *out);
} kinds[KIND_COUNT] = {
#define PICKLED(bytes) bytes, "", sizeof(bytes) - 1
    [HOSTILE_NUMBER] = {"1311768467294899695", "int", PICKLED("\x8a\x08\xef\xcd\xab\x90\x78\x56\x34\x12"), make_number},
    {"1", "int", PICKLED("K\x01"), make_one},
    {"2.5", "float", PICKLED("G@\x04\0\0\0\0\0\0"), make_float},
    {"True", "bool", PICKLED("\x88"), make_bool},
    {"'abc'", "str", PICKLED("X\3\0\0\0abc"), make_text},
    {"None", "NoneType", PICKLED("N"), make_none},
    {"q", "Tensor", "", "q", 0, make_tensor},
    {"torch.ops.prim.AutogradZero()", "Tensor", "", "u", 0, make_undefined},
    {"torch.zeros([2, 2], device='meta')", "Tensor", "", "m", 0, make_meta},
    {"[1311768467294899695, 1311768467294899695]", "int[]", "", "0", 0, make_ints},
    {"[0.5, 0.5]", "float[]", "", "1", 0, make_floats},
    {"['abc', 'abc']", "str[]", "", "2", 0, make_texts},
    {"[q, q]", "Tensor[]", "", "3", 0, make_tensors},
    {"(1311768467294899695, q)", "(int, Tensor)", "", "t", 0, make_pair},
    {"{'abc': 1}", "Dict(str, int)", "", "d", 0, make_dict},
    {"torch.device('cpu')", "Device", "", "c", 0, make_device},
};

static bool is_of(uint8_t kind, const Type *type) {
  IValue value = IVALUE_NONE;
  const Argument argument = {.type = type};
  Status status = kinds[kind].make(&value);
  bool fits = !status && (type->kind == TYPE_ANY || argument_takes_value(&argument, value));
  status_free(status);
  ivalue_release(value);
  return fits;
}

uint8_t hostile_kind_of(const Type *type, uint8_t from) {
  for (uint8_t i = 0; i < KIND_COUNT; i++)
    if (is_of((uint8_t)((from + i) % KIND_COUNT), type)) return (uint8_t)((from + i) % KIND_COUNT);
  return from;
}

/* ---- text ---- */

static const char *const attribute_texts[] = {"",         "[chunks=2, dim=0]", "[chunks=0, dim=-9]", "[dim=1]",
                                              "[side=1]", "[name=\"x\"]",      "[types=[int, str]]", "[beg=0, end=1]"};
enum { ATTRIBUTES = sizeof attribute_texts / sizeof *attribute_texts };

static void print_graph(const HostileCall *call, StrBuf *out) {
  uint32_t outputs = call->output_count;
  const char *separator = "";
  strbuf_puts(out, "graph(");
  for (uint32_t i = 0; i < call->count; i++, separator = ", ")
    strbuf_printf(out, "%s%%a%u : %s", separator, i, kinds[call->kinds[i]].type);
  strbuf_puts(out, "):\n  ");
  for (uint32_t i = 0; i < outputs; i++)
    strbuf_printf(out, "%s%%r%u : %s", i ? ", " : "", i, kinds[call->output_kind].type);
  strbuf_printf(out, "%s" STR_FMT "%s(", outputs ? " = " : " = ", STR_ARG(call->name),
                attribute_texts[call->attributes % ATTRIBUTES]);
  for (uint32_t i = 0; i < call->count; i++) strbuf_printf(out, "%s%%a%u", i ? ", " : "", i);
  strbuf_puts(out, ")\n  return (");
  for (uint32_t i = 0; i < outputs; i++) strbuf_printf(out, "%s%%r%u", i ? ", " : "", i);
  strbuf_puts(out, ")\n");
}

static void print_program(const HostileCall *call, StrBuf *out) {
  ptrdiff_t colon = str_find_char(call->name, ':');
  strbuf_printf(out, "def f(q: Tensor):\n    return torch.ops." STR_FMT "." STR_FMT "(",
                STR_ARG(str_slice(call->name, 0, (size_t)colon)),
                STR_ARG(str_slice(call->name, (size_t)colon + 2, call->name.length)));
  for (uint32_t i = 0; i < call->count; i++) strbuf_printf(out, "%s%s", i ? ", " : "", kinds[call->kinds[i]].text);
  strbuf_puts(out, ")\n");
}

void hostile_print(const HostileCall *call, StrBuf *out) {
  strbuf_printf(out, "%s: ", door_names[call->door]);
  if (call->door == DOOR_GRAPH)
    print_graph(call, out);
  else
    print_program(call, out);
}

/* ---- running ---- */

static void answer(wick_error *error, wick_status status, Answer *out) {
  out->succeeded = !status;
  out->is_internal = status == WICK_INTERNAL;
  snprintf(out->message, sizeof out->message, "%s", error ? wick_error_message(error) : "");
  wick_error_free(error);
}

/* false: no memory, and nothing is made. */
static bool make_values(const HostileCall *call, wick_value *values[MAX_GIVEN]) {
  bool made = true;
  for (uint32_t i = 0; i < MAX_GIVEN; i++) values[i] = NULL;
  for (uint32_t i = 0; i < call->count && made; i++) {
    IValue value = IVALUE_NONE;
    Status status = kinds[call->kinds[i]].make(&value);
    made = !status && !value_box(value, &values[i]);
    status_free(status);
  }
  return made;
}
static void release_values(wick_value *values[MAX_GIVEN]) {
  for (uint32_t i = 0; i < MAX_GIVEN; i++) wick_value_release(values[i]);
}

static void run_module(wick_module *module, const char *method, const wick_run_options *options, Answer *out) {
  wick_error *error = NULL;
  IValue value;
  wick_value *q = NULL, *result = NULL;
  Status status = make_tensor(&value);
  if (!status) status = value_box(value, &q);
  status_free(status);
  const wick_value *arguments[] = {q};
  wick_status ran = wick_run(module, method, arguments, 1, NULL, 0, options, &result, &error);
  answer(error, ran, out);
  wick_value_release(result);
  wick_value_release(q);
}

static void run_program(const HostileCall *call, const wick_run_options *options, Answer *out) {
  StrBuf text = {0};
  wick_module *module = NULL;
  wick_error *error = NULL;
  print_program(call, &text);
  wick_status status = wick_compile(NULL, text.data, text.length, NULL, &module, &error);
  if (status)
    answer(error, status, out);
  else
    run_module(module, "f", options, out);
  wick_module_release(module);
  strbuf_dispose(&text);
}

static void run_caller(const HostileCall *call, const wick_run_options *options, Answer *out) {
  wick_value *values[MAX_GIVEN], *result = NULL;
  wick_error *error = NULL;
  char name[200];
  snprintf(name, sizeof name, STR_FMT, STR_ARG(call->name));
  if (make_values(call, values)) {
    wick_status status = wick_op_call_with(NULL, name, NULL, (const wick_value *const *)values, call->count, NULL, 0,
                                           options, &result, &error);
    answer(error, status, out);
  }
  wick_value_release(result);
  release_values(values);
}

static void run_graph(const HostileCall *call, Answer *out) {
  StrBuf text = {0};
  wick_graph *graph = NULL;
  wick_error *error = NULL;
  wick_value *values[MAX_GIVEN], *results[MAX_GIVEN] = {NULL};
  print_graph(call, &text);
  bool made = make_values(call, values);
  wick_status status = wick_graph_parse(text.data, text.length, &graph, &error);
  if (!status && made)
    status = wick_graph_run(graph, NULL, (const wick_value *const *)values, call->count, results, call->output_count,
                            &error);
  answer(error, status, out);
  release_values(results);
  release_values(values);
  wick_graph_release(graph);
  strbuf_dispose(&text);
}

static void run_kernel(const HostileCall *call, uint64_t deadline_ns, Answer *out) {
  Exec exec;
  WorkBudget budget = {.steps_left = 1000000, .limits_memory = true, .memory = {.left = MEMORY}};
  wick_value *values[MAX_GIVEN];
  IValue inputs[MAX_GIVEN], outputs[CALL_MAX_OUTPUTS] = {IVALUE_NONE};
  const FunctionSchema *schema = operator_schema(call->op);
  uint32_t count = schema->is_varret ? call->output_count : schema->return_count;
  if (!make_values(call, values)) return;
  for (uint32_t i = 0; i < call->count; i++) inputs[i] = values[i]->value;
  api_exec_init(&exec, NULL);
  exec.is_silent = true;
  exec.work.budget = &budget;
  work_set_deadline(&exec.work, clock_now_ns() + deadline_ns);
  Call c = {.inputs = inputs, .input_count = call->count, .outputs = outputs, .output_count = count};
  ExecBefore before = exec_enter(&exec);
  Status status = operator_call(&exec, call->op, &c);
  exec_leave(before);
  out->succeeded = !status;
  out->is_internal = status && status->code == ERROR_INTERNAL;
  snprintf(out->message, sizeof out->message, "%s", status ? status->message : "");
  status_free(status);
  for (uint32_t i = 0; i < count; i++) ivalue_release(outputs[i]);
  release_values(values);
}

/* ---- bytecode ---- */

static void put_text(Bytes *to, Str text) {
  put(to, "X", 1);
  for (int i = 0; i < 4; i++) put(to, &(char){(char)(text.length >> 8 * i)}, 1);
  put(to, text.data, text.length);
}
static void put_int(Bytes *to, uint8_t value) {
  put(to, "K", 1);
  put(to, &value, 1);
}
static void put_instruction(Bytes *to, const char *opcode, uint8_t x, uint8_t n) {
  put(to, "(", 1);
  put_text(to, str_from(opcode));
  put_int(to, x);
  put_int(to, n);
  put(to, "t", 1);
}

enum { CALLED, ZERO, ZEROS, DEVICE /* operators */ };
enum { A_NUMBER, A_FLOAT, A_TEXT, ONE, CPU, NONE, META, FALSE, FIRST_OWN /* constants */ };

static void put_pair_of(Bytes *to, const char *opcode, const char *load, uint8_t from, uint8_t type) {
  for (int i = 0; i < 2; i++) put_instruction(to, load, from, 0);
  put_instruction(to, opcode, type, 2);
}

/* Pushes an argument; q is in register 2. */
static void put_argument(Bytes *to, uint8_t kind, uint8_t own) {
  switch (kinds[kind].code[0]) {
    case 'q':
      put_instruction(to, "LOAD", 2, 0);
      break;
    case 'u':
      put_instruction(to, "OP", ZERO, 0);
      break;
    case 'm':
      put_pair_of(to, "LIST_CONSTRUCT", "LOADC", ONE, 0);
      for (uint8_t i = 0; i < 2; i++) put_instruction(to, "LOADC", NONE, 0);
      put_instruction(to, "LOADC", META, 0);
      put_instruction(to, "OP", DEVICE, 0);
      put_instruction(to, "LOADC", NONE, 0);
      put_instruction(to, "OP", ZEROS, 0);
      break;
    case '0':
    case '1':
    case '2':
      put_pair_of(to, "LIST_CONSTRUCT", "LOADC", (uint8_t)(kinds[kind].code[0] - '0'),
                  (uint8_t)(kinds[kind].code[0] - '0'));
      break;
    case '3':
      put_pair_of(to, "LIST_CONSTRUCT", "LOAD", 2, 3);
      break;
    case 't':
      put_instruction(to, "LOADC", A_NUMBER, 0);
      put_instruction(to, "LOAD", 2, 0);
      put_instruction(to, "TUPLE_CONSTRUCT", 2, 0);
      break;
    case 'd':
      put_instruction(to, "LOADC", A_TEXT, 0);
      put_instruction(to, "LOADC", ONE, 0);
      put_instruction(to, "DICT_CONSTRUCT", 4, 2);
      break;
    case 'c':
      put_instruction(to, "LOADC", CPU, 0);
      put_instruction(to, "OP", DEVICE, 0);
      break;
    default:
      put_instruction(to, "LOADC", (uint8_t)(FIRST_OWN + own), 0);
  }
}

static void put_table(Bytes *to, const char *name) {
  put(to, "(", 1);
  put_text(to, str_from(name));
  put(to, "(", 1);
}
static void end_table(Bytes *to) {
  put(to, "tt", 2);
}

static void put_operator(Bytes *to, Str name, Str overload, uint8_t given) {
  put(to, "(", 1);
  put_text(to, name);
  put_text(to, overload);
  put_int(to, given);
  put(to, "t", 1);
}

static void put_code(Bytes *to, const HostileCall *call) {
  static const char *const types[] = {"List[int]", "List[float]", "List[str]", "List[Tensor]", "Dict[str, int]"};
  put_table(to, "instructions");
  put_instruction(to, "STOREN", 1, 2);
  for (uint8_t i = 0; i < call->count; i++) put_argument(to, call->kinds[i], i);
  put_instruction(to, "OPN", CALLED, call->count);
  put_instruction(to, "RET", 0, 0);
  end_table(to);
  put_table(to, "operators");
  put_operator(to, call->name, call->op ? call->op->overload_name : STR(""), call->count);
  put_operator(to, STR("prim::AutogradZero"), STR(""), 0);
  put_operator(to, STR("aten::zeros"), STR(""), 5);
  put_operator(to, STR("aten::device"), STR(""), 1);
  end_table(to);
  put_table(to, "constants");
  for (int i = 0; i < 3; i++) put(to, kinds[2 * i].constant, kinds[2 * i].constant_length); /* number, float, text */
  put(to, "K\x01", 2);
  put_text(to, STR("cpu"));
  put(to, "N", 1);
  put_text(to, STR("meta"));
  put(to, "\x89", 1);
  for (uint8_t i = 0; i < call->count; i++)
    if (kinds[call->kinds[i]].constant_length)
      put(to, kinds[call->kinds[i]].constant, kinds[call->kinds[i]].constant_length);
    else
      put(to, "N", 1);
  end_table(to);
  put_table(to, "types");
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) put_text(to, str_from(types[i]));
  end_table(to);
  put(to, "(", 1);
  put_text(to, STR("register_size"));
  put_int(to, 2);
  put(to, "t", 1);
}

static void run_bytecode(const HostileCall *call, const wick_run_options *options, Answer *out) {
  static const char object[] =
      "\x80\x02"
      "c__torch__\nM\n)\x81}b.",
                    none[] = "\x80\x02).";
  Packed zip = {0};
  Bytes code = {0}, pickle = {0};
  wick_module *module = NULL;
  wick_error *error = NULL;
  put_code(&code, call);
  put(&pickle, "\x80\x02(K\x08(", 6);
  put_text(&pickle, STR("__torch__.M.forward"));
  put(&pickle, "(", 1);
  put(&pickle, code.data, code.length);
  put(&pickle, "ttt.", 4);
  pack_record(&zip, "m/bytecode.pkl", 14, &pickle);
  const struct {
    const char *name, *data;
    size_t length;
  } records[] = {
      {"m/data.pkl", object, sizeof object - 1}, {"m/constants.pkl", none, sizeof none - 1}, {"m/version", "3\n", 2}};
  for (int i = 0; i < 3; i++) {
    Bytes bytes = {0};
    put(&bytes, records[i].data, records[i].length);
    pack_record(&zip, records[i].name, strlen(records[i].name), &bytes);
    free(bytes.data);
  }
  pack_finish(&zip);
  wick_load_options load = {.size = sizeof load, .max_bytes = 16 << 20};
  wick_status status = wick_load_memory(NULL, zip.file.data, zip.file.length, &load, &module, &error);
  if (status)
    answer(error, status, out);
  else
    run_module(module, "forward", options, out);
  wick_module_release(module);
  free(zip.file.data);
  free(pickle.data);
  free(code.data);
}

/* ---- */

/* The kernel is given what the schema says where it says something: those who match a call see to that. */
static bool fits_schema(const HostileCall *call) {
  const FunctionSchema *schema = operator_schema(call->op);
  bool fits = call->count >= schema->argument_count;
  for (uint32_t i = 0; i < call->count && i < schema->argument_count && fits; i++)
    fits = schema_input_is_open(schema, i) || is_of(call->kinds[i], schema->arguments[i].type);
  return fits;
}

bool hostile_is_possible(const HostileCall *call) {
  return call->door != DOOR_KERNEL || (call->op && !call->op->row->factory && fits_schema(call));
}

void hostile_run(const HostileCall *call, uint64_t deadline_ns, Answer *out) {
  wick_run_options options = {
      .size = sizeof options, .deadline_ns = deadline_ns, .max_steps = 1000000, .max_bytes = MEMORY};
  memset(out, 0, sizeof *out);
  switch (call->door) {
    case DOOR_PROGRAM:
      run_program(call, &options, out);
      break;
    case DOOR_BYTECODE:
      run_bytecode(call, &options, out);
      break;
    case DOOR_CALLER:
      run_caller(call, &options, out);
      break;
    case DOOR_KERNEL:
      run_kernel(call, deadline_ns, out);
      break;
    default:
      run_graph(call, out);
  }
}

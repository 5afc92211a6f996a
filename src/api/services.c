/* What lower folders call of higher ones. */
#include "api/handles.h"
#include "autodiff/autodiff.h"
#include "frontend/frontend.h"
#include "pass/pass.h"
#include "serial/python/python_print.h"

static Status call_function(Exec *exec, Function *function, const IValue *arguments, uint32_t count, IValue *out) {
  return interp_call(exec, function, arguments, count, out);
}

typedef struct SourceOf {
  const Graph *graph;
  Arena arena;
  FunctionSchema schema;
} SourceOf;

/* A schema that says what the graph takes and gives. */
static void make_schema(void *argument) {
  SourceOf *s = argument;
  uint32_t count = graph_input_count(s->graph), returns = graph_output_count(s->graph);
  Argument *arguments = ARENA_ARRAY(&s->arena, Argument, count + returns + 1);
  for (uint32_t i = 0; i < count; i++) {
    const Value *input = graph_input(s->graph, i);
    ptrdiff_t dot = str_find_char(input->name, '.');
    Str name = str_slice(input->name, 0, dot < 0 ? input->name.length : (size_t)dot); /* %x.1 is x */
    arguments[i] = (Argument){.name = name.length ? name : STR("argument"), .type = input->type};
  }
  for (uint32_t i = 0; i < returns; i++) arguments[count + i].type = graph_output(s->graph, i)->type;
  s->schema = (FunctionSchema){
      .argument_count = count, .return_count = returns, .arguments = arguments, .returns = arguments + count};
}

static Status print_source(const Graph *graph, StrBuf *out) {
  SourceOf s = {.graph = graph};
  PythonPrinter printer;
  arena_init(&s.arena, NULL);
  python_printer_init(&printer);
  Status status = arena_protect(&s.arena, make_schema, &s);
  Function function = {.name = STR("source_dump"), .schema = &s.schema, .graph = (Graph *)(uintptr_t)graph};
  if (!status) status = python_print_function(&printer, &function, 0, (Str){0}, out);
  python_printer_dispose(&printer);
  arena_dispose(&s.arena);
  return status;
}

const Services api_services = {
    .compile_body = frontend_compile_body,
    .call_function = call_function,
    .autograd_record = autodiff_record,
    .autograd_view = autodiff_view,
    .autograd_backward = autodiff_backward,
    .autograd_backward_list = autodiff_backward_list,
    .autograd_grad = autodiff_grad,
    .autograd_retain_grad = autodiff_retain_grad,
    .autograd_retains_grad = autodiff_retains_grad,
    .autograd_tensor_grad = autodiff_tensor_grad,
    .graph_to_run = function_graph_to_run,
    .print_source = print_source,
};

#include "serial/python/graph_source.h"

#include "serial/python/python_print.h"

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

Status graph_source_print(const Graph *graph, StrBuf *out) {
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

/* From file to Module: the program is read, its tensors become attributes, its graph the method forward. */
#include "serial/pt2/pt2.h"

#include "base/work.h"
#include "frontend/frontend.h"
#include "pass/pass.h"
#include "serial/archive/import.h"
#include "serial/pt2/forward.h"

typedef struct Loading {
  Pt2Container container;
  Pt2Weights weights;
  Pt2Attributes attributes;
  CompilationUnit *unit;
  Exec *exec;
  Arena arena;
  Graph *graph;
} Loading;

static void build(Compilation *c, void *argument) {
  Loading *l = argument;
  l->arena.catch_point = &c->catch_point;
  l->graph = graph_new(&l->arena, &l->unit->store);
  Pt2Builder b = {.graph = l->graph, .unit = l->unit, .exec = c->exec};
  map_init(&b.places, &l->arena);
  const Json *program = l->container.program;
  pt2_attributes_begin(&b, &l->attributes, l->unit, &l->weights);
  pt2_attributes_add_all(&b, &l->attributes,
                         json_array(json_get(json_get(program, "graph_module"), "signature"), "input_specs"));
  pt2_build_forward(&b, &l->attributes, program);
  recompose(l->graph);
  dead_code_elimination(l->graph); /* attributes and sizes that nothing reads */
  constant_pooling(l->graph);
  Status status = graph_lint(l->graph);
  if (status) catch_throw(&c->catch_point, status);
  unit_add_graph(l->unit, pt2_attributes_class(&l->attributes), STR("forward"), l->graph);
}

static Status make_module(Loading *l, Module **out) {
  Object *object;
  TRY(compilation_run(l->unit, l->exec, build, l));
  TRY(pt2_attributes_object(&l->attributes, &object));
  Status status = module_new(l->unit, object, out);
  ivalue_release(ivalue_object(object));
  return status;
}

Status pt2_import(Archive *archive, Exec *exec, const LoadOptions *options, Module **out) {
  Loading l = {.exec = exec};
  TRY(import_new_unit(options, &l.unit));
  if (!l.unit->torch_version) l.unit->torch_version = TORCH_2; /* the first that exports */
  unit_enter(l.unit, exec);
  arena_init(&l.arena, NULL);
  Status status = pt2_container_open(archive, &l.container);
  if (!status) status = pt2_weights_read(&l.weights, &l.container, options, &l.unit->device_map);
  if (!status) status = make_module(&l, out);
  l.arena.catch_point = NULL;
  pt2_attributes_dispose(&l.attributes);
  if (l.graph) graph_dispose(l.graph);
  arena_dispose(&l.arena);
  pt2_weights_dispose(&l.weights);
  pt2_container_dispose(&l.container);
  exec->device_map = NULL;
  unit_release(l.unit);
  return status;
}

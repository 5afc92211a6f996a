/* From file to Module: the program is read, its tensors become attributes, its graph the method forward. */
#include "serial/pt2/pt2.h"

#include "base/work.h"
#include "frontend/frontend.h"
#include "pass/pass.h"
#include "serial/archive/import.h"
#include "serial/pt2/forward.h"
#include "syntax/token.h"
#include "type/class_type.h"

typedef struct Loading {
  Archive *archive;
  const LoadOptions *options;
  Pt2Attributes attributes;
  CompilationUnit *unit;
  Exec *exec;
  Arena arena;         /* of all programs */
  VEC(Graph *) graphs; /* one for each */
  /* the one that is being read */
  Pt2Container container;
  Pt2Weights weights;
  Str method;
} Loading;

static void build(Compilation *c, void *argument) {
  Loading *l = argument;
  l->arena.catch_point = &c->catch_point;
  if (!vec_reserve(&l->graphs, l->graphs.length + 1)) catch_throw(&c->catch_point, status_out_of_memory());
  Graph *graph = l->graphs.data[l->graphs.length++] = graph_new(&l->arena, &l->unit->store);
  Pt2Builder b = {.graph = graph, .unit = l->unit, .exec = c->exec};
  map_init(&b.places, &l->arena);
  const Json *program = l->container.program;
  pt2_attributes_begin(&b, &l->attributes, l->unit, &l->weights, str_is(l->method, "forward") ? STR("") : l->method);
  pt2_attributes_add_all(&b, &l->attributes,
                         json_array(json_get(json_get(program, "graph_module"), "signature"), "input_specs"));
  pt2_build_forward(&b, &l->attributes, program);
  constant_pooling(graph); /* what is the same is one value: rules ask for that */
  recompose(graph);
  dead_code_elimination(graph); /* attributes and sizes that nothing reads */
  constant_pooling(graph);
  Status status = graph_lint(graph);
  if (status) catch_throw(&c->catch_point, status);
  unit_add_graph(l->unit, pt2_attributes_class(&l->attributes), l->method, graph);
}

static Status read_program(Loading *l, Str model, Str method) {
  l->method = method;
  l->weights = (Pt2Weights){0};
  Status status = pt2_container_open(l->archive, model, &l->container);
  if (!status) status = pt2_weights_read(&l->weights, &l->container, l->options, &l->unit->device_map);
  if (!status) status = compilation_run(l->unit, l->exec, build, l);
  l->arena.catch_point = NULL;
  pt2_weights_dispose(&l->weights);
  pt2_container_dispose(&l->container);
  return status;
}

/* A program's name as a method's: what can't stand in one is an underscore. */
static char *method_name(Arena *arena, Str model) {
  bool needs_more = !model.length || (model.data[0] >= '0' && model.data[0] <= '9') || token_keyword(model) != TK_IDENT;
  char *name = arena_printf(arena, "%s" STR_FMT, needs_more ? "_" : "", STR_ARG(model));
  for (char *c = name; *c; c++) {
    bool is_word = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9');
    if (!is_word) *c = '_';
  }
  return name;
}

typedef struct Named {
  Arena *arena;
  Str model, method;
} Named;
static void name_method(void *argument) {
  Named *named = argument;
  named->method = str_from(method_name(named->arena, named->model));
}
static Status read_one_of(Loading *l, Str model) {
  Named named = {&l->arena, model, STR("forward")};
  if (!str_is(model, "model")) TRY(arena_protect(&l->arena, name_method, &named));
  const ClassType *root = l->attributes.root ? pt2_attributes_class(&l->attributes) : NULL;
  Status status =
      root && class_type_find_method(root, named.method)
          ? status_new(ERROR_UNSUPPORTED, "two programs would be the method " STR_FMT, STR_ARG(named.method))
          : read_program(l, model, named.method);
  return status_context(status, "program " STR_FMT, STR_ARG(model));
}

static Status read_programs(Loading *l) {
  Str *models;
  uint32_t count;
  TRY(pt2_find_models(l->archive, &models, &count));
  Status status = count == 1 ? read_program(l, models[0], STR("forward")) : OK;
  for (uint32_t i = 0; i < count && count > 1 && !status; i++) status = read_one_of(l, models[i]);
  mem_free(models);
  return status;
}

static void end_attributes(void *argument) {
  Loading *l = argument;
  Pt2Builder b = {.graph = l->graphs.data[0]};
  pt2_attributes_end(&b, &l->attributes);
}
static Status make_module(Loading *l, Module **out) {
  Object *object;
  TRY(arena_protect(&l->arena, end_attributes, l));
  TRY(pt2_attributes_object(&l->attributes, &object));
  Status status = module_new(l->unit, object, out);
  ivalue_release(ivalue_object(object));
  return status;
}

Status pt2_import(Archive *archive, Exec *exec, const LoadOptions *options, Module **out) {
  Loading l = {.archive = archive, .options = options, .exec = exec};
  TRY(import_new_unit(options, &l.unit));
  if (!l.unit->torch_version) l.unit->torch_version = TORCH_2; /* the first that exports */
  unit_enter(l.unit, exec);
  arena_init(&l.arena, NULL);
  Status status = read_programs(&l);
  if (!status) status = make_module(&l, out);
  pt2_attributes_dispose(&l.attributes);
  for (size_t i = 0; i < l.graphs.length; i++) graph_dispose(l.graphs.data[i]);
  vec_dispose(&l.graphs);
  arena_dispose(&l.arena);
  exec->device_map = NULL;
  unit_release(l.unit);
  return status;
}

/* The prelude: what PyTorch writes in Python, compiled into the unit of the program that uses it. A file of prelude/
 * stands for a module; its functions and classes know each other by their bare names. */
#include <stdlib.h>

#include "frontend/compilation.h"
#include "frontend/prelude_data.h"
#include "syntax/parser.h"
#include "syntax/view.h"

/* Which file holds which module. */
static const struct {
  const char *prefix, *file;
} modules[] = {
    {"torch", "torch"},
    {"torch.functional", "torch_functional"},
    {"torch.nn.functional", "torch_nn_functional"},
    {"torch.nn.init", "torch_nn_init"},
    {"torch.amp.autocast_mode", "torch_amp_autocast_mode"},
    {"torch.cpu.amp.autocast_mode", "torch_cpu_amp_autocast_mode"},
    {"torch.cuda.amp.autocast_mode", "torch_cuda_amp_autocast_mode"},
    {"torch.autograd.grad_mode", "torch_autograd_grad_mode"},
    {"torch.autograd.profiler", "torch_autograd_profiler"},
    {"torch._lowrank", "torch_lowrank"},
    {"torch.nn.utils.rnn", "torch_nn_utils_rnn"},
    {"torch.optim._functional", "torch_optim_functional"},
    {"torch.distributions", "torch_distributions"},
    {"torch.linalg", "torch_linalg"},
    {"torch.jit", "torch_jit"},
    {"gradients", "gradients"},
    {"gradients_tensor", "gradients_tensor"},
    {"sparse", "sparse"},
    {"upgraders", "upgraders"},
    {"", "operators"},
};

typedef struct PreludeModule {
  Resolver resolver; /* first: bare names within the file */
  Str prefix;
  const struct PreludeFile *file;
  Map parsed; /* name -> Tree of what was asked for */
} PreludeModule;

static SugaredValue *find_in_module(PreludeModule *module, Compilation *c, Str name);

static SugaredValue *module_value(Resolver *resolver, Compilation *c, Str name, SourceRange range) {
  (void)range;
  return find_in_module((PreludeModule *)resolver, c, name);
}

static const Type *module_type(Resolver *resolver, Compilation *c, Str name, SourceRange range) {
  (void)range;
  SugaredValue *value = find_in_module((PreludeModule *)resolver, c, name);
  return value && value->kind == &SUGARED_CLASS ? value->type : NULL;
}

static const struct PreludeFile *file_named(const char *name) {
  for (const struct PreludeFile *file = prelude_files; file->name; file++)
    if (strcmp(file->name, name) == 0) return file;
  return NULL;
}

/* `name`, and variants of it for other types: name__1, name__2, ... */
static Str variant_name(Arena *arena, Str name, uint32_t i) {
  return i ? str_from(arena_printf(arena, STR_FMT "__%u", STR_ARG(name), i)) : name;
}

static PreludeModule *module_named(Compilation *c, Str prefix) {
  const char *file_name = NULL;
  for (size_t i = 0; i < sizeof modules / sizeof *modules; i++)
    if (str_is(prefix, modules[i].prefix)) file_name = modules[i].file;
  if (!file_name) return NULL;
  PreludeModule *module = map_get(&c->prelude, str_from(file_name));
  if (module) return module;
  const struct PreludeFile *file = file_named(file_name);
  if (!file) return NULL;
  module = ARENA_NEW(&c->scratch, PreludeModule);
  module->resolver = (Resolver){.resolve_value = module_value, .resolve_type = module_type, .outer = &builtin_resolver};
  module->prefix = (Str){arena_strndup(&c->scratch, prefix.data, prefix.length), prefix.length};
  module->file = file;
  map_init(&module->parsed, &c->scratch);
  map_put(&c->prelude, str_from(file_name), module);
  return module;
}

static int compare_name(const void *name, const void *definition) {
  const Str *a = name;
  const char *b = ((const struct PreludeDefinition *)definition)->name;
  int order = strncmp(a->data, b, a->length);
  return order ? order : -(b[a->length] != '\0');
}

/* What `name` is defined as, parsed when it is first asked for: a program pays for what it uses. */
static const Tree *definition_named(PreludeModule *module, Compilation *c, Str name) {
  const struct PreludeFile *file = module->file;
  const struct PreludeDefinition *found =
      bsearch(&name, file->definitions, file->count, sizeof *file->definitions, compare_name);
  if (!found) return NULL;
  const Tree *tree = map_get(&module->parsed, name);
  if (tree) return tree;
  Source *source;
  Status status = source_new((Str){found->text, found->length}, file->name, found->line, &source);
  if (status) catch_throw(&c->catch_point, status);
  source->is_own = true;
  unit_hold_source(c->unit, source);
  tree = parse_file(&c->scratch, source, PARSE_PYTHON)->children[0];
  map_put(&module->parsed, str_from(found->name), (void *)tree);
  return tree;
}

/* `name = boolean_dispatch('argument', index, default, if_true, if_false)`: which of two functions a call means follows
 * from an argument that must be a constant, since the types of their results differ. */
typedef struct BooleanDispatch {
  SugaredValue base;
  Str argument;
  uint32_t index;
  bool fallback;
  SugaredValue *branches[2]; /* if false, if true */
} BooleanDispatch;

static SugaredValue *dispatch_call(SugaredValue *self, Emitter *e, SourceRange range, const CallArguments *arguments,
                                   uint32_t binders) {
  const BooleanDispatch *d = (const BooleanDispatch *)self;
  const NamedValue *given = d->index < arguments->count ? &arguments->positional[d->index] : NULL;
  for (uint32_t i = 0; i < arguments->keyword_count; i++)
    if (str_equal(arguments->keywords[i].name, d->argument)) given = &arguments->keywords[i];
  IValue choice = ivalue_bool(d->fallback);
  if (given && given->is_constant)
    choice = given->constant;
  else if (given && !value_is_constant(given->value, &choice))
    choice = IVALUE_NONE;
  if (choice.tag != TAG_BOOL)
    compilation_fail(e->c, range,
                     "The argument '" STR_FMT "' must be True or False itself: the type of the result follows from it",
                     STR_ARG(d->argument));
  return sugared_call(d->branches[choice.b], e, range, arguments, binders);
}

static const SugaredKind SUGARED_BOOLEAN_DISPATCH = {.name = "function", .call = dispatch_call};

static SugaredValue *boolean_dispatch(PreludeModule *module, Compilation *c, const Tree *assign) {
  const Tree *inputs = apply_inputs(option_get(assign_value(assign)));
  BooleanDispatch *d = ARENA_NEW(&c->scratch, BooleanDispatch);
  IValue index;
  bool known = constant_from_tree(c, &module->resolver, inputs->children[1], NULL, &index);
  assert(known && index.tag == TAG_INT), (void)known;
  d->base.kind = &SUGARED_BOOLEAN_DISPATCH;
  d->argument = string_text(inputs->children[0]);
  d->index = (uint32_t)index.i;
  d->fallback = inputs->children[2]->kind == TK_TRUE;
  d->branches[true] = find_in_module(module, c, var_text(inputs->children[3]));
  d->branches[false] = find_in_module(module, c, var_text(inputs->children[4]));
  return &d->base;
}

static SugaredValue *find_in_module(PreludeModule *module, Compilation *c, Str name) {
  const Tree *tree = definition_named(module, c, name);
  if (!tree) return NULL;
  if (tree->kind == TK_ASSIGN) return boolean_dispatch(module, c, tree);
  Str qualified = str_from(arena_printf(&c->scratch, "__torch__." STR_FMT "%s" STR_FMT, STR_ARG(module->prefix),
                                        module->prefix.length ? "." : "", STR_ARG(name)));
  if (tree->kind == TK_CLASS_DEF) {
    const Type *type = unit_find_type(c->unit, qualified);
    if (!type) type = frontend_define_class(c, tree, qualified, &module->resolver);
    return sugared_class(c, type);
  }
  VEC(Function *) functions = {0};
  for (uint32_t i = 0;; i++) {
    Str variant = variant_name(&c->scratch, name, i);
    const Tree *def = definition_named(module, c, variant);
    if (!def) break;
    Str full = variant_name(&c->scratch, qualified, i);
    Function *function = unit_find_function(c->unit, full);
    if (!function)
      function = frontend_define_function(c, def, full, &module->resolver);
    else if (!function->graph && !function->definition)
      define_with_schema(c, function, def, NULL, &module->resolver);
    vec_arena_push(&c->scratch, &functions, function);
  }
  return sugared_overloads(c, (uint32_t)functions.length, functions.data);
}

SugaredValue *prelude_find(Compilation *c, Str prefix, Str name) {
  PreludeModule *module = module_named(c, prefix);
  return module ? find_in_module(module, c, name) : NULL;
}

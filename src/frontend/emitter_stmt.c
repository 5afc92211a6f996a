/* Statements: what they do to the graph and the environment. Control flow is written as the blocks stand in the source;
 * convert_to_ssa makes SSA of it. */
#include <assert.h>

#include "base/stack.h"
#include "base/work_limit.h"
#include "frontend/compilation.h"
#include "frontend/scope.h"
#include "syntax/view.h"

static bool block_exits(const Emitter *e, const Block *block) {
  return ptrmap_has(&e->exits, block);
}
static void mark_exit(Emitter *e, Block *block) {
  ptrmap_put(&e->exits, block, block);
}

/* ---- if ---- */

typedef struct Branch {
  const Tree *statements;
  Block *block;
  Environment *env;
  bool exits;
} Branch;

static void emit_branch(Emitter *e, SourceRange range, Node *node, Branch *branch, const Refinements *refinements,
                        bool holds) {
  branch->block = node_add_block(node);
  InsertPoint saved = insert_point_into(e, branch->block);
  environment_push(e, branch->block);
  emit_refinements(e, range, refinements, holds);
  emit_statements(e, branch->statements);
  branch->env = environment_pop(e);
  insert_point_restore(e, saved);
  branch->exits = block_exits(e, branch->block);
}

static bool known_in_branch(Emitter *e, Branch *branch, Str name) {
  InsertPoint saved = insert_point_into(e, branch->block);
  bool found = environment_find(e, branch->env, name) != NULL;
  insert_point_restore(e, saved);
  return found;
}

static Value *value_in_branch(Emitter *e, Branch *branch, Str name, SourceRange range) {
  InsertPoint saved = insert_point_into(e, branch->block);
  Value *value = environment_get_value(e, branch->env, name, range);
  insert_point_restore(e, saved);
  return value;
}

/* The branch never reaches its end: the name stands for nothing there. */
static Value *placeholder_in_branch(Emitter *e, Branch *branch, Str name, const Type *type, SourceRange range) {
  InsertPoint saved = insert_point_into(e, branch->block);
  Value *value = emit_typed(e, range, SYM_prim_Uninitialized, 0, NULL, type);
  environment_store(e, branch->env, range, name, value, type);
  insert_point_restore(e, saved);
  return value;
}

/* Variables that escape the if: those assigned in one branch and known in the other. */
static void merge_branches(Emitter *e, SourceRange range, Branch branches[2]) {
  uint32_t count = 0, counts[2];
  Str *own[2];
  for (int i = 0; i < 2; i++)
    own[i] = scope_sorted_names(&(Scope){.table = branches[i].env->table}, e->arena, &counts[i]);
  Str *names = ARENA_ARRAY(e->arena, Str, counts[0] + counts[1] + 1);
  for (int i = 0; i < 2; i++)
    for (uint32_t k = 0; k < counts[i]; k++) {
      const Variable *variable = map_get(&branches[i].env->table, own[i][k]);
      if (!variable->type && !variable->sugared) continue;
      if (i == 1 && map_has(&branches[0].env->table, own[i][k])) continue;
      if (known_in_branch(e, &branches[1 - i], own[i][k]) || branches[1 - i].exits) {
        names[count++] = own[i][k];
      } else {
        environment_set_error(e, e->environment, own[i][k],
                              arena_printf(e->arena, STR_FMT " is not defined in the %s branch", STR_ARG(own[i][k]),
                                           i == 0 ? "false" : "true"),
                              range);
      }
    }
  names_sort(names, count);
  for (uint32_t k = 0; k < count; k++) {
    if (branches[0].exits && branches[1].exits) break;
    bool plain = true;
    for (int i = 0; i < 2; i++) {
      const Variable *variable = map_get(&branches[i].env->table, names[k]);
      if (variable && variable->sugared) plain = false;
    }
    if (!plain) continue;
    Value *values[2] = {0};
    for (int i = 0; i < 2; i++)
      if (!branches[i].exits) values[i] = value_in_branch(e, &branches[i], names[k], range);
    for (int i = 0; i < 2; i++)
      if (branches[i].exits) values[i] = placeholder_in_branch(e, &branches[i], names[k], values[1 - i]->type, range);
    SugaredValue *outer = environment_find(e, e->environment, names[k]);
    Value *outer_value = outer ? sugared_plain_value(outer) : NULL;
    bool to_union = outer_value && outer_value->type->kind == TYPE_UNION;
    const Type *type = type_unify(e->store, values[0]->type, values[1]->type, to_union);
    if (type) {
      environment_set_type(e, e->environment, names[k], type);
      continue;
    }
    const char *message = arena_printf(
        e->arena, "Type mismatch: " STR_FMT " is set to type %s in the true branch and type %s in the false branch",
        STR_ARG(names[k]), type_text(e->c, values[0]->type), type_text(e->c, values[1]->type));
    if (outer && e->environment->outer) compilation_fail(e->c, range, "%s", message);
    environment_set_error(e, e->environment, names[k], message, range);
    Variable *variable = map_get(&e->environment->table, names[k]);
    variable->type = NULL;
    variable->sugared = NULL;
  }
}

static void emit_if_branches(Emitter *e, SourceRange range, const Condition *condition, const Tree *then,
                             const Tree *otherwise) {
  if (condition->is_static >= 0) {
    emit_refinements(e, range, &condition->refinements, condition->is_static);
    emit_statements(e, condition->is_static ? then : otherwise);
    return;
  }
  Node *node = emit_node(e, range, SYM_prim_If, 1, &condition->value, 0);
  Branch branches[2] = {{.statements = then}, {.statements = otherwise}};
  for (int i = 0; i < 2; i++) emit_branch(e, range, node, &branches[i], &condition->refinements, i == 0);
  if (branches[0].exits && branches[1].exits) mark_exit(e, node->owning_block);
  merge_branches(e, range, branches);
}

static void emit_if(Emitter *e, const Tree *stmt) {
  Condition condition = emit_condition(e, if_condition(stmt));
  emit_if_branches(e, stmt->range, &condition, if_then(stmt), if_else(stmt));
}

/* ---- raise, assert ---- */

static void emit_raise(Emitter *e, const Tree *stmt) {
  SugaredValue *exception = emit_sugared(e, raise_value(stmt), 1, NULL);
  if (exception->kind == &SUGARED_EXCEPTION) /* a bare class: no message */
    exception = sugared_call(exception, e, stmt->range, &(CallArguments){0}, 1);
  if (exception->kind != &SUGARED_EXCEPTION_MESSAGE) {
    Value *value = sugared_plain_value(exception);
    if (!value || value->type->kind != TYPE_CLASS || !str_ends_with(value->type->name, "Error"))
      compilation_fail(e->c, stmt->range, "exceptions must derive from BaseException");
  }
  const SugaredMessage *message = (const SugaredMessage *)exception;
  Value *inputs[2] = {message->message, message->class_name};
  if (inputs[0]->type->kind != TYPE_STRING) inputs[0] = emit_builtin(e, stmt->range, SYM_aten_str, 1, inputs);
  if (!inputs[1]) inputs[1] = emit_none(e, stmt->range);
  emit_node(e, stmt->range, SYM_prim_RaiseException, 2, inputs, 0);
  mark_exit(e, e->environment->block);
}

static void emit_assert(Emitter *e, const Tree *stmt) {
  Condition condition = emit_condition(e, assert_test(stmt));
  const Tree *message = option_get(assert_message(stmt));
  Tree *text = message ? (Tree *)message : tree_atom(e->arena, TK_STRINGLITERAL, stmt->range, STR(""));
  Tree *apply = TREE(e->arena, TK_APPLY, stmt->range, tree_var(e->arena, stmt->range, STR("AssertionError")),
                     tree_list(e->arena, stmt->range, 1, &text), tree_list(e->arena, stmt->range, 0, NULL));
  Tree *raise = TREE(e->arena, TK_RAISE, stmt->range, apply);
  emit_if_branches(e, stmt->range, &condition, tree_list(e->arena, stmt->range, 0, NULL),
                   tree_list(e->arena, stmt->range, 1, &raise));
}

/* ---- loops ---- */

static void emit_loop_condition(Emitter *e, SourceRange range, Node *loop, const Tree *condition) {
  Block *block = node_add_block(loop);
  environment_push(e, block);
  Value *value;
  if (condition) {
    InsertPoint saved = insert_point_into(e, block);
    value = emit_condition(e, condition).value;
    insert_point_restore(e, saved);
  } else {
    InsertPoint saved = insert_point_move(e, loop);
    value = emit_constant(e, range, ivalue_bool(true));
    insert_point_restore(e, saved);
  }
  block_register_output(block, value);
  environment_pop(e);
}

void emit_loop(Emitter *e, SourceRange range, EmitBody *body, void *argument, SugaredValue *iterable,
               const Tree *targets, const Tree *condition) {
  assert(iterable ? targets != NULL : condition != NULL);
  Value *trips = iterable ? sugared_len(iterable, e, range) : emit_number_constant(e, range, ivalue_int(INT64_MAX));
  Node *loop = emit_node(e, range, SYM_prim_Loop, 0, NULL, 0);
  Block *block = node_add_block(loop);
  emit_loop_condition(e, range, loop, condition);
  node_add_input(loop, trips);
  LoopStatus outer = e->loop;
  e->loop = LOOP_REAL;
  Value *index = block_add_input(block, STR(""), TYPE(INT));
  InsertPoint saved = insert_point_into(e, block);
  environment_push(e, block);
  if (iterable) {
    Value *element = sugared_as_value(sugared_get_item(iterable, e, range, index, NULL), e, range);
    emit_targets(e, targets, 1, (SugaredValue *[]){sugared_value(e->c, element)}, range, 1);
  }
  body(e, argument);
  environment_pop(e);
  insert_point_restore(e, saved);
  e->loop = outer;
}

static void emit_statement_body(Emitter *e, void *argument) {
  emit_statements(e, argument);
}

static void emit_for(Emitter *e, const Tree *stmt) {
  const Tree *targets = for_targets(stmt), *body = for_body(stmt);
  if (for_iters(stmt)->count != 1 || targets->count != 1)
    compilation_fail(e->c, stmt->range, "List of iterables is not supported currently");
  if (targets->children[0]->kind == TK_STARRED)
    compilation_fail(
        e->c, stmt->range,
        "A Starred expression may only appear on the lhs within the presence of another non-starred expression");
  SugaredValue *iterable = sugared_iter(emit_sugared(e, for_iters(stmt)->children[0], 1, NULL), e, stmt->range);
  int64_t length = sugared_static_length(iterable, e);
  if (length < 0) {
    emit_loop(e, stmt->range, emit_statement_body, (void *)body, iterable, targets, NULL);
    return;
  }
  LoopStatus outer = e->loop;
  e->loop = LOOP_UNROLLED;
  for (int64_t i = 0; i < length; i++) {
    Value *index = emit_number_constant(e, stmt->range, ivalue_int(i));
    SugaredValue *element = sugared_get_item(iterable, e, stmt->range, index, NULL);
    emit_targets(e, targets, 1, &element, stmt->range, 1);
    emit_statements(e, body);
    if (block_exits(e, e->environment->block)) break;
  }
  e->loop = outer;
}

static void emit_loop_exit(Emitter *e, const Tree *stmt) {
  const char *word = stmt->kind == TK_BREAK ? "break" : "continue";
  if (e->loop == LOOP_UNROLLED)
    compilation_fail(
        e->c, stmt->range,
        "Because we emit iteration over modulelists or tuples as unrolled loops, we do not support break or "
        "continue inside the body of these loops");
  if (e->loop == LOOP_NONE) compilation_fail(e->c, stmt->range, "SyntaxError: '%s' outside loop", word);
  emit_node(e, stmt->range, stmt->kind == TK_BREAK ? SYM_prim_BreakStmt : SYM_prim_ContinueStmt, 0, NULL, 0);
}

/* ---- return ---- */

static void emit_return_value(Emitter *e, SourceRange range, Value *value) {
  const Type *declared = e->def->declared_return;
  if (declared) {
    /* None is no Tensor: a forgotten return must not become one. */
    if (!(declared->kind == TYPE_TENSOR && value->type->kind == TYPE_NONE))
      value = emit_convert(e, range, declared, value, true);
    StrBuf why = {0};
    if (!type_is_subtype(value->type, declared, &why)) {
      const char *reason = why.length ? arena_printf(e->arena, "\n" STR_FMT, STR_ARG(strbuf_view(&why))) : "";
      strbuf_dispose(&why);
      compilation_fail(e->c, range, "Return value was annotated as having type %s but is actually of type %s%s",
                       type_text(e->c, declared), type_text(e->c, value->type), reason);
    }
    strbuf_dispose(&why);
    if (declared->kind == TYPE_ANY && value->type->kind != TYPE_ANY)
      value = emit_unchecked_cast(e, range, value, declared);
    e->def->merged_return = declared;
  } else {
    const Type *before = e->def->merged_return, *type = type_without_refinement(e->store, value->type);
    const Type *merged = before ? type_unify(e->store, before, type, false) : type;
    if (!merged)
      compilation_fail(
          e->c, range,
          "Previous return statement returned a value of type %s but this return statement returns a value of type %s",
          type_text(e->c, before), type_text(e->c, value->type));
    e->def->merged_return = merged;
  }
  emit_node(e, range, SYM_prim_ReturnStmt, 1, &value, 0);
  mark_exit(e, e->environment->block);
}

/* ---- with ---- */

static Value *emit_enter(Emitter *e, const Tree *item) {
  SourceRange range = with_item_target(item)->range;
  Value *object = emit_expr(e, with_item_target(item), NULL);
  if (object->type->kind != TYPE_CLASS) compilation_fail(e->c, range, "With item expression must return an object");
  Function *enter = class_type_find_method(object->type->class_type, STR("__enter__"));
  Function *exit = class_type_find_method(object->type->class_type, STR("__exit__"));
  if (!enter || !exit)
    compilation_fail(e->c, range,
                     "Object returned by with item expression does not define __enter__ and __exit__ methods");
  function_require(e, range, enter);
  function_require(e, range, exit);
  if (enter->schema->argument_count != 1 || enter->schema->return_count != 1)
    compilation_fail(e->c, range, "__enter__ must have only one argument and one return value");
  if (exit->schema->argument_count != 4) compilation_fail(e->c, range, "__exit__ must have four arguments");
  for (uint32_t i = 1; i < 4; i++)
    if (exit->schema->arguments[i].type->kind != TYPE_ANY)
      compilation_fail(e->c, range,
                       "argument %u of __exit__ must have Any type; TorchScript does not support exceptions", i);
  Value *entered = emit_typed(e, range, SYM_prim_Enter, 1, &object, enter->schema->returns[0].type);
  const Tree *variable = option_get(with_item_var(item));
  if (variable) {
    if (variable->kind != TK_VAR) compilation_fail(e->c, variable->range, "Only variable names may stand after `as`");
    environment_set_value(e, variable->range, var_text(variable), entered);
  }
  return object;
}

static void emit_with(Emitter *e, const Tree *stmt) {
  const Tree *items = with_items(stmt);
  Value **entered = ARENA_ARRAY(e->arena, Value *, items->count + 1);
  for (uint32_t i = 0; i < items->count; i++) entered[i] = emit_enter(e, items->children[i]);
  emit_statements(e, with_body(stmt));
  for (uint32_t i = items->count; i-- > 0;) emit_typed(e, stmt->range, SYM_prim_Exit, 1, &entered[i], TYPE(TENSOR));
}

/* ---- closures ---- */

Value *emit_closure(Emitter *e, SourceRange range, void (*body)(Emitter *e, Block *block, void *argument),
                    void *argument) {
  Value *closure =
      emit_typed(e, range, SYM_prim_Closure, 0, NULL, TYPE(NONE)); /* its type is known when it is lifted */
  Block *block = node_add_block(closure->node);
  LoopStatus outer = e->loop;
  DefFrame def = {.outer = e->def};
  e->loop = LOOP_NONE;
  e->def = &def;
  InsertPoint saved = insert_point_into(e, block);
  environment_push(e, block);
  body(e, block, argument);
  environment_pop(e);
  insert_point_restore(e, saved);
  e->def = def.outer;
  e->loop = outer;
  return closure;
}

static void emit_def_body(Emitter *e, Block *block, void *argument) {
  emit_def(e, argument, block, NULL);
}

static void emit_nested_def(Emitter *e, const Tree *def) {
  Value *closure = emit_closure(e, def->range, emit_def_body, (void *)def);
  environment_set(e, def->range, ident_text(def_name(def)), sugared_closure(e->c, closure), NULL);
}

/* ---- definitions ---- */

static void emit_parameters(Emitter *e, const Tree *def, const FunctionSchema *schema, Block *block, ClassType *self) {
  const Tree *params = decl_params(def_decl(def));
  for (uint32_t i = 0, a = 0; i < params->count; i++) {
    const Tree *param = params->children[i];
    if (param_name(param)->kind != TK_IDENT) continue;
    Str name = ident_text(param_name(param));
    if (param_marker(param)->kind == TK_STARRED || param_marker(param)->kind == TK_POW)
      compilation_fail(
          e->c, param->range,
          "Compiled functions can't take variable number of arguments or use keyword-only arguments with defaults");
    const Type *type = a < schema->argument_count ? schema->arguments[a].type : TYPE(TENSOR);
    Value *input = block_add_input(block, name, self && i == 0 ? &self->type : type);
    if (input->type->kind == TYPE_TENSOR && !option_get(param_type(param)))
      input->inferred = arena_printf(e->arena, STR_FMT, STR_ARG(name));
    a++;
    environment_set_value(e, param->range, name, input);
  }
}

static void finish_return(Emitter *e, const Tree *def, Block *block) {
  const Type *declared = e->def->declared_return;
  if (!block_exits(e, block)) {
    if (declared && declared->kind != TYPE_NONE)
      compilation_fail(e->c, def->range,
                       "Function was not annotated as having type None, but does not return along all paths");
    emit_return_value(e, def->range, emit_none(e, def->range));
  } else if (!e->def->merged_return) {
    e->def->merged_return = declared ? declared : TYPE(NONE);
  }
}

void emit_def(Emitter *e, const Tree *def, Block *block, ClassType *self) {
  FunctionSchema *schema = schema_from_def(e->c, e->resolver, def, self, ident_text(def_name(def)), false);
  if (schema->return_count) e->def->declared_return = schema->returns[0].type;
  emit_parameters(e, def, schema, block, self);
  emit_statements(e, def_body(def));
  finish_return(e, def, block);
  Value *placeholder = emit_typed(e, def->range, SYM_prim_Uninitialized, 0, NULL, e->def->merged_return);
  block_register_output(block, placeholder);
  if (block == e->graph->block) {
    if (!schema->return_count) {
      schema->returns = ARENA_NEW(&e->c->unit->store.arena, Argument);
      schema->return_count = 1;
    }
    schema->returns[0].type = e->def->merged_return;
    schema->name = e->function->name;
    e->function->schema = schema;
  }
}

void emit_body_def(Emitter *e, const Tree *def, const FunctionSchema *schema) {
  Block *block = e->graph->block;
  const Type **results = ARENA_ARRAY(e->arena, const Type *, schema->return_count + 1);
  for (uint32_t i = 0; i < schema->return_count; i++) results[i] = schema->returns[i].type;
  e->def->declared_return = schema->return_count == 0   ? TYPE(NONE)
                            : schema->return_count == 1 ? results[0]
                                                        : type_tuple(e->store, schema->return_count, results);
  for (uint32_t i = 0; i < schema->argument_count; i++) {
    Str name = schema->arguments[i].name;
    environment_set_value(e, def->range, name, block_add_input(block, name, schema->arguments[i].type));
  }
  emit_statements(e, def_body(def));
  finish_return(e, def, block);
  block_register_output(block, emit_typed(e, def->range, SYM_prim_Uninitialized, 0, NULL, e->def->merged_return));
  FunctionSchema *own = ARENA_NEW(&e->c->unit->store.arena, FunctionSchema);
  *own = *schema;
  own->returns = ARENA_NEW(&e->c->unit->store.arena, Argument);
  own->return_count = 1;
  own->returns[0].type = e->def->merged_return;
  e->function->schema = own;
}

static void emit_statement(Emitter *e, const Tree *stmt) {
  Status status = work_take_tree();
  if (status) catch_throw(&e->c->catch_point, status);
  switch (stmt->kind) {
    case TK_IF:
      emit_if(e, stmt);
      break;
    case TK_WHILE:
      emit_loop(e, stmt->range, emit_statement_body, while_body(stmt), NULL, NULL, while_condition(stmt));
      break;
    case TK_FOR:
      emit_for(e, stmt);
      break;
    case TK_ASSIGN:
      emit_assign(e, stmt);
      break;
    case TK_AUG_ASSIGN:
      emit_aug_assign(e, stmt);
      break;
    case TK_EXPR_STMT:
      emit_sugared(e, expr_stmt_value(stmt), 0, NULL);
      break;
    case TK_RAISE:
      emit_raise(e, stmt);
      break;
    case TK_ASSERT:
      emit_assert(e, stmt);
      break;
    case TK_RETURN:
      emit_return_value(e, stmt->range, emit_expr(e, return_value(stmt), e->def->declared_return));
      break;
    case TK_BREAK:
    case TK_CONTINUE:
      emit_loop_exit(e, stmt);
      break;
    case TK_PASS:
      break;
    case TK_DEF:
      emit_nested_def(e, stmt);
      break;
    case TK_DELETE:
      for (uint32_t i = 0; i < delete_targets(stmt)->count; i++)
        emit_subscript_delete(e, delete_targets(stmt)->children[i]);
      break;
    case TK_WITH:
      emit_with(e, stmt);
      break;
    case TK_IMPORT:
      compilation_fail(e->c, stmt->range, "import statements aren't supported inside a compiled function");
    case TK_CLASS_DEF:
      compilation_fail(e->c, stmt->range, "class definitions aren't supported inside a compiled function");
    case TK_UNSUPPORTED:
      unsupported_throw(e->arena, stmt);
    default:
      compilation_fail(e->c, stmt->range, "Unrecognized statement kind %s", token_kind_name(stmt->kind));
  }
}

void emit_statements(Emitter *e, const Tree *list) {
  if (STACK_IS_LOW()) compilation_fail(e->c, list->range, "Statements are nested too deeply");
  for (uint32_t i = 0; i < list->count; i++) {
    const Tree *stmt = list->children[i];
    e->graph->range = stmt->range;
    emit_statement(e, stmt);
    if (block_exits(e, e->environment->block)) return; /* what follows is never reached */
  }
}

/* Parameters, declarations, and the type comments that may stand in for annotations. */
#include "syntax/parser_state.h"
#include "syntax/view.h"

static Tree *optional_after(Parser *p, TokenKind mark) {
  if (!parser_accept(p, mark)) return p->nothing;
  Tree *tree = parser_expression(p);
  return tree_option(p->arena, tree->range, tree);
}

static Tree *param_with_type(Parser *p, const Tree *param, Tree *type) {
  return TREE(p->arena, TK_PARAM, param->range, param_name(param), tree_option(p->arena, type->range, type),
              param_default(param), param_marker(param));
}

/* The type comment after a parameter's comma (or before the closer) belongs to that parameter. */
static void take_param_comment(Parser *p, size_t mark) {
  if (!items_count(p, mark)) return;
  Tree *type = option_get(param_type(vec_last(&p->items))) ? NULL : parser_type_comment(p, &p->current);
  if (type) vec_last(&p->items) = param_with_type(p, vec_last(&p->items), type);
}

Tree *parser_params(Parser *p, TokenKind closer, bool annotated) {
  size_t mark = items_begin(p);
  uint32_t list_begin = p->current.begin;
  bool keyword_only = false;
  while (!parser_at(p, closer)) {
    uint32_t begin = p->current.begin;
    TokenKind marker = keyword_only ? TK_TRUE : TK_FALSE;
    if (parser_accept(p, TK_POW)) {
      marker = TK_POW;
    } else if (parser_accept(p, '*')) {
      keyword_only = true;
      marker = TK_STARRED;
    } else if (parser_at(p, '/') && items_count(p, mark)) {
      parser_fail(p, "parameter ('/' is not supported in TorchScript)");
    }
    if (marker != TK_STARRED || !parser_at(p, ',')) {
      Tree *name = parser_ident(p);
      Tree *type = annotated ? optional_after(p, ':') : p->nothing;
      Tree *value = optional_after(p, '=');
      SourceRange range = parser_since(p, begin);
      items_push(p, TREE(p->arena, TK_PARAM, range, name, type, value, tree_empty(p->arena, marker, range)));
    }
    bool more = parser_accept(p, ',');
    if (annotated) take_param_comment(p, mark);
    if (!more) break;
  }
  if (!parser_at(p, closer)) parser_fail(p, closer == ')' ? "',' or ')'" : "',' or ':'");
  return items_end(p, mark, list_begin);
}

Tree *parser_decl(Parser *p) {
  uint32_t begin = p->current.begin;
  parser_expect(p, '(');
  Tree *params = parser_params(p, ')', true);
  parser_expect(p, ')');
  Tree *result = optional_after(p, TK_ARROW);
  return TREE(p->arena, TK_DECL, parser_since(p, begin), params, result);
}

Tree *parser_type_comment(Parser *p, const Token *commented) {
  if (commented->comment_begin == commented->comment_end) return NULL;
  Parser inner = parser_within(p, commented->comment_begin, commented->comment_end);
  if (parser_at(&inner, TK_EOF)) return NULL;
  Tree *type = parser_expression(&inner);
  if (!parser_at(&inner, TK_EOF)) parser_fail(&inner, "end of the type comment");
  return type;
}

/* `self` bears no type in a comment. */
static bool skips_self(const Tree *params, size_t types) {
  return params->count == types + 1 && str_is(ident_text(param_name(params->children[0])), "self");
}

Tree *parser_merge_type_comment(Parser *p, Tree *decl, const Token *commented) {
  uint32_t begin = commented->comment_begin, end = commented->comment_end;
  if (begin == end || p->lexer.text[begin] != '(') return decl;
  Parser inner = parser_within(p, begin, end);
  parser_expect(&inner, '(');
  TreeVec types = {0};
  bool elided = parser_at(&inner, TK_DOTS) && inner.next.kind == ')';
  if (elided) parser_advance(&inner);
  while (!parser_at(&inner, ')')) {
    while (parser_accept(&inner, '*') || parser_accept(&inner, TK_POW)) continue;
    vec_arena_push(p->arena, &types, parser_expression(&inner));
    if (!parser_accept(&inner, ',')) break;
  }
  parser_expect(&inner, ')');
  Tree *result = parser_accept(&inner, TK_ARROW) ? parser_expression_list(&inner) : NULL;
  if (!parser_at(&inner, TK_EOF)) parser_fail(&inner, "end of the type comment");

  Tree *params = decl_params(decl);
  uint32_t first = skips_self(params, types.length) ? 1 : 0;
  SourceRange range = parser_since(&inner, begin);
  if (!elided && types.length + first != params->count)
    range_error(p->arena, ERROR_SYNTAX, range,
                "Number of type annotations (%zu) did not match the number of function parameters (%u)", types.length,
                params->count);
  TreeVec typed = {0};
  for (uint32_t i = 0; i < params->count; i++) {
    Tree *param = params->children[i];
    bool is_open = !elided && i >= first && !option_get(param_type(param));
    vec_arena_push(p->arena, &typed, is_open ? param_with_type(p, param, types.data[i - first]) : param);
  }
  Tree *return_type = decl_return_type(decl);
  if (result && !option_get(return_type)) return_type = tree_option(p->arena, range, result);
  return TREE(p->arena, TK_DECL, decl->range, tree_list(p->arena, params->range, params->count, typed.data),
              return_type);
}

/* Building and printing of trees. */
#include "syntax/tree.h"

#include <assert.h>

bool tree_is_atom(const Tree *tree) {
  return tree->kind == TK_IDENT || tree->kind == TK_CONST || tree->kind == TK_STRINGLITERAL ||
         tree->kind == TK_UNSUPPORTED;
}

Tree *tree_new(Arena *arena, TokenKind kind, SourceRange range, uint32_t count, Tree *const *children) {
  uint32_t height = 0;
  for (uint32_t i = 0; i < count; i++)
    if (children[i]->height > height) height = children[i]->height;
  if (height >= TREE_MAX_HEIGHT)
    range_error(arena, ERROR_SYNTAX, range, "this is nested too deeply, or a chain of more than some thousand parts");
  size_t bytes;
  if (!size_mul(count, sizeof(Tree *), &bytes) || !size_add(bytes, sizeof(Tree), &bytes))
    catch_throw(arena->catch_point, status_out_of_memory());
  Tree *tree = arena_alloc(arena, bytes);
  tree->kind = (uint16_t)kind;
  tree->height = (uint16_t)(height + 1);
  tree->count = count;
  tree->range = range;
  tree->children = (Tree **)(tree + 1);
  if (count) memcpy(tree->children, children, count * sizeof *children);
  return tree;
}

Tree *tree_atom(Arena *arena, TokenKind kind, SourceRange range, Str text) {
  assert(kind == TK_IDENT || kind == TK_CONST || kind == TK_STRINGLITERAL || kind == TK_UNSUPPORTED);
  Tree *tree = ARENA_NEW(arena, Tree);
  tree->kind = (uint16_t)kind;
  tree->height = 1;
  tree->range = range;
  tree->text = text;
  return tree;
}

Tree *tree_empty(Arena *arena, TokenKind kind, SourceRange range) {
  return tree_new(arena, kind, range, 0, NULL);
}

Tree *tree_option(Arena *arena, SourceRange range, Tree *tree_or_null) {
  return tree_new(arena, TK_OPTION, range, tree_or_null ? 1 : 0, &tree_or_null);
}

Tree *tree_var(Arena *arena, SourceRange range, Str name) {
  return TREE(arena, TK_VAR, range, tree_atom(arena, TK_IDENT, range, name));
}

Tree *tree_list(Arena *arena, SourceRange range, uint32_t count, Tree *const *items) {
  return tree_new(arena, TK_LIST, range, count, items);
}

/* ---- printing ---- */

enum { LINE_WIDTH = 39, MAX_SHOWN_INDENT = 200 };

/* The length on one line, or more than `limit` when it is longer: work is bounded by limit. */
static size_t flat_length(const Tree *tree, size_t limit) {
  size_t length = strlen(token_kind_name(tree->kind)) + 2;
  if (tree_is_atom(tree)) return length + 1 + tree->text.length;
  for (uint32_t i = 0; i < tree->count && length <= limit; i++)
    length += 1 + flat_length(tree->children[i], limit - length);
  return length;
}

static void print_tree(const Tree *tree, size_t indent, StrBuf *out) {
  if (out->truncated || out->failed) return;
  strbuf_char(out, '(');
  strbuf_puts(out, token_kind_name(tree->kind));
  if (tree_is_atom(tree)) {
    strbuf_char(out, ' ');
    strbuf_str(out, tree->text);
  } else {
    bool flat = indent < LINE_WIDTH && flat_length(tree, LINE_WIDTH - indent) <= LINE_WIDTH - indent;
    for (uint32_t i = 0; i < tree->count; i++) {
      strbuf_char(out, flat ? ' ' : '\n');
      if (!flat) strbuf_repeat(out, ' ', indent + 2 < MAX_SHOWN_INDENT ? indent + 2 : MAX_SHOWN_INDENT);
      print_tree(tree->children[i], flat ? 0 : indent + 2, out);
    }
  }
  strbuf_char(out, ')');
}

void tree_print(const Tree *tree, StrBuf *out) {
  print_tree(tree, 0, out);
}

/* ---- errors ---- */

_Noreturn void tree_error(Arena *arena, const Tree *tree, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  Status status = source_errorv(ERROR_COMPILE, tree->range, format, arguments);
  va_end(arguments);
  catch_throw(arena->catch_point, status);
}

_Noreturn void range_error(Arena *arena, ErrorCode code, SourceRange range, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  Status status = source_errorv(code, range, format, arguments);
  va_end(arguments);
  catch_throw(arena->catch_point, status);
}

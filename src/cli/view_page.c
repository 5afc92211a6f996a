/* The page around the data: what view/ has, with the title and the data where they belong. */
#include <stdlib.h>
#include <string.h>

#include "cli/view.h"
#include "cli/view_page_data.h"

/* Text between tags. */
static void put_escaped(FILE *to, const char *text) {
  for (; *text; text++) {
    if (*text == '<' || *text == '>' || *text == '&' || *text == '"')
      fprintf(to, "&#%d;", *text);
    else
      fputc(*text, to);
  }
}
/* JSON inside a script element, which nothing in it ends: < stands in texts alone, and can be written otherwise. */
static void put_data(FILE *to, const char *json) {
  for (size_t length; *json; json += length) {
    length = strcspn(json, "<");
    fwrite(json, 1, length, to);
    if (!json[length]) return;
    fputs("\\u003c", to);
    length++;
  }
}
static char *page_of(const View *view, const char *json, size_t *out_length) {
  char *text = NULL;
  const char *name = strrchr(view->path, '/');
  FILE *to = open_memstream(&text, out_length);
  if (!to) return NULL;
  fwrite(view_page_begin, 1, view_page_begin_length, to);
  put_escaped(to, name ? name + 1 : view->path);
  fwrite(view_page_middle, 1, view_page_middle_length, to);
  put_data(to, json);
  fwrite(view_page_end, 1, view_page_end_length, to);
  bool failed = ferror(to);
  if (!fclose(to) && !failed) return text;
  free(text);
  return NULL;
}

static void put_head(const View *view, Json *json) {
  json_put_key(json, "file"), json_put_text(json, view->path);
  json_put_key(json, "wick"), json_put_text(json, wick_version());
  json_put_key(json, "live"), json_put_bool(json, view->is_live);
}

char *view_page(const View *view, size_t *out_length, int *out_exit) {
  Json json;
  GraphTable table = {0};
  View opened = *view;
  wick_module *module = NULL;
  char *page = NULL;
  *out_exit = EXIT_FAILED;
  if (!model_print_aside(&opened.model)) return NULL;
  if (!json_out_open(&json)) {
    wick_runtime_release(opened.model.runtime);
    return NULL;
  }
  json_put_begin(&json, '{');
  put_head(view, &json);
  bool fine = view_put_program(&opened, &table, &json, &module) && view_put_modules(module, &opened.model, &json);
  if (!module) *out_exit = EXIT_USAGE;
  graph_table_put(&table, &json);
  json_put_end(&json, '}');
  fine = json_out_close(&json) && fine;
  if (fine && !graph_table_failed(&table)) page = page_of(view, json.text, out_length);
  if (fine && !page) complain(view->path, "out of memory");
  json_out_dispose(&json);
  graph_table_dispose(&table);
  wick_module_release(module);
  wick_runtime_release(opened.model.runtime);
  return page;
}

char *view_failure_page(const View *view, size_t *out_length) {
  Json json;
  if (!json_out_open(&json)) return NULL;
  json_put_begin(&json, '{');
  put_head(view, &json);
  json_put_key(&json, "method"), json_put_text(&json, view->method);
  json_put_key(&json, "words");
  json_put_begin(&json, '[');
  for (int i = 0; i < view->count; i++) json_put_text(&json, view->words[i]);
  json_put_end(&json, ']');
  json_put_key(&json, "failures");
  json_put_begin(&json, '[');
  for (size_t i = 0; complaint_at(i); i++) json_put_text(&json, complaint_at(i));
  json_put_end(&json, ']');
  json_put_end(&json, '}');
  char *page = json_out_close(&json) ? page_of(view, json.text, out_length) : NULL;
  json_out_dispose(&json);
  return page;
}

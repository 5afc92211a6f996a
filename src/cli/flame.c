/* Flame graphs: folded stacks ("outer;inner;operator 1200", a line each) as one SVG that needs nothing else. Stacks
 * grow downwards; a frame is as wide as its time, and pointing at it shows what it is. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cli/flame.h"

enum { WIDTH = 1200, ROW = 18, MARGIN = 10, TITLE = 40, CHARACTER = 7 };

typedef struct Frame {
  const char *name; /* not terminated */
  size_t length;
  double own, whole;          /* nanoseconds: of stacks that end here, of all that pass */
  struct Frame *first, *next; /* what it called; its neighbor */
} Frame;

static Frame *frame_under(Frame *parent, const char *name, size_t length) {
  Frame **at = &parent->first;
  for (; *at; at = &(*at)->next)
    if ((*at)->length == length && !memcmp((*at)->name, name, length)) return *at;
  Frame *frame = calloc(1, sizeof *frame);
  if (!frame) return NULL;
  frame->name = name;
  frame->length = length;
  return *at = frame;
}
static void frames_free(Frame *frame) {
  for (Frame *inner = frame->first, *next; inner; inner = next) {
    next = inner->next;
    frames_free(inner);
    free(inner);
  }
}
static bool add_stack(Frame *root, const char *line, size_t length) {
  size_t end = length;
  assert(length > 0);
  while (end > 0 && line[end - 1] != ' ') end--;
  double ns = strtod(line + end, NULL);
  Frame *frame = root;
  root->whole += ns;
  for (size_t at = 0; end && at < end;) {
    size_t size = 0;
    while (at + size < end - 1 && line[at + size] != ';') size++;
    if (!(frame = frame_under(frame, line + at, size))) return false;
    frame->whole += ns;
    at += size + 1;
  }
  frame->own += ns;
  return true;
}

static int depth_of(const Frame *frame) {
  int depth = 0;
  for (const Frame *inner = frame->first; inner; inner = inner->next) {
    int below = depth_of(inner);
    if (below > depth) depth = below;
  }
  return depth + 1;
}

static void put_escaped(FILE *to, const char *text, size_t length) {
  for (size_t i = 0; i < length; i++) {
    switch (text[i]) {
      case '<':
        fputs("&lt;", to);
        break;
      case '>':
        fputs("&gt;", to);
        break;
      case '&':
        fputs("&amp;", to);
        break;
      default:
        fputc(text[i], to);
    }
  }
}

/* Of a place its file's name. */
static Frame short_of(const Frame *frame) {
  Frame shown = *frame;
  for (size_t i = 0; i < frame->length && frame->name[i] != ' '; i++)
    if (frame->name[i] == '/') shown.name = frame->name + i + 1, shown.length = frame->length - i - 1;
  return shown;
}

/* Warm colors, the same for the same name; places in the source are paler than operators. */
static void put_frame(FILE *to, const Frame *frame, double whole, double x, double width, int depth) {
  unsigned hash = 2166136261u;
  for (size_t i = 0; i < frame->length && frame->name[i] != ' '; i++)
    hash = (hash ^ (unsigned char)frame->name[i]) * 16777619u;
  int y = TITLE + depth * ROW, shown = (int)(width / CHARACTER) - 1;
  fprintf(to, "<g><title>");
  put_escaped(to, frame->name, frame->length);
  fprintf(
      to,
      ": %.4f ms, %.1f%%</title><rect x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"%d\" fill=\"hsl(%u,%d%%,%d%%)\"/>",
      frame->whole / 1e6, 100 * frame->whole / whole, x, y, width > 0.5 ? width - 0.3 : width, ROW - 1, hash % 50,
      frame->first ? 45 : 85, frame->first ? 78 : 65);
  if (shown >= 3) {
    fprintf(to, "<text x=\"%.2f\" y=\"%d\">", x + 3, y + ROW - 5);
    Frame label = short_of(frame);
    bool cut = label.length > (size_t)shown;
    put_escaped(to, label.name, cut ? (size_t)shown - 2 : label.length);
    fputs(cut ? "..</text>" : "</text>", to);
  }
  fputs("</g>\n", to);
}
static void put_frames(FILE *to, const Frame *parent, double whole, double x, double scale, int depth) {
  for (const Frame *frame = parent->first; frame; frame = frame->next) {
    double width = frame->whole * scale;
    put_frame(to, frame, whole, x, width, depth);
    put_frames(to, frame, whole, x, scale, depth + 1);
    x += width;
  }
}

bool flame_draw(const char *folded, const char *title, size_t calls, FILE *to) {
  Frame root = {0};
  bool fine = true;
  for (const char *line = folded; fine && *line; line += line[0] == '\n') {
    size_t length = strcspn(line, "\n");
    fine = !length || add_stack(&root, line, length);
    line += length;
  }
  int height = TITLE + depth_of(&root) * ROW + MARGIN;
  double whole = root.whole > 0 ? root.whole : 1;
  fprintf(
      to,
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"monospace\" font-size=\"11\">\n"
      "<rect width=\"100%%\" height=\"100%%\" fill=\"#fffdf8\"/>\n<text x=\"%d\" y=\"24\" font-size=\"15\">",
      WIDTH, height, MARGIN);
  put_escaped(to, title, strlen(title));
  fprintf(to, ": %.4f ms a call, %zu calls</text>\n", whole / 1e6 / (double)(calls ? calls : 1), calls);
  put_frames(to, &root, whole, MARGIN, (WIDTH - 2 * MARGIN) / whole, 0);
  fputs("</svg>\n", to);
  frames_free(&root);
  return fine;
}

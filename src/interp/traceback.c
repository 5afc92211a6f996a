/* The TorchScript stack trace of an error, as PyTorch writes it: outermost call first, each with its source. */
#include "interp/task.h"

/* The excerpt with the function's name after the line number. */
static void add_place(SourceRange range, Str function, StrBuf *out) {
  if (!range.source) {
    strbuf_printf(out, "  in " STR_FMT "\n", STR_ARG(str_after_last(function, '.')));
    return;
  }
  StrBuf text = {0};
  source_range_highlight(range, &text);
  Str s = strbuf_view(&text);
  ptrdiff_t end = str_find_char(s, '\n');
  if (end >= 0 && str_starts_with(s, "  File ")) {
    strbuf_str(out, str_slice(s, 0, (size_t)end));
    strbuf_printf(out, ", in " STR_FMT, STR_ARG(str_after_last(function, '.')));
    s = str_slice(s, (size_t)end, s.length);
  }
  strbuf_str(out, s);
  if (s.length && s.data[s.length - 1] != '\n') strbuf_char(out, '\n');
  strbuf_dispose(&text);
}

static void add_inlined(const DebugInlined *call, Str outermost, SourceRange innermost, StrBuf *out) {
  enum { MAX_SHOWN = 64 };
  const DebugInlined *chain[MAX_SHOWN];
  int n = 0;
  for (; call && n < MAX_SHOWN; call = call->caller) chain[n++] = call;
  Str function = outermost;
  while (n--) {
    add_place(chain[n]->range, function, out);
    function = chain[n]->name;
  }
  add_place(innermost, function, out);
}

Status trace_add(const Task *task, Status status) {
  enum { MAX_SHOWN = 40 }; /* of a deep recursion the outermost and innermost half */
  StrBuf text = {0};
  const Frame **frames = mem_calloc(task->depth ? task->depth : 1, sizeof *frames);
  if (!frames) return status;
  uint32_t n = 0;
  for (const Frame *frame = task->top; frame && n < task->depth; frame = frame->caller) frames[n++] = frame;
  strbuf_puts(&text, "Traceback of TorchScript (most recent call last):\n");
  uint32_t total = n;
  while (n--) {
    if (total > MAX_SHOWN && n == total - MAX_SHOWN / 2 - 1) {
      strbuf_printf(&text, "  ... %u more calls\n", total - MAX_SHOWN);
      n = MAX_SHOWN / 2;
      continue;
    }
    const Code *code = frames[n]->code;
    const DebugPlace *place = &code->places[frames[n]->pc - code->instructions];
    add_inlined(place->inlined, code->name, place->range, &text);
  }
  mem_free(frames);
  /* the error came through a nested run: its trace goes after ours, under one heading */
  if (status->trace) {
    Str inner = str_from(status->trace);
    ptrdiff_t end = str_find_char(inner, '\n');
    if (end >= 0) strbuf_str(&text, str_slice(inner, (size_t)end + 1, inner.length));
    mem_free(status->trace);
    status->trace = NULL;
  }
  Status whole = status_add_trace(status, text.data ? text.data : "");
  strbuf_dispose(&text);
  return whole;
}

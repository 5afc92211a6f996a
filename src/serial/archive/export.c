/* Saving: the object pickled, the code it needs printed, both with their tensors in one archive. */
#include "serial/archive/debug_records.h"

#include <assert.h>

#include "base/work.h"
#include "serial/archive/zip_writer.h"
#include "serial/pickle/pickler.h"
#include "serial/python/python_print.h"
#include "serial/python/reprint.h"
#include "serial/serial.h"

typedef struct CodeFile {
  char *path; /* owned: "code/__torch__/a/b.py" */
  StrBuf text;
  VEC(PythonMark) marks; /* what the text was made from */
} CodeFile;
/* From this version on PyTorch calls the record .data/version. */
enum { VERSION_IN_DATA_FOLDER = 6 };
/* A type or function whose definition is still to be printed. */
typedef struct Needed {
  const Type *type;
  const Function *function;
} Needed;
typedef struct Export {
  ZipWriter zip;
  char *folder; /* owned: the top folder of all records */
  PythonPrinter printer;
  DebugRecords debug;
  VEC(CodeFile) files; /* in order of need */
  VEC(Needed) needed;  /* grows while it is worked off */
  Map known;           /* qualified name -> its place in `needed`, from 1 */
  Str twice;           /* a name that two definitions have; else empty */
  bool failed;         /* out of memory where there is no status */
} Export;

/* Programs that a module is made of have the language's own functions each for itself. */
static bool do_the_same(Export *e, const Function *a, const Function *b) {
  StrBuf text = {0}, other = {0};
  if (a->graph) graph_print(a->graph, false, &text);
  if (b->graph) graph_print(b->graph, false, &other);
  bool same = a->graph && b->graph && str_equal(strbuf_view(&text), strbuf_view(&other));
  e->failed = e->failed || text.failed || other.failed;
  strbuf_dispose(&text);
  strbuf_dispose(&other);
  return same;
}

static void need(Export *e, Str name, Needed what) {
  assert(!what.type != !what.function);
  const Needed *known = NULL;
  size_t place = (size_t)(uintptr_t)map_get(&e->known, name);
  if (place) known = &e->needed.data[place - 1];
  if (known) {
    bool is_function = known->function && what.function;
    bool is_known = known->type == what.type && known->function == what.function;
    if (!is_known && !(is_function && do_the_same(e, known->function, what.function))) e->twice = name;
    return;
  }
  if (!vec_push(&e->needed, what) || !map_put(&e->known, name, (void *)(uintptr_t)e->needed.length)) e->failed = true;
}
/* Classes of libraries have no code. */
static void depend(void *context, const Type *type, const Function *function) {
  if (function) {
    need(context, function->name, (Needed){.function = function});
  } else if (str_starts_with(type->name, "__torch__.") && !str_starts_with(type->name, "__torch__.torch.classes.")) {
    need(context, type->name, (Needed){.type = type});
  }
}
static void depend_object(void *context, const Type *type) {
  depend(context, type, NULL);
}

/* The file where `__torch__.a.b.C` stands: code/__torch__/a/b.py. */
static Status code_file(Export *e, Str qualified, CodeFile **out) {
  StrBuf path = {0};
  ptrdiff_t dot = str_rfind_char(qualified, '.');
  strbuf_puts(&path, "code/");
  for (ptrdiff_t i = 0; i < dot; i++) strbuf_char(&path, qualified.data[i] == '.' ? '/' : qualified.data[i]);
  strbuf_puts(&path, ".py");
  if (path.failed) {
    strbuf_dispose(&path);
    return status_out_of_memory();
  }
  for (size_t i = 0; i < e->files.length; i++) {
    if (!str_is(strbuf_view(&path), e->files.data[i].path)) continue;
    strbuf_dispose(&path);
    *out = &e->files.data[i];
    return OK;
  }
  CodeFile file = {0};
  TRY(strbuf_take(&path, &file.path));
  if (!vec_push(&e->files, file)) {
    mem_free(file.path);
    return status_out_of_memory();
  }
  *out = &vec_last(&e->files);
  return OK;
}

/* Puts what the printer wrote after what is in the file. */
static Status add_definition(Export *e, CodeFile *file, const StrBuf *text) {
  PythonPrinter *printer = &e->printer;
  size_t count = printer->marks.length, start = file->text.length;
  if (text->failed || !vec_reserve(&file->marks, file->marks.length + count + 1)) return status_out_of_memory();
  TRY(debug_records_cut(&e->debug, printer->marks.data, count));
  (void)vec_push(&file->marks, (PythonMark){.offset = start});
  for (size_t i = 0; i < count; i++)
    (void)vec_push(&file->marks, ((PythonMark){start + printer->marks.data[i].offset, printer->marks.data[i].range}));
  printer->marks.length = 0;
  strbuf_str(&file->text, strbuf_view(text));
  return OK;
}

/* The text goes to a buffer of its own first: printing may open another file. */
static Status print_needed(Export *e, Needed needed) {
  StrBuf name = {0}, text = {0};
  CodeFile *file;
  Status status = needed.type ? python_print_type(&e->printer, needed.type, &text)
                              : python_print_function(&e->printer, needed.function, 0, (Str){0}, &text);
  if (needed.type) {
    strbuf_str(&name, needed.type->name);
  } else {
    python_print_function_name(needed.function, &name);
  }
  if (!status && name.failed) status = status_out_of_memory();
  if (!status) status = code_file(e, strbuf_view(&name), &file);
  if (!status) status = add_definition(e, file, &text);
  strbuf_dispose(&name);
  strbuf_dispose(&text);
  return status;
}
static Status print_code(Export *e) {
  for (size_t i = 0; i < e->needed.length && !e->failed; i++) TRY(print_needed(e, e->needed.data[i]));
  if (e->twice.length)
    return status_new(ERROR_UNSUPPORTED, "the module has two definitions called '" STR_FMT "', from different archives",
                      STR_ARG(e->twice));
  return e->failed ? status_out_of_memory() : OK;
}

/* Tensors on the meta device have a record, too: an empty one. */
static Status write_storages(Export *e, const Pickler *pickler, const char *folder) {
  for (size_t i = 0; i < pickler->storages.length; i++) {
    const Storage *storage = pickler->storages.data[i];
    char name[40];
    snprintf(name, sizeof name, "%s/%zu", folder, i);
    TRY(zip_writer_add(&e->zip, str_from(name), storage ? storage->data : NULL, storage ? storage->bytes : 0));
  }
  return OK;
}

/* NAME.pkl and its tensors: before it in programs, after it in files of torch.save. */
static Status write_pickle(Export *e, const char *name, Exec *exec, IValue value, bool is_eager) {
  Pickler pickler;
  char file[40];
  pickler_init(&pickler, exec);
  pickler.is_eager = is_eager;
  pickler.depend = depend_object;
  pickler.context = e;
  snprintf(file, sizeof file, "%s.pkl", name);
  Status status = pickler_write(&pickler, value);
  if (!status && !is_eager) status = write_storages(e, &pickler, name);
  if (!status) status = zip_writer_add(&e->zip, str_from(file), pickler.out.data, pickler.out.length);
  if (!status && is_eager) status = write_storages(e, &pickler, name);
  pickler_dispose(&pickler);
  return status;
}

static Status write_code(Export *e) {
  for (size_t i = 0; i < e->files.length; i++) {
    const CodeFile *file = &e->files.data[i];
    if (file->text.failed) return status_out_of_memory();
    StrBuf name = {0}, records = {0};
    strbuf_printf(&name, "%s.debug_pkl", file->path);
    Status status = name.failed ? status_out_of_memory() : OK;
    if (!status) status = zip_writer_add_text(&e->zip, str_from(file->path), file->text.data, file->text.length);
    if (!status) status = debug_records_write(&e->debug, file->marks.data, file->marks.length, &records);
    if (!status) status = zip_writer_add_text(&e->zip, strbuf_view(&name), records.data, records.length);
    strbuf_dispose(&name);
    strbuf_dispose(&records);
    TRY(status);
  }
  return OK;
}

static Status write_constants(Export *e, Exec *exec) {
  Tuple *constants;
  TRY(tuple_new((uint32_t)e->printer.constants.length, NULL, &constants));
  for (uint32_t i = 0; i < constants->length; i++) constants->values[i] = ivalue_retain(e->printer.constants.data[i]);
  Status status = write_pickle(e, "constants", exec, ivalue_tuple(constants), false);
  ivalue_release(ivalue_tuple(constants));
  return status;
}

static Status write_extra_files(Export *e, const Map *files) {
  for (MapEntry *entry = map_next(files, NULL); entry; entry = map_next(files, entry)) {
    const String *text = entry->value;
    StrBuf name = {0};
    strbuf_printf(&name, "extra/" STR_FMT, STR_ARG(entry->key));
    Status status =
        name.failed ? status_out_of_memory() : zip_writer_add(&e->zip, strbuf_view(&name), text->data, text->length);
    strbuf_dispose(&name);
    TRY(status);
  }
  return OK;
}

/* Everything after data.pkl. The pickled constants may name types that are printed already: printing them named those.
 */
static Status write_rest(Export *e, const CompilationUnit *unit, Exec *exec) {
  char version[16];
  TRY(print_code(e));
  TRY(write_code(e));
  TRY(write_constants(e, exec));
  snprintf(version, sizeof version, "%d\n", e->printer.min_version);
  Str name = e->printer.min_version < VERSION_IN_DATA_FOLDER ? STR("version") : STR(".data/version");
  TRY(zip_writer_add(&e->zip, name, version, strlen(version)));
  if (unit->torch_version == TORCH_2) TRY(zip_writer_add(&e->zip, STR("byteorder"), "little", strlen("little")));
  return zip_writer_finish(&e->zip);
}

/* The file's name without its last ending, as PyTorch calls the folder. */
static Status folder_of(const char *path, char **out) {
  Str name = str_after_last(str_from(path), '/');
  ptrdiff_t dot = str_rfind_char(name, '.');
  if (dot >= 0) name.length = (size_t)dot;
  if (!name.length) name = STR("archive");
  StrBuf text = {0};
  strbuf_str(&text, name);
  return strbuf_take(&text, out);
}

/* path NULL: into memory. */
static Status export_begin(Export *e, const char *path_or_null) {
  *e = (Export){0};
  python_printer_init(&e->printer);
  debug_records_init(&e->debug);
  e->printer.depend = depend;
  e->printer.context = e;
  map_init(&e->known, NULL);
  zip_writer_open_memory(&e->zip, "archive");
  if (!path_or_null) return OK;
  TRY(folder_of(path_or_null, &e->folder));
  return zip_writer_open(&e->zip, path_or_null, e->folder);
}
static void export_end(Export *e) {
  zip_writer_dispose(&e->zip);
  mem_free(e->folder);
  python_printer_dispose(&e->printer);
  debug_records_dispose(&e->debug);
  for (size_t i = 0; i < e->files.length; i++) {
    mem_free(e->files.data[i].path);
    strbuf_dispose(&e->files.data[i].text);
    vec_dispose(&e->files.data[i].marks);
  }
  vec_dispose(&e->files);
  vec_dispose(&e->needed);
  map_dispose(&e->known);
}

Status module_export(const Module *module, Exec *exec, const char *path) {
  Export e;
  Status status = export_begin(&e, path);
  if (!status) status = write_extra_files(&e, &module->extra_files);
  if (!status) status = write_pickle(&e, "data", exec, ivalue_object(module->object), false);
  if (!status) status = write_rest(&e, module->unit, exec);
  export_end(&e);
  return status;
}

Status value_export(IValue value, Exec *exec, const char *path) {
  Export e;
  Status status = export_begin(&e, path);
  if (!status) status = write_pickle(&e, "data", exec, value, true);
  if (!status && e.needed.length)
    status = status_new(ERROR_UNSUPPORTED, "an object of class '" STR_FMT "' can only be saved in a module",
                        STR_ARG(e.needed.data[0].type->name));
  if (!status) status = zip_writer_add(&e.zip, STR("version"), "3\n", 2);
  if (!status) status = zip_writer_finish(&e.zip);
  export_end(&e);
  return status;
}

/* A module with nothing but `training` whose forward is the function, as PyTorch saves one. */
Status function_export(const Function *function, Exec *exec, const char *path) {
  static const char pickle[] =
      "\x80\x02"
      "c__torch__\nPlaceholderModule\n)\x81}(X\x08\0\0\0training"
      "q\0\x88ub"
      "q\1.";
  Export e;
  CodeFile *file;
  StrBuf text = {0};
  Status status = export_begin(&e, path);
  if (!status) status = zip_writer_add(&e.zip, STR("data.pkl"), pickle, sizeof pickle - 1);
  if (!status) status = code_file(&e, STR("__torch__.PlaceholderModule"), &file);
  if (!status) {
    strbuf_puts(&text,
                "class PlaceholderModule(Module):\n  __parameters__ = []\n  __buffers__ = []\n  training : bool\n");
    status = python_print_function(&e.printer, function, 1, STR("__torch__.PlaceholderModule"), &text);
  }
  if (!status) status = add_definition(&e, file, &text);
  strbuf_dispose(&text);
  if (!status) status = write_rest(&e, function->unit, exec);
  export_end(&e);
  return status;
}

Status unit_export_code(const CompilationUnit *unit, Exec *exec, StrBuf *out) {
  Export e;
  Status status = export_begin(&e, NULL);
  for (MapEntry *t = map_next(&unit->types, NULL); t; t = map_next(&unit->types, t)) depend(&e, t->value, NULL);
  for (size_t i = 0; i < unit->functions.length; i++)
    if (unit->functions.data[i]->graph) depend(&e, NULL, unit->functions.data[i]);
  if (!status) status = write_rest(&e, unit, exec);
  if (!status) strbuf_str(out, strbuf_view(&e.zip.memory));
  if (!status && out->failed) status = status_out_of_memory();
  export_end(&e);
  return status;
}

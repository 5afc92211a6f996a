/* wick/module: loading and saving; what a module has. */
#ifndef WICK_MODULE_H
#define WICK_MODULE_H

#include "wick/runtime.h"
#include "wick/value.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- modules ---- */
/* Callable from any thread, from several at once: calls read and replace attributes whole, in no order of their own.
 * What they write in place (x.add_(), x[0] = y, resize_) on one tensor is the program's to keep apart. */
typedef struct wick_module wick_module;
enum { WICK_LOAD_READ = 0, WICK_LOAD_MAP = 1 };
typedef struct wick_load_options {
  uint32_t size;
  uint32_t mode; /* WICK_LOAD_READ for files of unknown origin: checksums, no surprises when a file is cut under us.
                    WICK_LOAD_MAP: tensor data stays in the file, mapped privately */
  uint64_t max_bytes;     /* that reading the archive may take; 0: 1 GiB and 16 times the file */
  const char *device_map; /* what stands for devices that tensors of the archive are on and that its program names:
                             "cuda=cpu,cuda:1=cpu"; "*=cpu" for all that are not there. NULL: such tensors are an error
                             when the archive is loaded, such names when something is to go there */
  const char *allow_ops;  /* names of operators a program may use ("aten::add"), one a line; NULL: all. Code with others
                             is refused before any of it runs: WICK_UNSUPPORTED, naming them. The list holds for as long
                             as the module lives, for what wick_module_define adds and a resolver brings in, too */
  uint64_t deadline_ns;   /* for loading and compiling, from now; 0: none. WICK_DEADLINE */
  uint64_t max_steps;     /* statements and expressions that may be compiled; 0: no limit. WICK_BUDGET */
  uint32_t share_weights; /* nonzero: a tensor's memory that has the content of another's which this runtime loaded so
                             is shared with it until one of them is written. With WICK_LOAD_READ */
  uint32_t torch_version; /* WICK_TORCH_..., whose operators the program means; 0: as the file says. Archives of
                             PyTorch 2.1 and later and programs of torch.export are of 2.x; one of 2.0 says nothing, and
                             is taken for one of 1.13 */
} wick_load_options;
/* Reads exactly `length` bytes at `offset`; 0 when it did. */
typedef int wick_read_callback(void *user, uint64_t offset, void *to, size_t length);
/* A TorchScript archive, or a program of torch.export (.pt2), told apart by content. Nothing in it can run anything but
 * TorchScript. */
WICK_API wick_status wick_load(wick_runtime *runtime, const char *path, const wick_load_options *WICK_NULLABLE options,
                               wick_module **out, wick_error **error);
/* The bytes may go after the call. */
WICK_API wick_status wick_load_memory(wick_runtime *runtime, const void *data, size_t length,
                                      const wick_load_options *WICK_NULLABLE options, wick_module **out,
                                      wick_error **error);
WICK_API wick_status wick_load_callbacks(wick_runtime *runtime, wick_read_callback *read, void *user, uint64_t size,
                                         const wick_load_options *WICK_NULLABLE options, wick_module **out,
                                         wick_error **error);
/* A value from a file of torch.save, a .npy (a tensor), a .npz or a safetensors file (dicts of tensors), told apart by
 * content. Nothing is executed. */
WICK_API wick_status wick_load_value(wick_runtime *runtime, const char *path,
                                     const wick_load_options *WICK_NULLABLE options, wick_value **out,
                                     wick_error **error);
WICK_API wick_status wick_load_value_memory(wick_runtime *runtime, const void *data, size_t length,
                                            const wick_load_options *WICK_NULLABLE options, wick_value **out,
                                            wick_error **error);
/* Saves tensors, numbers, strings, and lists, tuples and dicts of them as torch.save does: torch.load and
 * wick_load_value read the file. Objects of classes: WICK_UNSUPPORTED. Replaces an older file as wick_module_save
 * does. */
WICK_API wick_status wick_save_value(wick_runtime *runtime, const wick_value *value, const char *path,
                                     wick_error **error);
WICK_API wick_module *wick_module_retain(wick_module *module);
WICK_API void wick_module_release(wick_module *module); /* NULL is allowed */
/* What belongs to one module, as wick_runtime_memory. */
WICK_API wick_status wick_module_memory(const wick_module *module, wick_memory *out, wick_error **error);

/* ---- what a module has ---- */

/* Methods of a module, functions of a compiled text. */
WICK_API size_t wick_module_method_count(const wick_module *module);
/* Borrowed from the module; NULL: no such index. */
WICK_API const char *wick_module_method_name(const wick_module *module, size_t index);
/* "forward(__torch__.Net self, Tensor x) -> Tensor". Freed with wick_text_free. */
WICK_API wick_status wick_module_schema(const wick_module *module, const char *method, char **out_text,
                                        wick_error **error);
/* What a method takes (without self) and what it gives: a result that is a tuple item by item, a dict entry by entry
 * where the program fixes its keys, else the one result.
 *
 *   wick_module_signature(module, "forward", &signature, &error);
 *   for (size_t i = 0; i < wick_signature_input_count(signature); i++) {
 *     wick_value_info info = {.size = sizeof info};
 *     wick_signature_input(signature, i, &info, &error);    // info.name, info.type, info.dtype, info.sizes[...]
 *   }
 *   wick_signature_release(signature);
 *
 * Names, types and defaults are the schema's. dtypes and sizes are found from what the program does with its inputs:
 * the first convolution's channels, a linear layer's features, tests that raise, the sizes that a .pt2 was exported
 * for; of the results, what follows from those. They are what the program is made for, where it is sure of one thing
 * (of a layer that also takes single samples, the batch), and not all that it runs with. */
typedef struct wick_signature wick_signature; /* counted; does not change; keeps nothing of the module */
typedef struct wick_value_info {
  uint32_t size;        /* sizeof(wick_value_info), set by the caller */
  uint32_t kind;        /* WICK_TENSOR, WICK_LIST, ...; of what may be one of several: WICK_OTHER */
  const char *name;     /* of a parameter, a NamedTuple's field, a dict's key; "" where there is none */
  const char *type;     /* "Optional[Tensor]" */
  uint32_t is_optional; /* nonzero: None will do */
  uint32_t has_default; /* nonzero: may be left out */
  /* of tensors; -1: not known */
  int32_t dtype; /* WICK_FLOAT32 ... */
  int32_t ndim;
  const int64_t *sizes; /* ndim of them, -1 where the program leaves it open; NULL: ndim is not known */
  int64_t last_size;    /* of the last dimension, which a linear layer fixes though ndim is open */
  int64_t index_limit;  /* elements are indices, of an embedding's rows: from 0 on and below this */
} wick_value_info;
/* Inlines the method and looks through its graph: milliseconds for large programs. Nothing of the module is run. */
WICK_API wick_status wick_module_signature(const wick_module *module, const char *method, wick_signature **out,
                                           wick_error **error);
WICK_API wick_signature *wick_signature_retain(wick_signature *signature);
WICK_API void wick_signature_release(wick_signature *signature); /* NULL is allowed */
WICK_API size_t wick_signature_input_count(const wick_signature *signature);
WICK_API size_t wick_signature_output_count(const wick_signature *signature);
/* Fills the part of *out that its size covers; pointers hold while the signature does. WICK_NOT_FOUND: no such
 * index. */
WICK_API wick_status wick_signature_input(const wick_signature *signature, size_t index, wick_value_info *out,
                                          wick_error **error);
WICK_API wick_status wick_signature_output(const wick_signature *signature, size_t index, wick_value_info *out,
                                           wick_error **error);
/* The module as an object: attributes with wick_value_get_text. None for a compiled text. */
WICK_API wick_value *wick_module_object(const wick_module *module);
WICK_API const char *wick_module_class_name(const wick_module *module); /* "__torch__.Net"; "" for a compiled text */
/* The same for modules of one class, another one for each class, whatever their names; NULL for a compiled text. Valid
 * while one of them is held; nothing can be read there. */
WICK_API const void *wick_module_class_identity(const wick_module *module);
enum { WICK_ATTRIBUTE = 0, WICK_PARAMETER = 1, WICK_BUFFER = 2 };
typedef struct wick_attribute {
  uint32_t size; /* sizeof(wick_attribute) */
  uint32_t kind; /* WICK_ATTRIBUTE, also for submodules; WICK_PARAMETER and WICK_BUFFER for tensors */
  const char *name;
  const wick_value *value; /* a submodule is another module's wick_module_object. The value's type becomes the
                              attribute's: later values must have it */
} wick_attribute;
/* A module of a new class with these attributes, and with `training` (true) if it is not among them; `class_name` is
 * "Net" for __torch__.Net. Methods come by wick_module_define. */
WICK_API wick_status wick_module_new(wick_runtime *runtime, const char *class_name, const wick_attribute *attributes,
                                     size_t count, wick_module **out, wick_error **error);
/* An object of a class that the program of `program` defines ("Net", "__torch__.Net"), a module's or another's, as its
 * attributes make it: each is named once and converted to its type; nothing of the class runs. *out keeps the program.
 * WICK_NOT_FOUND: no such class. */
WICK_API wick_status wick_object_new(const wick_module *program, const char *class_name, const char *const *names,
                                     const wick_value *const *values, size_t count, wick_value **out,
                                     wick_error **error);
/* The same object as a module, which it must be: what wick_module_object gives, or an attribute that is a submodule. */
WICK_API wick_status wick_module_of_object(const wick_value *object, wick_runtime *runtime, wick_module **out,
                                           wick_error **error);
/* A member of an enum that the program defines. */
WICK_API wick_status wick_enum_value(const wick_module *program, const char *class_name, const char *member,
                                     wick_value **out, wick_error **error);
/* A copy with attributes of its own: what one sets or writes in place, the other does not see. Memory of tensors whose
 * address nobody was given is shared until one of them is written. share_tensors nonzero: of the same tensors; what is
 * written in place is then seen by both. Compiled code, plans and what objects of native classes hold are shared.
 * runtime NULL: the module's. Not while tensors of the module are written. */
WICK_API wick_status wick_module_clone(const wick_module *module, wick_runtime *runtime, int share_tensors,
                                       wick_module **out, wick_error **error);
/* An attribute by its path ("layer1.0.weight"). Setting converts to the attribute's type. */
WICK_API wick_status wick_module_get(const wick_module *module, const char *path, wick_value **out, wick_error **error);
WICK_API wick_status wick_module_set(wick_module *module, const char *path, const wick_value *value,
                                     wick_error **error);
/* Saves an archive that wick_load and PyTorch read: the module with its state, code and extra files; of a compiled text
 * the function `entry` (NULL: the first) as the forward of a module. The same module gives the same bytes. A file to
 * which `path` leads, also through symbolic links, is replaced only by a whole one, which gets its mode and, where that
 * is allowed, its owner; a FIFO or a device is written to. Not while the module runs elsewhere. */
WICK_API wick_status wick_module_save(const wick_module *module, wick_runtime *runtime, const char *path,
                                      const char *WICK_NULLABLE entry, wick_error **error);
/* Calls visit for every attribute, depth first, names joined with dots ("layer1.0.weight"); submodules before what they
 * hold. The name is borrowed for the call, the value too; a nonzero answer ends the walk. */
typedef int wick_attribute_visit(void *user, const char *name, uint32_t attribute_kind, const char *type,
                                 const wick_value *value);
WICK_API wick_status wick_module_each(const wick_module *module, wick_attribute_visit *visit, void *user,
                                      wick_error **error);
/* Parameters and buffers by name; the tensors themselves. */
WICK_API wick_status wick_module_state_dict(const wick_module *module, wick_value **out, wick_error **error);
/* Copies a dict of tensors (as wick_load_value reads from a file of torch.save or safetensors) into the parameters and
 * buffers. Names and sizes must be the module's: otherwise the error lists what is missing, unexpected or different,
 * and nothing is changed. Not while the module runs elsewhere. */
WICK_API wick_status wick_module_load_state(wick_module *module, const wick_value *state, wick_error **error);
/* Not while the module runs elsewhere. */
WICK_API wick_status wick_module_train(wick_module *module, int training, wick_error **error);
WICK_API wick_status wick_module_to(wick_module *module, uint32_t floating_dtype, wick_error **error);
/* Parameters and buffers on that device, "cuda:0"; its library is opened where it is not there yet. Devices that the
 * program itself names, and its constants, stay. Not while the module runs elsewhere. */
WICK_API wick_status wick_module_to_device(wick_module *module, const char *device, wick_error **error);
/* A new module whose forward (and preserved methods) has the attributes that nobody changes as constants, and the calls
 * inlined; its own hooks are not in it, as in PyTorch. `preserved` names methods and attributes that stay ("scale",
 * "inner.weight", a whole submodule "inner"). Only in evaluation mode. */
WICK_API wick_status wick_module_freeze(const wick_module *module, wick_runtime *runtime, const char *const *preserved,
                                        size_t preserved_count, wick_module **out, wick_error **error);
typedef struct wick_freeze_options {
  uint32_t size;                /* sizeof(wick_freeze_options) */
  uint32_t exact;               /* nonzero: nothing is folded that rounds otherwise (normalization into convolutions) */
  const char *const *preserved; /* as in wick_module_freeze */
  size_t preserved_count;
  uint32_t in_training; /* nonzero: a module that trains is frozen, too, and trains for ever */
} wick_freeze_options;
/* The same with more of a say in it. */
WICK_API wick_status wick_module_freeze_with(const wick_module *module, wick_runtime *runtime,
                                             const wick_freeze_options *options, wick_module **out, wick_error **error);
enum { WICK_FORWARD_PRE_HOOK = 0, WICK_FORWARD_HOOK = 1 };
/* How many hooks of a kind run when the module, or its submodule of that name ("encoder.0"; NULL: itself), is called. 0
 * for names and kinds that are not there. */
WICK_API size_t wick_module_hook_count(const wick_module *module, const char *WICK_NULLABLE submodule, uint32_t kind);
/* Of the hook that runs as number `index` of them: "scale(__torch__.Net self, (Tensor) input) -> (Tensor)". Freed with
 * wick_text_free. WICK_NOT_FOUND: no such hook. */
WICK_API wick_status wick_module_hook_schema(const wick_module *module, const char *WICK_NULLABLE submodule,
                                             uint32_t kind, size_t index, char **out_text, wick_error **error);
/* The types of devices that the program named so far and the device map replaced: "cuda", "cuda, xpu"; "": none. Freed
 * with wick_text_free. */
WICK_API wick_status wick_module_replaced_devices(const wick_module *module, char **out_text, wick_error **error);
/* WICK_TORCH_...: the version whose operators the program means (docs/torch2.md). WICK_TORCH_DEFAULT: those of the
 * runtime, for nothing of it has been compiled yet. */
WICK_API uint32_t wick_module_torch_version(const wick_module *module);
/* A file of the archive's extra/ folder, borrowed from the module; NULL: absent. */
WICK_API const char *wick_module_extra_file(const wick_module *module, const char *name,
                                            size_t *WICK_NULLABLE out_length);
/* Puts a file there, copied, in the place of one of that name; the module is saved with it. What wick_module_extra_file
 * gave before is gone. */
WICK_API wick_status wick_module_set_extra_file(wick_module *module, const char *name, const void *data, size_t length,
                                                wick_error **error);

#ifdef __cplusplus
}
#endif
#endif

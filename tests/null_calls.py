#!/usr/bin/env python3
"""Prints C that calls every function of the public headers with NULL for each pointer in turn, and with structs whose size is not set.

usage: null_calls.py HEADER... > null_calls.inc

tests/unit/api/test_null_calls.c includes the result and says what is expected. A function with a parameter for which there is no value here, or
none in the fixture, is an error: whoever adds a function says what a good call of it is.
"""
import re, sys

# What good calls are made of: fields of the fixture, by function and parameter, else by parameter and type, else by type.
BY_FUNCTION = {
    "wick_error_free": {"error": "NULL"},
    "wick_load": {"path": '"data/shared_state.pt"'},
    "wick_load_memory": {"data": "f->archive", "length": "f->archive_length"},
    "wick_load_callbacks": {"read": "read_archive", "size": "f->archive_length"},
    "wick_load_value": {"path": "f->npy_path"},
    "wick_load_value_memory": {"data": "f->npy", "length": "f->npy_length"},
    "wick_compile": {"text": "f->program", "length": "strlen(f->program)"},
    "wick_compile_with": {"text": "f->program", "length": "strlen(f->program)"},
    "wick_module_define": {"text": "f->more", "length": "strlen(f->more)"},
    "wick_trees_new": {"text": '"x = 1\\n"', "length": "6"},
    "wick_tree_new": {"kind": '"TK_LIST"', "children": "f->children", "count": "1"},
    "wick_tree_new_text": {"kind": '"TK_IDENT"', "text": '"name"', "length": "4"},
    "wick_module_save": {"module": "f->loaded", "path": "f->saved_path", "entry": "NULL"},
    "wick_module_method_name": {"module": "f->module"},
    "wick_module_class_name": {"module": "f->loaded"},
    "wick_module_class_identity": {"module": "f->loaded"},
    "wick_module_each": {"module": "f->loaded", "visit": "visit"},
    "wick_module_state_dict": {"module": "f->loaded"},
    "wick_module_load_state": {"module": "f->loaded", "state": "f->state"},
    "wick_module_train": {"module": "f->loaded"},
    "wick_module_to": {"module": "f->loaded", "floating_dtype": "WICK_FLOAT64"},
    "wick_module_to_device": {"module": "f->loaded", "device": '"cpu"'},
    "wick_module_freeze": {"module": "f->frozen_from", "preserved": "f->preserved", "preserved_count": "1"},
    "wick_module_freeze_with": {"module": "f->frozen_from", "options": "&(wick_freeze_options){.size = sizeof(wick_freeze_options)}"},
    "wick_module_extra_file": {"module": "f->loaded", "name": '"none"'},
    "wick_forward": {"inputs": "(wick_value *const[]){f->tensor}", "count": "1"},
    "wick_module_call": {"arguments": "f->tensors", "count": "1", "names": "f->input_name", "named_count": "1"},
    "wick_module_hook_count": {"module": "f->hooked", "submodule": "NULL"},
    "wick_module_hook_schema": {"module": "f->hooked", "submodule": "NULL"},
    "wick_archive_open": {"path": '"data/shared_state.pt"'},
    "wick_archive_read": {"name": '"data.pkl"'},
    "wick_file_kind_of": {"path": "f->npy_path"},
    "wick_file_contents": {"path": "f->npy_path"},
    "wick_value_each_tensor": {"visit": "visit_tensor"},
    "wick_archive_each_operator": {"path": '"data/shared_state.pt"', "allowed": "NULL", "visit": "visit_operator"},
    "wick_module_each_operator": {"visit": "visit_operator"},
    "wick_archive_each_overload": {"path": '"data/shared_state.pt"', "allowed": "NULL", "visit": "visit_overload"},
    "wick_module_each_overload": {"visit": "visit_overload"},
    "wick_op_missing": {"name": '"nothing::at_all"'},
    "wick_graph_differentiate": {"graph": "f->plain", "out_backward": "&f->out.backward"},
    "wick_graph_lower": {"module": "f->hooked", "method": '"forward"'},
    "wick_pass_exists": {"name": '"peephole"'},
    "wick_runtime_observe": {"observer": "observe"},
    "wick_function_print": {"what": "WICK_PRINT_CODE"},
    "wick_module_run_passes": {"passes": "f->passes", "count": "1"},
    "wick_executor_named": {"name": '"simple"'},
    "wick_backend_named": {"name": '"tile"'},
    "wick_torch_version_named": {"name": '"2.14"'},
    "wick_runtime_set_torch_version": {"version": "WICK_TORCH_1"},
    "wick_tensor_save_npy": {"path": "f->saved_path"},
    "wick_inflate": {"data": '"\\3"', "length": "2", "out": "f->memory", "room": "0"},
    "wick_checksum": {"data": "f->npy", "length": "f->npy_length"},
    "wick_file_write": {"path": "f->saved_path", "data": "f->npy", "length": "f->npy_length"},
    "wick_text_escape": {"text": '"text"', "length": "4", "kept": "NULL"},
    "wick_tensors_save_npz": {"tensors": "f->state", "path": "f->saved_path"},
    "wick_runtime_set_output": {"print": "NULL", "warn": "NULL", "user": "NULL"},
    "wick_set_default_dtype": {"dtype": "WICK_FLOAT32"},
    "wick_tensor_set_mark": {"mark": "NULL"},
    "wick_runtime_set_backend": {"device": '"cpu"'},
    "wick_enable_backend": {"backend": "WICK_BACKEND_TILE", "on": "1"},
    "wick_runtime_set_quantized_engine": {"name": "f->engine"},
    "wick_value_device": {"text": '"cpu"'},
    "wick_value_string": {"data": '"text"', "length": "4"},
    "wick_value_list": {"items": "f->tensors", "count": "1"},
    "wick_value_tuple": {"items": "f->tensors", "count": "1"},
    "wick_value_dict": {"keys": "f->texts", "values": "f->tensors", "count": "1"},
    "wick_value_get_text": {"dict_or_object": "f->dict"},
    "wick_value_wait": {"future": "f->promise"},
    "wick_graph_of_plan": {"function": "f->idle"},
    "wick_value_get": {"dict": "f->dict", "key": "f->text"},
    "wick_value_key": {"value": "f->dict"},
    "wick_value_to_string": {"value": "f->text"},
    "wick_tensor_quantizer_of": {"tensor": "f->quantized"},
    "wick_tensor_new": {"ndim": "1", "sizes": "f->sizes", "dtype": "WICK_FLOAT32"},
    "wick_tensor_borrow": {"ndim": "1", "sizes": "f->sizes", "dtype": "WICK_FLOAT32", "data": "f->memory", "strides": "NULL", "drop": "drop"},
    "wick_tensor_from_dlpack": {"managed": "f->managed"},
    "wick_backward": {"outputs": "f->losses", "count": "1", "grads": "f->gradients"},
    "wick_grad": {"outputs": "f->losses", "count": "1", "grads": "f->gradients", "inputs": "f->leaves", "input_count": "1", "out": "f->results"},
    "wick_tensor_add_hook": {"tensor": "f->leaf", "hook": "hook", "drop": "drop"},
    "wick_tensor_clear_hooks": {"tensor": "f->leaf"},
    "wick_record": {"backward": "backward", "drop": "drop", "inputs": "f->leaves", "input_count": "1", "outputs": "f->tensors", "output_count": "1"},
    "wick_tensor_set_grad": {"tensor": "f->leaf", "grad": "f->tensor"},
    "wick_value_ints": {"items": "f->sizes", "count": "1"},
    "wick_value_doubles": {"items": "f->doubles", "count": "1"},
    "wick_generator_seed": {"generator": "f->generator"},
    "wick_generator_set_seed": {"generator": "f->generator"},
    "wick_generator_state": {"generator": "f->generator", "bytes": "f->state_bytes"},
    "wick_generator_set_state": {"generator": "f->generator", "bytes": "f->state_bytes", "count": "sizeof f->state_bytes"},
    "wick_overload_first": {"name": '"aten::add"'},
    "wick_overload_call": {"arguments": "f->three", "count": "3", "results": "f->results", "result_count": "1"},
    "wick_tensor_set_requires_grad": {"tensor": "f->tensor", "wanted": "1"},
    "wick_run": {"method": '"add"', "arguments": "f->two", "count": "2", "names": "f->names", "named_count": "1"},
    "wick_function_of": {"method": '"add"'},
    "wick_function_run": {"arguments": "f->two", "count": "2", "names": "f->names", "named_count": "1"},
    "wick_function_run_into": {"arguments": "f->two", "count": "2", "names": "f->names", "named_count": "1", "outputs": "(wick_value *const[]){f->tensor}", "output_count": "1"},
    "wick_prepare": {"method": '"add"', "arguments": "f->two", "count": "2", "names": "f->names", "named_count": "1"},
    "wick_list_append": {"list": "f->list", "item": "f->tensor"},
    "wick_list_set": {"list": "f->list", "item": "f->tensor"},
    "wick_list_remove": {"list": "f->list"},
    "wick_dict_set": {"dict": "f->dict", "key": "f->text", "value": "f->tensor"},
    "wick_dict_remove": {"dict": "f->dict", "key": "f->text"},
    "wick_object_set": {"object": "f->object", "name": '"training"', "value": "f->number"},
    "wick_tensor_copy_from": {"data": "f->memory", "bytes": "4"},
    "wick_tensor_copy_to": {"data": "f->memory", "bytes": "4"},
    "wick_save_value": {"value": "f->dict", "path": "f->saved_path"},
    "wick_module_new": {"class_name": '"Net"', "attributes": "f->attributes", "count": "1"},
    "wick_object_new": {"program": "f->classes", "class_name": '"Point"', "names": "f->field", "values": "f->numbers", "count": "1"},
    "wick_module_of_object": {"object": "f->object"},
    "wick_enum_value": {"program": "f->classes", "class_name": '"Color"', "member": '"RED"'},
    "wick_module_set_extra_file": {"module": "f->loaded", "name": '"notes"', "data": '"text"', "length": "4"},
    "wick_trees_add_text": {"text": '"x = 2\\n"', "length": "6", "first_line": "3"},
    "wick_module_clone": {"module": "f->loaded"},
    "wick_module_get": {"module": "f->loaded", "path": '"training"'},
    "wick_module_set": {"module": "f->loaded", "path": '"training"', "value": "f->number"},
    "wick_module_parameters": {"module": "f->loaded"},
    "wick_module_zero_grad": {"module": "f->loaded"},
    "wick_optimizer_new": {"parameters": "f->list", "options": "&(wick_optimizer_options){.size = sizeof(wick_optimizer_options), .algorithm = WICK_ADAM, .rate = 1}"},
    "wick_optimizer_set_rate": {"rate": "0.5"},
    "wick_run_async": {"method": '"add"', "arguments": "f->two", "count": "2", "names": "f->names", "named_count": "1"},
    "wick_future_then": {"callback": "then"},
    "wick_op_call": {"name": '"aten::add"', "overload": '"Tensor"', "arguments": "f->two", "count": "2", "names": "f->other_name", "named_count": "1"},
    "wick_op_call_with": {"name": '"aten::add"', "overload": '"Tensor"', "arguments": "f->two", "count": "2", "names": "f->other_name", "named_count": "1"},
    "wick_trace_begin": {"inputs": "f->texts", "count": "1"},
    "wick_trace_enter": {"submodule": '"sub"'},
    "wick_op_exists": {"name": '"aten::add"'},
    "wick_op_register": {"schema": "f->schema", "kernel": "kernel"},
    "wick_load_library": {"path": "f->library"},
    "wick_library_find": {"name": '"nothing"'},
    "wick_set_automatic_libraries": {"on": "1"},
    "wick_operators_register": {"operators": "&f->operator", "count": "1"},
    "wick_class_register": {"of": "&f->class_of"},
    "wick_device_register": {"device": "&f->device"},
    "wick_device_kernels_register": {"device_type": "23", "kernels": "&f->device_kernel", "count": "1"},
    "wick_backend_register": {"backend": "&f->backend"},
    "wick_call_operator": {"name": '"aten::relu"', "overload": '""', "arguments": "f->tensors", "count": "1"},
    "wick_call_parallel": {"n": "1", "grain": "1", "body": "part", "arg": "NULL"},
    "wick_native_set": {"object": "f->native", "name": "CLASS_NAME", "data": "NULL", "drop": "drop"},
    "wick_native_new": {"name": "CLASS_NAME", "data": "NULL", "drop": "drop"},
    "wick_native_data": {"object": "f->native", "name": "CLASS_NAME", "out_data": "&f->out.data"},
    "wick_call_set_result": {"value": "f->tensor"},
    "wick_module_schema": {"method": '"add"'},
    "wick_module_signature": {"method": '"add"'},
    "wick_module_method_count": {},
    "wick_graph_parse": {"text": "f->ir", "length": "strlen(f->ir)"},
    "wick_graph_of_method": {"method": '"add"'},
    "wick_graph_of_node": {"node": "f->group"},
    "wick_graph_run_pass": {"pass": '"dead_code_elimination"'},
    "wick_profile_print": {"format": "WICK_PROFILE_TABLE"},
    "wick_graph_run": {"graph": "f->plain", "call": "NULL", "arguments": "f->tensors", "count": "1", "results": "f->results", "result_count": "1"},
    "wick_graph_rewrite": {"pattern": "f->ir", "replacement": "f->ir"},
    "wick_block_add_input": {"type": '"Tensor"'},
    "wick_node_new": {"before": "f->node", "kind": '"aten::relu"', "inputs": "f->ir_values", "input_count": "1", "output_count": "1"},
    "wick_node_insert": {"before": "f->node", "name": '"aten::relu"', "inputs": "f->ir_values", "count": "1", "names": '(const char *const[]){"self"}', "named_count": "1"},
    "wick_block_insert_constant": {"before": "f->node", "value": "f->number"},
    "wick_node_named_input": {"name": '"self"'},
    "wick_alias_move_before": {"node": "f->node", "before": "f->node"},
    "wick_node_insert_constant": {"before": "f->node", "value": "f->number"},
    "wick_node_set_input": {"node": "f->node", "value": "f->ir_value"},
    "wick_node_move_before": {"before": "f->node"},
    "wick_node_destroy": {"node": "f->unused"},
    "wick_node_group": {"nodes": "f->nodes", "count": "1", "kind": '"mine::group"'},
    "wick_node_attribute": {"name": '"value"'},
    "wick_node_set_attribute": {"name": '"value"', "value": "f->number"},
    "wick_ir_value_size": {"out": "&f->out.whole"},
    "wick_ir_value_set_type": {"type": '"Tensor"'},
    "wick_ir_value_replace": {"with": "f->ir_value"},
    "wick_graph_of_attribute": {"node": "f->group", "name": '"Subgraph"'},
    "wick_graph_compile": {"graph": "f->plain", "name": '"f"'},
    "wick_node_create": {"kind": '"aten::relu"', "inputs": "f->ir_values", "input_count": "1", "output_count": "1"},
    "wick_node_place_in": {"before": "f->node"},
    "wick_node_insert_input": {"index": "1"},
    "wick_node_insert_output": {"index": "1"},
    "wick_node_erase_output": {"node": "f->unused"},
    "wick_ir_value_set_name": {"name": '"other"'},
    "wick_ir_value_replace_after": {"after": "f->node", "with": "f->ir_value"},
    "wick_graph_insert_graph": {"before": "f->node", "graph": "f->plain", "inputs": "f->ir_values", "count": "1", "outputs": "&f->out.ir_value", "output_count": "1"},
    "wick_type_is_subtype": {"type": '"Tensor"', "of": '"Tensor?"'},
    "wick_node_attribute_kind": {"name": '"Subgraph"'},
    "wick_node_set_graph": {"node": "f->group", "name": '"Subgraph"', "graph": "f->plain"},
    "wick_node_set_type": {"name": '"kind"', "type": '"Tensor"'},
    "wick_node_remove_attribute": {"node": "f->group", "name": '"Subgraph"'},
    "wick_alias_move_after": {"node": "f->node", "after": "f->node"},
    "wick_pass_register": {"name": "f->pass_name", "pass": "pass"},
    "wick_pass_remove": {"name": "f->known_pass"},
    "wick_pass_may_rewrite": {"name": '"none"'},
    "wick_operation_register": {"schema": "f->schema", "factory": "factory"},
}
BY_TYPE = {
    "wick_runtime *": "f->runtime", "wick_module *": "f->module", "const wick_module *": "f->module", "wick_value *": "f->tensor",
    "const wick_value *": "f->tensor", "wick_cancel *": "f->cancel", "wick_profile *": "f->profile", "const wick_profile *": "f->profile", "wick_future *": "f->future", "const wick_future *": "f->future",
    "const wick_error *": "f->failure", "const wick_function *": "f->function", "wick_function *": "f->function", "wick_function **": "&f->out.function",
    "wick_optimizer *": "f->optimizer", "wick_optimizer **": "&f->out.optimizer", "wick_archive *": "f->archive_file", "const wick_archive *": "f->archive_file", "wick_archive **": "&f->out.archive", "wick_file_kind *": "&f->out.kind",
    "wick_tensor_spec *": "&f->out.spec", "wick_trees *": "f->trees", "const wick_trees *": "f->trees", "const wick_tree *": "f->tree", "wick_call *": "f->call",
    "const wick_call *": "f->call", "wick_graph *": "f->graph", "const wick_graph *": "f->graph", "wick_block *": "f->block",
    "const wick_block *": "f->block", "wick_node *": "f->node", "const wick_node *": "f->node", "wick_ir_value *": "f->ir_value",
    "const wick_ir_value *": "f->ir_value", "wick_value **": "&f->out.value", "wick_module **": "&f->out.module", "char **": "&f->out.text",
    "wick_future **": "&f->out.future", "wick_runtime **": "&f->out.runtime", "wick_trees **": "&f->out.trees", "const wick_tree **": "&f->out.tree",
    "wick_alias *": "f->alias", "wick_alias **": "&f->out.alias", "int *": "&f->out.integer", "uint32_t *": "&f->out.number32", "wick_source_place *": "&f->out.place", "wick_inlined_call *": "&f->out.inlined",
    "wick_tensor_facts *": "&f->out.facts", "wick_graph **": "&f->out.graph", "wick_node **": "&f->out.node", "wick_block **": "&f->out.block", "wick_ir_value **": "&f->out.ir_value", "size_t *": "&f->out.length",
    "double *": "&f->out.number", "struct DLManagedTensor **": "&f->out.managed", "wick_stats *": "&f->out.stats", "wick_memory *": "&f->out.memory", "wick_tensor_view *": "&f->out.view", "wick_quantizer *": "&f->out.quantizer",
    "wick_promise *": "f->no_promise", "wick_promise **": "&f->out.promise", "const wick_overload *": "f->overload", "wick_parameter *": "&f->out.parameter", "wick_tensor_info *": "&f->out.info", "wick_value_info *": "&f->out.value_info", "wick_signature *": "f->signature", "const wick_signature *": "f->signature", "wick_signature **": "&f->out.signature", "uint64_t *": "&f->out.number64",
    "wick_error **": "&f->error", "void *": "NULL", "const char *": '"text"', "char *": "NULL",
    "wick_status": "WICK_RUNTIME", "uint32_t": "0", "int32_t": "0", "int64_t": "1", "uint64_t": "0", "size_t": "0", "int": "0", "double": "1",
}
# What a call gives up or ends: the fixture must not release it again.
TAKES = {"wick_value_release": "tensor", "wick_module_release": "module", "wick_runtime_release": "runtime", "wick_trees_release": "trees", "wick_archive_release": "archive_file",
         "wick_graph_release": "graph", "wick_alias_release": "alias", "wick_cancel_release": "cancel", "wick_profile_release": "profile", "wick_signature_release": "signature", "wick_future_release": "future", "wick_function_release": "function", "wick_optimizer_release": "optimizer", "wick_tensor_from_dlpack": "managed"}

# Without a good call here: they fail as with everything right but what it names.
FAILS = {"wick_node_inlined_call", "wick_node_erase_block", "wick_graph_of_plan", "wick_node_attribute_type", "wick_load_library", "wick_library_find", "wick_call_tensor", "wick_call_operator", "wick_call_poll",
         "wick_call_promise", "wick_promise_keep",
         # they would stay
         "wick_device_register", "wick_device_kernels_register", "wick_backend_register",
         # nobody traces
         "wick_trace_begin", "wick_trace_end", "wick_trace_enter", "wick_trace_leave", "wick_trace_size", "wick_trace_numel", "wick_trace_fork",
         "wick_trace_join", "wick_trace_wait"}

def prototypes(path):
    text = re.sub(r"/\*.*?\*/", "", open(path).read(), flags=re.S)
    for returns, name, parameters in re.findall(r"^WICK_API\s+([\w\s]+?[\s*]+)(wick_\w+)\(([^;]*)\);", text, flags=re.M):
        yield " ".join(returns.split()), name, [] if parameters.strip() == "void" else [parameter(p) for p in split(" ".join(parameters.split()))]

def split(text):
    parts, depth = [""], 0
    for c in text:
        depth += (c == "(") - (c == ")")
        if c == "," and not depth:
            parts.append("")
        else:
            parts[-1] += c
    return [p.strip() for p in parts]

def parameter(text):
    nullable = "WICK_NULLABLE" in text
    text = " ".join(text.replace("WICK_NULLABLE", " ").split())
    pointer = re.match(r"(.*)\(\* ?(\w+)\)(\(.*\))$", text)
    if pointer:
        return f"{pointer[1]}(*){pointer[3]}", pointer[2], nullable
    kind, name = re.match(r"(.*?)(\w+)$", text).groups()
    return re.sub(r"\s*\*\s*", " *", kind.strip()).replace("* *", "**").strip(), name, nullable

def value(function, kind, name):
    known = BY_FUNCTION.get(function, {})
    if name in known:
        return known[name]
    options = re.match(r"const (wick_\w+_options) \*$", kind)
    if options:
        return f"&({options[1]}){{.size = sizeof({options[1]})}}"
    if kind in BY_TYPE:
        return BY_TYPE[kind]
    sys.exit(f"null_calls.py: {function}: what is a good value for {kind} {name}?")

def may_be_null(function, kind, name, nullable):
    takes_null = function.endswith(("_free", "_release", "_retain"))
    return nullable or takes_null or kind in ("wick_runtime *", "wick_error **") or (kind == "void *" and (name in ("user", "arg") or function.startswith("wick_native_")))

def unset(kind):
    options = re.match(r"(?:const )?(wick_(?:\w+_options|stats|tensor_view|quantizer|source_place|inlined_call|tensor_facts|tensor_info|value_info|parameter|operator|class|file_kind)) \*$", kind)
    return options and f"&({options[1]}){{0}}"

count = 0
for header in sys.argv[1:]:
    for returns, function, parameters in prototypes(header):
        values = [value(function, kind, name) for kind, name, _ in parameters]
        def call(changed=None, by=None):
            return f"{function}({', '.join(by if i == changed else v for i, v in enumerate(values))})"
        def emit(macro, name, changed=None, by=None):
            print(f'{macro}("{function}", "{name}", {TAKES.get(function, "nothing")}, {call(changed, by)})')
        form = "FAILS" if function in FAILS else "STATUS" if returns == "wick_status" and function != "wick_error_status" else "VOID" if returns == "void" else "POINTER" if "*" in returns else "NUMBER"
        emit(f"GOOD_{form}", "")
        for i, (kind, name, nullable) in enumerate(parameters):
            if "*" not in kind:
                continue
            if may_be_null(function, kind, name, nullable):
                emit(f"NULLABLE_{form}", name, i, "NULL")
            else:
                emit(f"NULL_{form}", name, i, "NULL")
            if unset(kind):
                emit(f"UNSET_{form}", name, i, unset(kind))
        count += 1
print(f"enum {{ FUNCTIONS = {count} }};")

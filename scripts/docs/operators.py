"""The page of operators: every overload that the library has, by name."""
import ctypes


def overloads(library):
    wick = ctypes.CDLL(library)
    wick.wick_overload_following.restype = ctypes.c_void_p
    wick.wick_overload_following.argtypes = [ctypes.c_void_p]
    wick.wick_overload_schema.argtypes = [ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p), ctypes.c_void_p]
    wick.wick_text_free.argtypes = [ctypes.c_void_p]
    overload = None
    while overload := wick.wick_overload_following(overload):
        text = ctypes.c_void_p()
        if wick.wick_overload_schema(overload, ctypes.byref(text), None):
            raise MemoryError
        yield ctypes.string_at(text).decode()
        wick.wick_text_free(text)


def page(library):
    schemas = sorted(set(overloads(library)), key=lambda schema: schema.split("(")[0].lower())
    groups = {}
    for schema in schemas:
        namespace, name = schema.split("::", 1)
        letter = name.lstrip("_")[:1].upper()
        groups.setdefault(namespace if namespace != "aten" else f"aten, {letter}", []).append(schema)
    text = f"# Operators\n\nThe {len(schemas)} overloads of this build's operators, with their schemas. "
    text += "`wick ops MODEL` says which of them a program uses, and which it lacks.\n"
    for group in sorted(groups, key=lambda name: (not name.startswith("aten"), name)):
        text += f"\n## {group}\n\n```text\n" + "\n".join(groups[group]) + "\n```\n"
    return text

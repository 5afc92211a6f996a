/* Forms of operators for other kinds of tensors, by name. */
#include "call/kind_form.h"

const KindForm *kind_form_find(const KindForms *const *tables, Str name, Str overload) {
  for (const KindForms *const *table = tables; table && *table; table++)
    for (size_t i = 0; i < (*table)->count; i++) {
      Str form = str_from((*table)->rows[i].name);
      if (form.length < name.length || memcmp(form.data, name.data, name.length) != 0) continue;
      Str rest = str_slice(form, name.length, form.length);
      bool same = overload.length ? rest.length == overload.length + 1 && rest.data[0] == '.' &&
                                        memcmp(rest.data + 1, overload.data, overload.length) == 0
                                  : rest.length == 0;
      if (same) return &(*table)->rows[i];
    }
  return NULL;
}

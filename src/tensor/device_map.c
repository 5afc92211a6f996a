/* Reading device maps. They are short and seldom asked: every question reads the text again. */
#include "tensor/device_map.h"

#include "tensor/device_class.h"

bool device_is_there(Device device) {
  const DeviceClass *class = device_class(device.type);
  return device.type == DEVICE_CPU || device.type == DEVICE_META || (class && device.index < class->count);
}

/* What its library says comes last: that it is not installed, or what it lacks. */
Status device_is_missing(Device device) {
  StrBuf name = {.max_length = 40}, reason = {.max_length = 1000};
  const char *why_not = device_class(device.type) ? "" : device_library_try(device.type);
  device_print(device, &name);
  if (*why_not) strbuf_printf(&reason, "; library libwick_%s: %s", device_type_name(device.type), why_not);
  Status status = status_new(ERROR_RUNTIME,
                             "there is no device '" STR_FMT
                             "' here: wick computes on cpu (a device map such as \"*=cpu\", given when the program is "
                             "loaded, puts its tensors there)" STR_FMT,
                             STR_ARG(strbuf_view(&name)), STR_ARG(strbuf_view(&reason)));
  strbuf_dispose(&reason);
  strbuf_dispose(&name);
  return status;
}

static Str trimmed(Str s) {
  while (s.length && s.data[0] == ' ') s = str_slice(s, 1, s.length);
  while (s.length && s.data[s.length - 1] == ' ') s.length--;
  return s;
}

/* The next FROM=TO; false at the end. `to` without data: it has no "=". */
static bool next_entry(Str *rest, Str *from, Str *to) {
  if (!rest->length) return false;
  ptrdiff_t comma = str_find_char(*rest, ',');
  Str entry = comma < 0 ? *rest : str_slice(*rest, 0, (size_t)comma);
  *rest = comma < 0 ? STR("") : str_slice(*rest, (size_t)comma + 1, rest->length);
  ptrdiff_t equals = str_find_char(entry, '=');
  *from = trimmed(equals < 0 ? entry : str_slice(entry, 0, (size_t)equals));
  *to = equals < 0 ? (Str){0} : trimmed(str_slice(entry, (size_t)equals + 1, entry.length));
  return true;
}

Status device_map_check(const char *text) {
  Str rest = str_from(text ? text : ""), from, to;
  while (next_entry(&rest, &from, &to)) {
    Device target;
    if (!to.data) return status_new(ERROR_INVALID_ARGUMENT, "device map: '" STR_FMT "' is not FROM=TO", STR_ARG(from));
    TRY(device_parse(to, &target));
    if (target.type != DEVICE_CPU)
      return status_new(ERROR_INVALID_ARGUMENT, "device map: wick has no device '" STR_FMT "' to map '" STR_FMT "' to",
                        STR_ARG(to), STR_ARG(from));
  }
  return OK;
}

/* The target of the most exact entry, of no length where there is none. */
static Str find_target(const DeviceMap *map, Str name, bool is_there) {
  Str rest = str_from(map && map->text ? map->text : ""), from, to, best = STR("");
  ptrdiff_t colon = str_find_char(name, ':');
  Str type = colon > 0 ? str_slice(name, 0, (size_t)colon) : name;
  int best_rank = 0; /* 1: "*", 2: the type, 3: all of the name */
  while (next_entry(&rest, &from, &to)) {
    int rank = str_equal(from, name) ? 3 : str_equal(from, type) ? 2 : str_is(from, "*") && !is_there ? 1 : 0;
    if (rank > best_rank) best_rank = rank, best = to;
  }
  return best;
}

/* false: nothing stands for the name. */
static bool replace(DeviceMap *map, Str name, bool is_there, Device *out) {
  Str target = find_target(map, name, is_there);
  if (!target.length) return false;
  Status status = device_parse(target, out); /* checked before */
  status_free(status);
  return status == OK;
}
static void note(DeviceMap *map, Device from, Device to) {
  if (from.type != to.type) atomic_fetch_or(&map->replaced, 1u << (from.type & 31));
}

Device device_map_apply(DeviceMap *map, Device device) {
  StrBuf name = {.max_length = 40};
  Device to = device;
  if (!map || !map->text) return device;
  device_print(device, &name);
  if (replace(map, strbuf_view(&name), device_is_there(device), &to)) note(map, device, to);
  strbuf_dispose(&name);
  return to;
}

Status device_map_location(DeviceMap *map, Str location, Device *out) {
  Device named;
  Status unknown = device_parse(location, &named);
  bool is_there = !unknown && (named.type == DEVICE_CPU || named.type == DEVICE_META);
  *out = named;
  if (replace(map, location, is_there, out)) {
    if (!unknown) note(map, named, *out);
    status_free(unknown);
    return OK;
  }
  if (is_there || unknown) return unknown;
  return status_new(ERROR_UNSUPPORTED,
                    "the archive has tensors on device '" STR_FMT
                    "' (a device map such as \"*=cpu\" puts them elsewhere)",
                    STR_ARG(location));
}

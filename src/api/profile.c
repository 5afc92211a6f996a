/* wick_profile: a counted OpProfile. */
#include "api/handles.h"
#include "interp/op_profile.h"

wick_profile *wick_profile_new(void) {
  wick_profile *profile = mem_calloc(1, sizeof *profile);
  if (!profile) return NULL;
  ref_init(&profile->refs);
  profile->profile = op_profile_new();
  if (profile->profile) return profile;
  mem_free(profile);
  return NULL;
}

void wick_profile_release(wick_profile *profile) {
  if (!profile || !ref_release(&profile->refs)) return;
  op_profile_free(profile->profile);
  mem_free(profile);
}

static Status print_as(OpProfile *profile, uint32_t format, StrBuf *out) {
  switch (format) {
    case WICK_PROFILE_TABLE:
      return op_profile_print_table(profile, out);
    case WICK_PROFILE_JSON:
      return op_profile_print_json(profile, out);
    case WICK_PROFILE_TRACE:
      return op_profile_print_trace(profile, out);
    case WICK_PROFILE_FOLDED:
      return op_profile_print_folded(profile, out);
    case WICK_PROFILE_BY_OPERATOR:
    case WICK_PROFILE_BY_MODULE:
    case WICK_PROFILE_BY_SOURCE:
      return op_profile_print_sums(profile, (OpProfileGroup)(format - WICK_PROFILE_BY_OPERATOR), out);
    default:
      return status_new(ERROR_INVALID_ARGUMENT, "wick_profile_print: format %u", format);
  }
}

wick_status wick_profile_print(const wick_profile *profile, uint32_t format, char **out_text, wick_error **error) {
  StrBuf text = {0};
  API_OUT(out_text);
  API_NEED(profile);
  Status status = print_as(profile->profile, format, &text);
  if (!status) status = strbuf_take(&text, out_text);
  strbuf_dispose(&text);
  return api_status(status, error);
}

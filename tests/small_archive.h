/* Archives of a text and two pickles, for tests that need code as no printer writes it. Include after cmocka.h. */
#pragma once

#include "zip_writer.h"

static void add_bytes(Packed *zip, const char *name, const void *content, size_t length) {
  Bytes bytes = {0};
  put(&bytes, content, length);
  pack_record(zip, name, strlen(name), &bytes);
  free(bytes.data);
}

static Bytes archive_of(const char *code, const char *pickle, size_t pickle_length, const char *constants,
                        size_t constants_length) {
  Packed zip = {0};
  add_bytes(&zip, "m/version", "3\n", 2);
  add_bytes(&zip, "m/code/__torch__.py", code, strlen(code));
  add_bytes(&zip, "m/constants.pkl", constants, constants_length);
  add_bytes(&zip, "m/data.pkl", pickle, pickle_length);
  pack_finish(&zip);
  return zip.file;
}

/* An object of __torch__.M without attributes, and constants that are none. */
static const char plain_object[] =
    "\x80\x02"
    "c__torch__\nM\n)\x81}b.";
static const char no_constants[] = "\x80\x02).";

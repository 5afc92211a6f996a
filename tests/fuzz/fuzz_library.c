/* Fuzz target: states of the native classes that libraries bring, as fuzz_native.h has them. The library is a part of
 * the program here, so that what it does is seen. */
#include "fuzz_native.h"

#include "wick/library.h"

#define A40 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define WORDS "[\"a\", \"<unk>\", \"\", \"b c\"]"

static const NativeProgram programs[] = {
    {"torchtext.Vocab",
     RUNS("length", "torch.tensor((self.p).__len__())") RUNS("contains", "torch.tensor((self.p).__contains__(\"a\"))")
         RUNS("get", "torch.tensor((self.p).__getitem__(\"nothing\"))")
             RUNS("look", "torch.tensor((self.p).lookup_indices(" WORDS "))")
                 RUNS("tokens", "torch.tensor(torch.len((self.p).lookup_tokens([0, 1, 2])))")
                     RUNS("token", "torch.tensor(torch.len((self.p).lookup_token(-1)))")
                         METHOD("all",
                                "    t = (self.p).get_itos()\n"
                                "    d = (self.p).get_stoi()\n"
                                "    return torch.tensor([torch.len(t), torch.len(d)])\n")
                             METHOD("grow",
                                    "    p = self.p\n"
                                    "    _0 = (p).set_default_index(5)\n"
                                    "    _1 = (p).append_token(\"last\")\n"
                                    "    _2 = (p).insert_token(\"first\", 0)\n"
                                    "    return torch.tensor((p).__getitem__(\"last\"))\n")
                                 METHOD("again",
                                        "    p = self.p\n"
                                        "    state = (p).__getstate__()\n"
                                        "    _0 = (p).__setstate__(state)\n"
                                        "    return torch.tensor((p).__len__())\n")},
    {"torchtext.RegexTokenizer",
     RUNS("plain", "torch.tensor(torch.len((self.p).forward(\"It's 1.5 <br /> OF\\tit!\")))")
         RUNS("empty", "torch.tensor(torch.len((self.p).forward(\"\")))")
             RUNS("same", "torch.tensor(torch.len((self.p).forward(\"" A40 A40 A40 "b\")))")
                 RUNS("bytes", "torch.tensor(torch.len((self.p).forward(\"\\303\\274 \\377\\n\\342\\202\")))")
                     METHOD("again",
                            "    p = self.p\n"
                            "    state = (p).__getstate__()\n"
                            "    _0 = (p).__setstate__(state)\n"
                            "    return torch.tensor(torch.len((p).forward(\"a b\")))\n")},
};

wick_status wick_library_init(wick_error **error);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static bool is_open;
  if (!is_open && wick_library_init(NULL)) abort();
  is_open = true;
  return fuzz_native(programs, sizeof programs / sizeof *programs, data, size);
}

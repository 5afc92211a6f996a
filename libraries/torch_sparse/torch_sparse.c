/* torch_sparse: products of sparse matrices in compressed rows (https://github.com/rusty1s/pytorch_sparse has the
 * operators' meanings), in TorchScript over the segments of torch_scatter, which this library opens: so every gradient,
 * also of gradients, follows from theirs. Of what prepares data there is what needs no graph partitioning or sampling;
 * the rest says so. */
#include "kit/kit.h"

/* user: the name */
static wick_status kernel_missing(void *user, wick_call *call, wick_error **error) {
  (void)call;
  return fail(error, WICK_UNSUPPORTED, "wick's library torch_sparse does not have %s", (const char *)user);
}

/* mat's rows that the columns name, times the values: a line for each entry of the matrix */
#define ENTRIES                                 \
  "entries = mat.index_select(-2, col)\n"       \
  "if value is not None:\n"                     \
  "  entries = entries * value.unsqueeze(-1)\n" \
  "pointers = rowptr\n"                         \
  "for i in range(mat.dim() - 2):\n"            \
  "  pointers = pointers.unsqueeze(0)\n"
#define MEAN_ARGUMENTS                                                                                                \
  "Tensor? row, Tensor rowptr, Tensor col, Tensor? value, Tensor? rowcount, Tensor? colptr, Tensor? csr2csc, Tensor " \
  "mat"
#define MISSING(name, rest) OPERATOR("torch_sparse::" name rest, .kernel = kernel_missing, .user = name)

static const wick_operator operators[] = {
    OPERATOR("torch_sparse::cuda_version() -> int", .kernel = kernel_cuda_version),
    /* sorted indices of rows as pointers to where each of M rows begins, and back for E entries */
    OPERATOR("torch_sparse::ind2ptr(Tensor ind, int M) -> Tensor", .flags = WICK_OPERATOR_NOT_DIFFERENTIABLE,
             .body = "return torch.searchsorted(ind, torch.arange(M + 1))\n"),
    OPERATOR("torch_sparse::ptr2ind(Tensor ptr, int E) -> Tensor", .flags = WICK_OPERATOR_NOT_DIFFERENTIABLE,
             .body = "return torch.searchsorted(ptr, torch.arange(E), right=True) - 1\n"),

    OPERATOR("torch_sparse::spmm_sum(Tensor? row, Tensor rowptr, Tensor col, Tensor? value, Tensor? colptr, Tensor? "
             "csr2csc, Tensor mat) -> Tensor",
             .body = ENTRIES "return torch.ops.torch_scatter._segment_sum_csr(entries, pointers)\n"),
    OPERATOR("torch_sparse::spmm_mean(" MEAN_ARGUMENTS ") -> Tensor",
             .body = ENTRIES "return torch.ops.torch_scatter._segment_mean_csr(entries, pointers)\n"),
    OPERATOR("torch_sparse::spmm_min(Tensor rowptr, Tensor col, Tensor? value, Tensor mat) -> (Tensor, Tensor)",
             .body = ENTRIES "return torch.ops.torch_scatter._segment_min_csr(entries, pointers)\n"),
    OPERATOR("torch_sparse::spmm_max(Tensor rowptr, Tensor col, Tensor? value, Tensor mat) -> (Tensor, Tensor)",
             .body = ENTRIES "return torch.ops.torch_scatter._segment_max_csr(entries, pointers)\n"),

    MISSING("partition", "(Tensor rowptr, Tensor col, Tensor? value, int num_parts, bool recursive) -> Tensor"),
    MISSING("partition2",
            "(Tensor rowptr, Tensor col, Tensor? value, Tensor? node_weight, int num_parts, bool recursive) -> Tensor"),
    MISSING("mt_partition",
            "(Tensor rowptr, Tensor col, Tensor? value, Tensor? node_weight, int num_parts, bool "
            "recursive, int num_workers) -> Tensor"),
    MISSING("relabel", "(Tensor col, Tensor idx) -> (Tensor, Tensor)"),
    MISSING(
        "relabel_one_hop",
        "(Tensor rowptr, Tensor col, Tensor? value, Tensor idx, bool bipartite) -> (Tensor, Tensor, Tensor?, Tensor)"),
    MISSING("random_walk", "(Tensor rowptr, Tensor col, Tensor start, int walk_length) -> Tensor"),
    MISSING("saint_subgraph", "(Tensor idx, Tensor rowptr, Tensor row, Tensor col) -> (Tensor, Tensor, Tensor)"),
    MISSING("sample_adj",
            "(Tensor rowptr, Tensor col, Tensor idx, int num_neighbors, bool replace) -> (Tensor, "
            "Tensor, Tensor, Tensor)"),
    MISSING("spspmm_sum",
            "(Tensor rowptrA, Tensor colA, Tensor? valueA, Tensor rowptrB, Tensor colB, Tensor? valueB, "
            "int K) -> (Tensor, Tensor, Tensor?)"),
};

WICK_API wick_status wick_library_init(wick_error **error) {
  TRY(wick_load_library("torch_scatter", error));
  return wick_operators_register(operators, COUNT(operators), error);
}

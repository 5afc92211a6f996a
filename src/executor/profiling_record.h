/* ProfilingRecord: what the runs of a graph have shown of its tensors.
 *
 *   profiling_record_new(graph, runs, before, &record)  puts prim::profile before every use of a tensor
 *   profiling_record_begin(record)                   a ProfileRun for one run of the instrumented graph, written by the
 *                                                    interpreter (prim::profile compiles to profile_observe)
 *   profiling_record_end(record, run, completed)     merged; the run is kept for the next one
 *   profiling_record_await_state(record, run)        one run more, if the next one is going to see other state
 *   profiling_record_is_ready(record)                enough runs have returned
 *   profiling_record_apply(record, copy)             types on the outputs of the copy's prim::profile nodes
 *
 * Any number of threads may begin and end runs at once. */
#pragma once

#include <pthread.h>

#include "interp/profile.h"
#include "ir/graph.h"

typedef struct ProfilingRecord ProfilingRecord;

/* Puts `%y : Tensor = prim::profile[index=slot](%x)` before every use of a tensor in the graph, its blocks included and
 * subgraphs not, and on the graph's outputs; returns the number of slots. Throws to the graph's catch point. What the
 * graph's Tensor types said before is erased. */
uint32_t instrument_graph(Graph *graph);

/* Instruments the graph; `runs` returned runs make it ready. before: NULL, or the record of a graph that was made in
 * the same way: it goes on, with what was seen, if that has the same slots. */
Status profiling_record_new(Graph *graph, uint32_t runs, ProfilingRecord *before, ProfilingRecord **out) MUST_CHECK;
ProfilingRecord *profiling_record_retain(ProfilingRecord *record);
void profiling_record_release(ProfilingRecord *record); /* NULL is allowed */
uint32_t profiling_record_slots(const ProfilingRecord *record);
/* NULL: no memory; the call then runs without being profiled (prim::profile passes its input on). */
ProfileRun *profiling_record_begin(ProfilingRecord *record);
/* completed: the run returned normally; what a failed one saw is not counted. run may be NULL. */
void profiling_record_end(ProfilingRecord *record, ProfileRun *run, bool completed);
/* As many runs as this have to return once more; what was seen stays. */
void profiling_record_extend(ProfilingRecord *record, uint32_t runs);
/* Of a run that completed, before it ends: true, and one run more is needed, if it is the first that left in an
 * attribute another kind of tensor than it read there, as a network does that begins without a state. The next run will
 * read what this one wrote; a plan that assumes what this one read would fail then. run may be NULL. */
bool profiling_record_await_state(ProfilingRecord *record, const ProfileRun *run);
bool profiling_record_is_ready(const ProfilingRecord *record);
/* Of a ready record: sets the types of the outputs of prim::profile nodes in a copy of the instrumented graph, and
 * attr::profiled_type. Throws to the copy's catch point. */
void profiling_record_apply(ProfilingRecord *record, Graph *copy);

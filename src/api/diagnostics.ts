// `longpole/diagnostics`: callbacks, the progress bar, and the profilers with their plots.
import { type GetOptions, Profiler } from '../diagnostics/profiler.js';
import type { Graph, Keys } from '../protocol/graph.js';

export type { CacheData, CacheMetric, CacheProfilerOptions } from '../diagnostics/cacheProfiler.js';
export { CacheProfiler } from '../diagnostics/cacheProfiler.js';
export type {
  CallbackHooks,
  FinishHook,
  PosttaskHook,
  PretaskHook,
  StartHook,
  StartStateHook,
} from '../diagnostics/callback.js';
export { Callback } from '../diagnostics/callback.js';
export type { CallbackLike, CallbackTuple, TwoCallbacks } from '../diagnostics/callbackObservers.js';
export { withCallbacks } from '../diagnostics/callbackObservers.js';
export { type DiffPageOptions, writeDiffPage } from '../diagnostics/diffPage.js';
export type { ReportOptions } from '../diagnostics/performanceReport.js';
export { hostFacts, writeReport } from '../diagnostics/performanceReport.js';
export type { GetFunction, TaskData } from '../diagnostics/profiler.js';
export type { ProgressBarOptions } from '../diagnostics/progressBar.js';
export { ProgressBar } from '../diagnostics/progressBar.js';
export type { ProgressOutput } from '../diagnostics/progressOutput.js';
export type { ResourceData, ResourceProfilerOptions } from '../diagnostics/resourceProfiler.js';
export { ResourceProfiler } from '../diagnostics/resourceProfiler.js';
export type { VisualizeOptions } from '../diagnostics/visualize.js';
export { visualize } from '../diagnostics/visualize.js';
export { nbytes } from '../graph/sizeOf.js';
export type { RunState } from '../protocol/runObserver.js';
export { Profiler };

/**
 * Profiler of `getThreaded`. Call `await threadProf.get(graph, keys)`, then read the array `threadProf.results` (a
 * method in Dask's first version). The whole program shares this object: results accumulate until `threadProf.clear()`.
 *
 * @source Dask's first diagnostics, `thread_prof`
 */
export const threadProf = new Profiler(
  async (graph: Graph, keys: Keys, options?: GetOptions): Promise<unknown> => {
    const { getThreaded } = await import('./local.js');
    return getThreaded(graph, keys, options);
  },
);

/**
 * Profiler of `getMultiprocessing`; see `threadProf`.
 *
 * @source Dask's first diagnostics, `process_prof`
 */
export const processProf = new Profiler(
  async (graph: Graph, keys: Keys, options?: GetOptions): Promise<unknown> => {
    const { getMultiprocessing } = await import('./local.js');
    return getMultiprocessing(graph, keys, options);
  },
);

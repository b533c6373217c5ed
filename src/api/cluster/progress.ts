// `progress`: a progress bar for futures.
import type { ProgressBarOptions } from '../../diagnostics/progressBar.js';
import { type Future, futureList } from './future.js';

/** Default seconds between two updates. */
const DT = 0.1;

/**
 * Shows a progress bar until all given futures have ended. The bar counts all tasks of their computations; inside a task,
 * it counts the futures. If a future fails, the bar keeps its last state.
 *
 *     await progress(client.map(load, paths));
 *
 * @param options those of `ProgressBar`
 * @returns (resolves) when all futures have ended, with a result, an error, or because they were cancelled
 * @throws (rejects) LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT, and errors of `out`; never the error of a task
 * @source Dask, `distributed.progress`
 */
export async function progress(
  futures: Future<unknown> | Iterable<Future<unknown>>,
  options: ProgressBarOptions = {},
): Promise<void> {
  const list = futureList('progress()', futures);
  const run = new Computations(list);
  const { ProgressBar } = await import('../../diagnostics/progressBar.js');
  const bar = new ProgressBar(options).bar();
  bar.runStarted(run);
  let failure: { readonly error: unknown } | undefined;
  const timer = setInterval(
    () => {
      try {
        bar.progress(run);
      } catch (error) {
        failure ??= { error };
        clearInterval(timer);
      }
    },
    1000 * (options.dt ?? DT),
  );
  try {
    await Promise.all(list.map((future) => future.wait().catch(() => undefined)));
  } finally {
    clearInterval(timer);
    bar.runFinished(
      run,
      list.find(({ status }) => status !== 'finished'),
    );
  }
  if (failure !== undefined) throw failure.error;
}

/** Returns a future as a computation of one task, because only the process of the scheduler knows its computation. */
function segmentOf(future: Future<unknown>): { readonly size: number; readonly unfinished: number } {
  return {
    size: 1,
    get unfinished() {
      return future.done ? 0 : 1;
    },
  };
}

/** The computations of some futures. */
class Computations {
  readonly #segments: readonly { readonly size: number; readonly unfinished: number }[];
  readonly computation: { readonly size: number };

  constructor(futures: readonly Future<unknown>[]) {
    const segments = futures.map((future) => future.handle?.computation.segment ?? segmentOf(future));
    this.#segments = [...new Set(segments)];
    this.computation = { size: this.#segments.reduce((sum, { size }) => sum + size, 0) };
  }

  get finishedCount(): number {
    return this.#segments.reduce((sum, { size, unfinished }) => sum + size - unfinished, 0);
  }
}

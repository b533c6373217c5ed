// Builds pages of runs on workers for tests. Each key is a task; its prefix is the key up to the first dash.
import type { SectionPage } from './sections.js';

export interface SampleRun {
  readonly key: string;
  readonly worker: number;
  readonly start: number;
  readonly stop: number;
}

/** Returns the page. With `cached`, a CacheProfiler counted each result from the start to the stop of its task. */
export function pageOfRuns(
  runs: readonly SampleRun[],
  workers: readonly string[],
  cached = false,
): SectionPage {
  const keys = [...new Set(runs.map(({ key }) => key))];
  const prefixOf = (key: string): string => key.split('-')[0]!;
  const prefixes = [...new Set(keys.map(prefixOf))];
  const start = Float64Array.from(runs, (run) => run.start);
  const stop = Float64Array.from(runs, (run) => run.stop);
  const task = Uint32Array.from(runs, ({ key }) => keys.indexOf(key));
  const prefix = Uint32Array.from(keys, (key) => prefixes.indexOf(prefixOf(key)));
  const stays = {
    metricName: 'count',
    task: Int32Array.from(task),
    prefix: task.map((row) => prefix[row]!),
    cacheTime: start,
    freeTime: stop,
    metric: start.map(() => 1),
  };
  return {
    title: 'sample',
    workers,
    tasks: { keys, prefix, prefixes, texts: [] },
    stream: { task, worker: Uint32Array.from(runs, ({ worker }) => worker), start, stop },
    caches: cached ? [stays] : [],
  };
}

// Builds pages of runs on workers for tests. Each key is a task; its prefix is the key up to the first dash.
import { assignColors } from './palette.js';
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
  const slots = assignColors(prefixes);
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
    workers: workers.map((name) => ({
      name,
      life: { start: Number.NEGATIVE_INFINITY, stop: Number.POSITIVE_INFINITY },
    })),
    tasks: { keys, prefix, texts: [] },
    prefixes: prefixes.map((name, index) => ({ name, slot: slots[index]! })),
    stream: { task, worker: Uint32Array.from(runs, ({ worker }) => worker), start, stop },
    isActivity: () => false,
    partial: [],
    caches: cached ? [stays] : [],
    fallback: () => ({ start: 0, stop: 1 }),
  };
}

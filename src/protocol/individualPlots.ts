// Paths of Dask's dashboard that Longpole's dashboard answers, too: pages, and plots that are shown alone.

/** Addresses within the dashboard, by the paths of the pages of Dask's dashboard without the first slash. */
export const DASK_PAGES: ReadonlyMap<string, string> = new Map([
  ['status', 'status'],
  ['workers', 'workers'],
  ['tasks', 'stream'],
  ['system', 'system'],
  ['gpu', 'system'],
  ['profile', 'profile'],
  ['profile-server', 'profile?of=scheduler'],
  ['graph', 'graph'],
  ['groups', 'groups'],
  ['exceptions', 'errors'],
  ['events', 'events'],
  ['stealing', 'workers'],
  ['info', 'workers'],
  ['info/main/workers.html', 'workers'],
  ['info/main/exceptions.html', 'errors'],
  ['info/main/logs.html', 'logs'],
]);

/** Names of the plots that are shown alone at `/individual-NAME`. Dask's dashboard has the same names. */
const INDIVIDUAL_PLOTS = [
  'task-stream',
  'progress',
  'graph',
  'groups',
  'workers-memory',
  'cluster-memory',
  'cpu',
  'nprocessing',
  'occupancy',
  'workers',
  'exceptions',
  'bandwidth-types',
  'bandwidth-workers',
  'workers-network-timeseries',
  'workers-cpu-timeseries',
  'workers-memory-timeseries',
  'workers-disk-timeseries',
  'memory-by-key',
  'compute-time-per-key',
  'aggregate-time-per-action',
  'scheduler-system',
  'contention',
  'fine-performance-metrics',
  'profile',
  'profile-server',
  'gpu-memory',
  'gpu-utilization',
] as const;

export type IndividualPlotName = (typeof INDIVIDUAL_PLOTS)[number];

const INDIVIDUAL_PATH = /\/individual-([a-z-]{1,60})$/;

/** Returns the name of the plot at a path, or undefined. A proxy may have added a prefix to the path. */
export function individualPlotAt(path: string): IndividualPlotName | undefined {
  const name = INDIVIDUAL_PATH.exec(path)?.[1];
  return INDIVIDUAL_PLOTS.find((one) => one === name);
}

/** Returns the paths of all plots by their titles, as Dask's `/individual-plots.json`. */
export function individualPlotPaths(): Record<string, string> {
  return Object.fromEntries(
    INDIVIDUAL_PLOTS.map((name) => [
      `individual-${name}`.replaceAll('-', ' ').replace(/\b[a-z]/g, (letter) => letter.toUpperCase()),
      `/individual-${name}`,
    ]),
  );
}

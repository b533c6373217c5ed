// Implements `Client.profile` and `Client.memory`.
import { FLAG, fileName, kind, NAMES, NUMBER, type OptionKinds, TEXT } from '../../base/arguments.js';
import { type ClusterMemory, MEMORY_MEASURES } from '../../diagnostics/memorySampler.js';
import { isCalled } from '../../engine/cluster/engineWorker.js';
import type { CallTree } from '../../profile/callTree.js';
import type { ProfileQuery } from '../../profile/profileHistory.js';
import type { Trace } from '../../trace/trace.js';
import type { Cluster } from './cluster.js';

export interface ProfileOptions extends Pick<ProfileQuery, 'key' | 'span' | 'start' | 'stop'> {
  /** Names or addresses of workers. Default: all. */
  readonly workers?: string | readonly string[];
  /** Whether to select the scheduler's thread instead of the workers. Default false. */
  readonly scheduler?: boolean;
  /** Path of a file for the profile, see `Client.profile`. Default: none. */
  readonly filename?: string;
}

export const PROFILE_OPTIONS: OptionKinds<ProfileOptions> = {
  key: TEXT,
  span: kind('an array of names of spans', (value) => Array.isArray(value)),
  start: NUMBER,
  stop: NUMBER,
  workers: NAMES,
  scheduler: FLAG,
  filename: fileName(['.html', '.htm', '.pb', '.pb.gz', '.speedscope.json', '.json']),
};

/** Implements `Client.profile`. */
export async function clusterProfile(
  cluster: Cluster,
  trace: () => Trace,
  { filename, workers, scheduler = false, ...query }: ProfileOptions,
): Promise<CallTree> {
  const { engine, measures } = cluster;
  const all = [...engine.workers.values()];
  await cluster.flushProfiles();
  const names = typeof workers === 'string' ? [workers] : workers;
  const threads = names?.map((worker) => all.find((one) => isCalled(one, worker))?.info.name ?? worker);
  const tree = measures
    .history(scheduler)
    .profile({ ...query, ...(threads === undefined || scheduler ? {} : { threads }) });
  if (filename === undefined) return tree;
  const { isCallTreeFile, writeCallTree } = await import('../../diagnostics/callTreeFile.js');
  const what = scheduler ? 'the scheduler' : (query.key ?? 'all tasks');
  if (isCallTreeFile(filename))
    writeCallTree(tree, filename, { title: `Profile of ${what}`, interval: measures.samplingInterval });
  else {
    const { writeProfileView } = await import('./clientPages.js');
    const [worker] = threads ?? [];
    const only = threads?.length === 1 && worker !== undefined ? { worker } : {};
    writeProfileView(trace(), filename, { ...query, ...only, scheduler });
  }
  return tree;
}

/** Implements `Client.memory`. */
export function clusterMemory({ engine }: Cluster): ClusterMemory {
  const sums = { process: 0, managed: 0, unmanaged: 0, spilled: 0 };
  for (const { memorySample } of engine.workers.values()) {
    if (memorySample === undefined) continue;
    for (const measure of MEMORY_MEASURES) sums[measure] += memorySample[measure];
  }
  return sums;
}

// Implements `Client.profile`.
import { type ProfileTreeOptions, profileTree } from '../../analysis/profile.js';
import { FLAG, fileName, kind, NAMES, NUMBER, type OptionKinds, TEXT } from '../../base/arguments.js';
import { isCalled } from '../../engine/cluster/engineWorker.js';
import type { CallTree } from '../../profile/callTree.js';
import type { Trace } from '../../trace/trace.js';
import type { Cluster } from './cluster.js';

export interface ProfileOptions
  extends Pick<ProfileTreeOptions, 'key' | 'span' | 'start' | 'stop' | 'scheduler'> {
  /** Names or addresses of workers. Default: all. */
  readonly workers?: string | readonly string[];
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
  const { engine, measures, measured } = cluster.parts;
  const all = [...engine.workers.values()];
  await cluster.flushProfiles();
  const names = typeof workers === 'string' ? [workers] : workers;
  const threads = names?.map((worker) => all.find((one) => isCalled(one, worker))?.info.name ?? worker);
  const tree = profileTree(measured.snapshot(), {
    ...query,
    scheduler,
    ...(threads === undefined ? {} : { workers: threads }),
  });
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

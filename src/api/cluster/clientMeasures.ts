// Implements `Client.profile`.
import { type ProfileTreeOptions, profileTree } from '../../analysis/profile.js';
import { FLAG, fileName, kind, NAMES, NUMBER, type OptionKinds, TEXT } from '../../base/arguments.js';
import { namesIn } from '../../engine/cluster/engineWorker.js';
import type { CallTree } from '../../profile/callTree.js';
import type { Trace } from '../../trace/trace.js';
import type { Cluster } from './cluster.js';

export interface ProfileOptions
  extends Pick<ProfileTreeOptions, 'key' | 'span' | 'start' | 'stop' | 'scheduler'> {
  /** Names or addresses of workers. Default: all. */
  readonly workers?: string | readonly string[];
  /**
   * Path of a file for the profile. The extension selects the format: pprof for `.pb` and `.pb.gz`, speedscope for
   * `.speedscope.json`, the call tree for `.json`, a performance report for `.html`. Default: none.
   */
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
  await cluster.flushProfiles();
  const names = new Set(typeof workers === 'string' ? [workers] : workers);
  const threads = [...(namesIn(names, engine.workers.values()) ?? [])];
  const tree = profileTree(measured.snapshot(), {
    ...query,
    scheduler,
    ...(workers === undefined ? {} : { workers: threads }),
  });
  if (filename === undefined) return tree;
  const { isCallTreeFile, writeCallTree } = await import('../../diagnostics/callTreeFile.js');
  const title = `Profile of ${scheduler ? 'the scheduler' : (query.key ?? 'all tasks')}`;
  if (isCallTreeFile(filename)) writeCallTree(tree, filename, { title, interval: measures.samplingInterval });
  else {
    const { writePageAt } = await import('./clientPages.js');
    const choices = {
      of: scheduler ? 'scheduler' : undefined,
      prefix: query.key,
      span: query.span?.join('/'),
      worker: threads.length === 1 ? threads[0] : undefined,
    };
    writePageAt(trace(), filename, { page: 'profile', title, range: query, choices });
  }
  return tree;
}

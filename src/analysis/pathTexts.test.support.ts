// Critical paths of small synthetic traces, as texts.
import { type SyntheticTask, syntheticTrace } from '../trace/syntheticTrace.test.support.js';
import { type CriticalPath, criticalPath } from './criticalPath.js';

/** Returns e.g. `compute load 0..1` for each part. */
export function partsText({ parts }: CriticalPath): string[] {
  return parts.map(({ kind, task, start, stop }) =>
    [kind, ...(task === undefined ? [] : [task]), `${start}..${stop}`].join(' '),
  );
}

/** Returns the critical path of a synthetic trace. */
export const pathOf = (tasks: readonly SyntheticTask[], more = {}): CriticalPath =>
  criticalPath(syntheticTrace({ tasks, ...more }));

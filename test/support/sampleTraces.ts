// Small traces that several tests of pages show.
import { type SyntheticSpec, syntheticTrace } from '#internal/trace/syntheticTrace.test.support.js';
import type { Trace } from '#internal/trace/trace.js';

/** Start of the traces in seconds since the epoch. */
export const EPOCH = 1_700_000_000;

/** Returns a trace of ten seconds: `load-i` runs on `w0` in second i, and its dependent `fit-i` on `w1` in second i + 5. */
export function loadsAndFits(more: Omit<SyntheticSpec, 'workers' | 'tasks'>): Trace {
  return syntheticTrace({
    workers: [
      { name: 'w0', threads: 1 },
      { name: 'w1', threads: 1 },
    ],
    tasks: [0, 1, 2, 3, 4].flatMap((i) => [
      { key: `load-${i}`, worker: 'w0', started: EPOCH + i, stopped: EPOCH + i + 0.5 },
      {
        key: `fit-${i}`,
        worker: 'w1',
        started: EPOCH + i + 5,
        stopped: EPOCH + i + 5.75,
        needs: [`load-${i}`],
      },
    ]),
    ...more,
  });
}

// Makes traces of imaginary runs for tests. Tasks with given durations are placed on workers in order, each on the
// worker that can start it first.
import type { SyntheticSpec, SyntheticTask } from '../trace/syntheticTrace.test.support.js';

export interface ScheduledTask {
  readonly key: string;
  readonly seconds: number;
  readonly needs?: readonly string[];
  readonly nbytes?: number;
  readonly prefix?: string;
  /** Name of the worker. Default: the first free worker. */
  readonly worker?: string;
  readonly submitted?: number;
  readonly computation?: number;
}

export interface Schedule {
  /** Number of workers, with the names `w0`, `w1`, … Default 1. */
  readonly workers?: number;
  /** Seconds between two tasks on a worker. Default 0. */
  readonly overhead?: number;
  /** Seconds from ready to dispatched, and from dispatched to received. Default 0. */
  readonly latency?: number;
  /** Bytes per second between workers. Default: no transfers. */
  readonly bandwidth?: number;
}

type Parts = Required<Pick<SyntheticSpec, 'workers' | 'tasks' | 'transfers' | 'intervals'>>;

/** Places tasks greedily in the order of the list, in which a task must follow its dependencies. */
export function scheduled(tasks: readonly ScheduledTask[], schedule: Schedule = {}): Parts {
  const { workers = 1, overhead = 0, latency = 0, bandwidth } = schedule;
  const free = new Map<string, number>(Array.from({ length: workers }, (_, i) => [`w${i}`, 0]));
  const done = new Map<string, SyntheticTask>();
  const copies = new Set<string>();
  const transfers: Parts['transfers'][number][] = [];
  const intervals: Parts['intervals'][number][] = [];
  for (const task of tasks) {
    const { key, seconds, needs = [], submitted = 0 } = task;
    const ready = needs.reduce((last, need) => Math.max(last, done.get(need)?.stopped ?? 0), submitted);
    const worker = task.worker ?? firstFree(free, ready);
    const received = Math.max(ready + 2 * latency, 0);
    let started = Math.max(received, (free.get(worker) ?? 0) + overhead);
    for (const need of bandwidth === undefined ? [] : needs) {
      const input = done.get(need);
      if (input === undefined || input.worker === worker || copies.has(`${need} ${worker}`)) continue;
      copies.add(`${need} ${worker}`);
      const [start, stop] = [started, started + (input.nbytes ?? 0) / (bandwidth ?? 1)];
      const nbytes = input.nbytes ?? 0;
      transfers.push({ worker, peer: input.worker ?? '', keys: [need], nbytes, start, stop });
      intervals.push({ worker, action: 'transfer', start, stop, task: key, nbytes });
      started = stop;
    }
    const stopped = started + seconds;
    free.set(worker, stopped);
    const { nbytes = 0, prefix, computation = 1 } = task;
    const lifecycle = { submitted, ready, dispatched: ready + latency, received, started, stopped };
    const named = prefix === undefined ? {} : { prefix };
    done.set(key, { key, worker, needs, nbytes, computation, ...named, ...lifecycle });
  }
  return {
    workers: Array.from({ length: workers }, (_, i) => ({ name: `w${i}` })),
    tasks: [...done.values()].sort((a, b) => a.stopped - b.stopped),
    transfers,
    intervals,
  };
}

/** Returns the worker on which a task that is ready at this time can start first. */
function firstFree(free: ReadonlyMap<string, number>, ready: number): string {
  let best = 'w0';
  let earliest = Number.POSITIVE_INFINITY;
  for (const [worker, time] of free) {
    const start = Math.max(time, ready);
    if (start < earliest) {
      earliest = start;
      best = worker;
    }
  }
  return best;
}

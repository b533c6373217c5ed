// Finds the time spans in which workers were paused, i.e. started no task, because their memory was short.
import { oncePer } from '../base/lookUps.js';
import { WORKER_FULL, WORKER_PAUSED } from '../protocol/eventTopics.js';
import type { Trace } from '../trace/trace.js';
import { merged, type Span } from './spans.js';

/** Returns the pauses by row of workers, in order and without overlaps. Computed once per trace. */
export const pausesOf = oncePer((trace: Trace): ReadonlyMap<number, readonly Span[]> => {
  const { events, strings, workers } = trace;
  const topics = new Map<number, string>();
  for (const id of new Set(events.topic)) if (id >= 0) topics.set(id, strings.get(id));
  const found = new Map<number, Span[]>();
  for (const { begin, end } of [WORKER_PAUSED, WORKER_FULL]) {
    const open = new Map<number, number>();
    for (let row = 0; row < events.length; row++) {
      const [worker, topic] = [events.worker[row]!, topics.get(events.topic[row]!)];
      if (worker < 0) continue;
      const start = open.get(worker);
      if (topic === begin && start === undefined) open.set(worker, events.time[row]!);
      if (topic !== end || start === undefined) continue;
      open.delete(worker);
      found.set(worker, [...(found.get(worker) ?? []), { start, stop: events.time[row]! }]);
    }
    // The worker was paused until it ended.
    for (const [worker, start] of open) {
      const stop = workers.stopped[worker]! >= start ? workers.stopped[worker]! : Number.POSITIVE_INFINITY;
      found.set(worker, [...(found.get(worker) ?? []), { start, stop }]);
    }
  }
  return new Map(Array.from(found, ([worker, pauses]) => [worker, merged(pauses)]));
});

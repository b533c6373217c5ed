// What a trace should say of a story that was told, and what it says, both as plain objects with texts for ids.
import { ACTIONS, TASK_MEMORY, TASK_STATES } from '../../protocol/clusterObserver.js';
import { keyGroup } from '../keyGroup.js';
import type { Texts } from '../texts.js';
import { DIRECTIONS, TRANSFER_KINDS, type Trace } from '../trace.js';
import type { Told } from './clusterScript.test.support.js';

export interface PlainTask {
  readonly key: string | null;
  readonly prefix: string | null;
  readonly state: string | undefined;
  readonly worker: string | null;
  readonly stopped: number | undefined;
  readonly [column: string]: unknown;
}

/** Every run that was told, in order. */
export function toldTasks(told: Told): PlainTask[] {
  const keyOf = new Map<number, string>();
  for (const { firstId, keys } of told.computations) {
    for (const [id, key] of keys.entries()) keyOf.set(firstId + id, key);
  }
  return told.runs.flatMap((runs) =>
    Array.from({ length: runs.count }, (_, i) => {
      const { computation } = runs;
      const id = runs.ids[i]!;
      const { dependencyOffsets, dependencies, externals, firstId, size, prefixes } = computation;
      const needs = [...dependencies.subarray(dependencyOffsets[id], dependencyOffsets[id + 1])];
      const key = computation.keys[id] ?? '';
      const prefix = prefixes[computation.prefixOf[id]!] ?? '';
      const state = runs.states[i]!;
      return {
        id: firstId + id,
        key,
        prefix,
        group: keyGroup(key, prefix),
        functionName: computation.functions[computation.functionOf[id]!] ?? null,
        span: computation.spans[computation.spanOf?.[id] ?? 0]?.join('/'),
        computation: computation.number,
        worker: `threads-${runs.worker}`,
        state: TASK_STATES[state],
        attempt: runs.attempts[i],
        resultType: state === TASK_MEMORY ? runs.typeNames[runs.types[i]!] : null,
        nbytes: runs.nbytes[i],
        submitted: computation.submitted,
        ready: runs.ready[i],
        dispatched: runs.dispatched[i],
        received: runs.received[i],
        started: runs.started[i],
        stopped: runs.stopped[i],
        acknowledged: runs.acknowledged,
        needs: needs.map((local) => keyOf.get(local < size ? firstId + local : externals[local - size]!)),
      };
    }),
  );
}

const textOf = (table: Texts, id: number): string | null => (id < 0 ? null : table.get(id));

export function tasksOf(trace: Trace): PlainTask[] {
  const { tasks, strings, keys, workers, computations } = trace;
  return Array.from({ length: tasks.length }, (_, row) => ({
    id: tasks.id[row],
    key: textOf(keys, tasks.key[row]!),
    prefix: textOf(strings, tasks.prefix[row]!),
    group: textOf(keys, tasks.group[row]!),
    functionName: textOf(strings, tasks.functionName[row]!),
    span: textOf(strings, tasks.span[row]!),
    computation: computations[tasks.computation[row]!]?.number,
    worker: textOf(strings, workers.name[tasks.worker[row]!] ?? -1),
    state: TASK_STATES[tasks.state[row]!],
    attempt: tasks.attempt[row],
    resultType: textOf(strings, tasks.resultType[row]!),
    nbytes: tasks.nbytes[row],
    submitted: tasks.submitted[row],
    ready: tasks.ready[row],
    dispatched: tasks.dispatched[row],
    received: tasks.received[row],
    started: tasks.started[row],
    stopped: tasks.stopped[row],
    acknowledged: tasks.acknowledged[row],
    needs: Array.from(
      tasks.dependencies.subarray(tasks.dependencyOffsets[row], tasks.dependencyOffsets[row + 1]),
      (key) => textOf(keys, key),
    ),
  }));
}

/** The frames of a stack as texts, the innermost first. */
function stackOf({ frames, strings }: Trace, frame: number): string[] {
  const stack: string[] = [];
  for (let at = frame; at >= 0; at = frames.parent[at]!) {
    const [name, file] = [textOf(strings, frames.functionName[at]!), textOf(strings, frames.file[at]!)];
    stack.push(`${name} ${file}:${frames.line[at]}`);
  }
  return stack;
}

/** The other tables, rows as objects. */
export function restOf(trace: Trace): Record<string, unknown> {
  const { strings, keys, workers, intervals, transfers, memory, resources, metrics, samples, events } = trace;
  const text = (id: number): string | null => textOf(strings, id);
  const worker = (row: number): string | null => text(workers.name[row] ?? -1);
  const rows = <T>(length: number, make: (row: number) => T): T[] =>
    Array.from({ length }, (_, row) => make(row));
  return {
    workers: rows(workers.length, (i) => ({
      name: text(workers.name[i]!),
      address: text(workers.address[i]!),
      host: text(workers.host[i]!),
      numbers: [
        workers.pid[i],
        workers.threads[i],
        workers.memoryLimit[i],
        workers.started[i],
        workers.stopped[i],
      ],
      reason: text(workers.reason[i]!),
    })),
    intervals: rows(intervals.length, (i) => ({
      worker: worker(intervals.worker[i]!),
      action: ACTIONS[intervals.action[i]!],
      numbers: [
        intervals.thread[i],
        intervals.start[i],
        intervals.stop[i],
        intervals.task[i],
        intervals.nbytes[i],
      ],
    })),
    transfers: rows(transfers.length, (i) => ({
      worker: worker(transfers.worker[i]!),
      peer: worker(transfers.peer[i]!),
      direction: DIRECTIONS[transfers.direction[i]!],
      what: TRANSFER_KINDS[transfers.what[i]!],
      numbers: [transfers.nbytes[i], transfers.compressed[i], transfers.start[i], transfers.stop[i]],
      keys: Array.from(transfers.keys.subarray(transfers.keyOffsets[i], transfers.keyOffsets[i + 1]), (key) =>
        keys.get(key),
      ),
    })),
    memory: rows(memory.length, (i) => ({
      worker: worker(memory.worker[i]!),
      host: text(memory.host[i]!),
      numbers: [memory.time[i], memory.managed[i], memory.unmanaged[i], memory.spilled[i], memory.process[i]],
      tasks: memory.tasks[i],
    })),
    resources: rows(resources.length, (i) => ({
      worker: worker(resources.worker[i]!),
      host: text(resources.host[i]!),
      time: resources.time[i],
      figures: Object.fromEntries(
        [...resources.figures]
          .map(([name, values]) => [name, values[i]] as const)
          .filter(([, value]) => value !== undefined && !Number.isNaN(value))
          .sort(),
      ),
    })),
    metrics: rows(metrics.length, (i) => ({
      worker: worker(metrics.worker[i]!),
      texts: [
        metrics.context[i]!,
        metrics.span[i]!,
        metrics.prefix[i]!,
        metrics.activity[i]!,
        metrics.unit[i]!,
      ].map(text),
      numbers: [metrics.time[i], metrics.value[i]],
    })),
    samples: rows(samples.length, (i) => ({
      worker: worker(samples.worker[i]!),
      texts: [text(samples.prefix[i]!), text(samples.span[i]!)],
      stack: stackOf(trace, samples.frame[i]!),
      numbers: [
        samples.time[i],
        samples.thread[i],
        samples.task[i],
        samples.line[i],
        samples.count[i],
        samples.interval[i],
      ],
    })),
    events: rows(events.length, (i) => ({
      worker: worker(events.worker[i]!),
      time: events.time[i],
      topic: text(events.topic[i]!),
      text: text(events.text[i]!),
    })),
  };
}

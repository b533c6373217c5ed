// Converts a trace to DASF's events: tasks with a result, memory of workers and resource samples, in the order of
// DASF's plugins. DASF has no events for other rows. DASF's analyses divide by durations, split the names of workers
// and read figures of GPUs. The events therefore always have these values, and durations are positive.
import { reversedEdges } from '../../../base/groups.js';
import { parsedJson } from '../../../base/json.js';
import { TASK_MEMORY } from '../../../protocol/clusterObserver.js';
import type { Trace } from '../../trace.js';
import { CompleteEvent, type DasfEvent, type EventArgs, InstantEvent, RESOURCE_EVENT } from './dasfEvents.js';
import { DasfEncoder } from './dasfWriter.js';

/** Bytes of a piece. */
const PIECE = 1 << 20;
/** Duration of a task without a measurable duration, in seconds. */
const SHORTEST = 1e-9;

/** Yields the bytes of an event file in pieces. A piece is valid until the next one is requested. */
export function* dasfEventFile(trace: Trace): Generator<Uint8Array> {
  const encoder = new DasfEncoder();
  for (const event of dasfEvents(trace)) {
    encoder.add(event);
    if (encoder.bytes.length < PIECE) continue;
    yield encoder.bytes;
    encoder.clear();
  }
  yield encoder.bytes;
}

/**
 * Yields the events of a trace. Each table keeps its order; the tables are merged by time. At equal times, tasks come
 * first.
 */
function* dasfEvents(trace: Trace): Generator<DasfEvent> {
  const { tasks, memory, resources } = trace;
  const dependents = dependentKeys(trace);
  const sources = [
    source(tasks.stopped, (row) => taskEvent(trace, dependents, row)),
    source(memory.time, (row) => memoryEvent(trace, row)),
    source(resources.time, (row) => resourceEvent(trace, row)),
  ];
  for (;;) {
    let first: Source | undefined;
    for (const one of sources) if (one.time < (first?.time ?? Number.POSITIVE_INFINITY)) first = one;
    if (first === undefined) return;
    const event = first.take();
    if (event !== undefined) yield event;
  }
}

interface Source {
  /** Time of the next row; NaN after the last row. */
  readonly time: number;
  take(): DasfEvent | undefined;
}

/** Returns the rows of a table, without rows that have no time. */
function source(times: Float64Array, eventOf: (row: number) => DasfEvent | undefined): Source {
  let at = 0;
  return {
    get time() {
      while (at < times.length && Number.isNaN(times[at]!)) at++;
      return times[at] ?? Number.NaN;
    },
    take: () => eventOf(at++),
  };
}

function taskEvent(trace: Trace, dependents: KeysOf, row: number): DasfEvent | undefined {
  const { tasks, strings, keys } = trace;
  if (tasks.state[row] !== TASK_MEMORY || !(tasks.duration[row]! >= 0)) return undefined;
  const text = (id: number): string | null => textAt(strings, id);
  const nbytes = tasks.nbytes[row]!;
  const name = tasks.recordedName[row]! < 0 ? tasks.functionName[row]! : tasks.recordedName[row]!;
  const [from, to] = [tasks.dependencyOffsets[row]!, tasks.dependencyOffsets[row + 1]!];
  const device = text(tasks.device[row]!);
  const args = {
    key: tasks.keyOf(row),
    name: text(name) ?? '',
    state: 'memory',
    size: Number.isNaN(nbytes) ? 0 : nbytes,
    shape: shapeOf(text(tasks.shape[row]!)),
    dtype: text(tasks.dtype[row]!),
    type: text(tasks.resultType[row]!),
    dependencies: Array.from(tasks.dependencies.subarray(from, to), (id) => keys.get(id)),
    dependents: dependents(row),
    ...(device === null ? {} : { device }),
  };
  return new CompleteEvent('Compute', tasks.stopped[row]!, Math.max(SHORTEST, tasks.duration[row]!), {
    processId: text(tasks.host[row]!),
    threadId: workerName(trace, tasks.worker[row]!) ?? '',
    args,
  });
}

function memoryEvent(trace: Trace, row: number): DasfEvent | undefined {
  const { memory, strings } = trace;
  if (Number.isNaN(memory.tasks[row]!)) return undefined;
  return new InstantEvent('Managed Memory', memory.time[row]!, {
    processId: textAt(strings, memory.host[row]!),
    threadId: workerName(trace, memory.worker[row]!) ?? '',
    args: { key: '', state: 'memory', size: memory.managed[row]!, tasks: memory.tasks[row]! },
  });
}

function resourceEvent(trace: Trace, row: number): DasfEvent {
  const { resources, strings } = trace;
  const known = [...resources.figures].filter(([, values]) => !Number.isNaN(values[row]!));
  const args: EventArgs = {
    ...Object.fromEntries(known.map(([name, values]) => [name, values[row]!])),
    gpu_utilization: resources.gpuUtilization[row]!,
    gpu_memory_used: resources.gpuMemoryUsed[row]!,
  };
  const device = resources.device[row]!;
  return new InstantEvent(RESOURCE_EVENT, resources.time[row]!, {
    processId: textAt(strings, resources.host[row]!),
    threadId: workerName(trace, resources.worker[row]!),
    args: device < 0 ? args : { ...args, device: strings.get(device) },
  });
}

function workerName({ workers, strings }: Trace, worker: number): string | null {
  return worker < 0 ? null : textAt(strings, workers.name[worker]!);
}

function textAt(strings: Trace['strings'], id: number): string | null {
  return id < 0 ? null : strings.get(id);
}

function shapeOf(text: string | null): unknown {
  return text === null ? [] : (parsedJson(text) ?? []);
}

type KeysOf = (row: number) => string[];

/** Returns a function that gives the keys of the dependents of a task, as recorded or derived from the dependencies. */
function dependentKeys({ tasks, keys }: Trace): KeysOf {
  const { dependents, dependentOffsets } = tasks;
  if (dependents.length > 0)
    return (row) =>
      Array.from(dependents.subarray(dependentOffsets[row]!, dependentOffsets[row + 1]!), (id) =>
        keys.get(id),
      );
  const { offsets, targets } = reversedEdges(tasks.dependencyOffsets, tasks.dependencyRows);
  return (row) =>
    Array.from(targets.subarray(offsets[row]!, offsets[row + 1]!), (dependent) => tasks.keyOf(dependent));
}

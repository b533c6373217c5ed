// Writes a trace as Chrome Trace JSON for Perfetto, speedscope and chrome://tracing. Workers become processes, tasks
// slices of their threads, dependencies flows, and figures counters. Arguments hold further properties of a task. If
// the file is read back, the slices of tasks are tasks.

import { rangeOf } from '../../../base/lookUps.js';
import { ACTIONS, TASK_STATES } from '../../../protocol/clusterObserver.js';
import { DIRECTIONS, TRANSFER_KINDS, type Trace, workerName } from '../../trace.js';
import { JsonObjectText, QuotedStrings } from '../json/jsonText.js';
import { INTERVALS, TRANSFERS } from './chromeEvents.js';
import { layOut, type Tracks, taskTracks, trackName } from './tracks.js';

/** Sort index of tracks below the threads of a worker. */
const BELOW = 1000;
const LIFECYCLE = [
  'submitted',
  'ready',
  'dispatched',
  'received',
  'seceded',
  'resumed',
  'acknowledged',
] as const;

/** Counters from the table `memory`: series by name of the counter. A series is a column of the table. */
const MEMORY_COUNTERS = {
  memory: ['managed', 'unmanaged', 'spilled'],
  'process memory': ['process'],
  'results in memory': ['tasks'],
} as const;

/** Yields the text of the file, without rows that have no time. Memory: some 20 bytes per row of tasks. */
export function* chromeTrace(trace: Trace): Generator<string> {
  const writer = new ChromeWriter(trace);
  yield `{"otherData":{"origin":${writer.origin}},"traceEvents":[\n`;
  let before = '';
  for (const event of writer.events()) {
    yield before + event;
    before = ',\n';
  }
  yield '\n]}\n';
}

/** Tracks of one table and the ids of their threads. */
interface Placed {
  readonly tracks: Tracks;
  readonly firstTid: number;
}

class ChromeWriter {
  readonly #trace: Trace;
  readonly #clock: ChromeClock;
  readonly #texts: QuotedStrings;
  readonly #tasks: Placed;
  readonly #intervals: Placed;
  readonly #transfers: Placed;
  /** Pid of the process that represents a host. */
  readonly #hostPids = new Map<number, number>();
  #flows = 0;

  constructor(trace: Trace) {
    this.#trace = trace;
    this.#clock = new ChromeClock(trace);
    this.#texts = new QuotedStrings(trace.strings);
    // Pids and tids share one sequence, because some viewers take a thread with its process's number for the first
    // thread.
    let next = trace.workers.length + 2;
    for (const host of this.#hostsWithoutWorkers()) this.#hostPids.set(host, next++);
    const place = (tracks: Tracks): Placed => {
      const placed = { tracks, firstTid: next };
      next += tracks.tracks.length;
      return placed;
    };
    const { intervals, transfers } = trace;
    const noThread = (length: number): Int32Array => new Int32Array(length).fill(-1);
    this.#tasks = place(taskTracks(trace));
    this.#intervals = place(layOut({ ...intervals, thread: noThread(intervals.length) }));
    this.#transfers = place(layOut({ ...transfers, thread: noThread(transfers.length) }));
  }

  /** Time 0 of the file, in seconds since the epoch. */
  get origin(): number {
    return this.#clock.origin;
  }

  /** Yields the metadata, then the tables. */
  *events(): Generator<string> {
    yield* this.#metadata();
    yield* this.#taskEvents();
    yield* this.#intervalEvents();
    yield* this.#transferEvents();
    yield* this.#memoryEvents();
    yield* this.#resourceEvents();
    yield* this.#instantEvents();
  }

  #pid(worker: number): number {
    return worker < 0 ? this.#trace.workers.length + 1 : worker + 1;
  }

  #hostsWithoutWorkers(): Set<number> {
    const { resources, memory } = this.#trace;
    const hosts = new Set<number>();
    for (const table of [resources, memory]) {
      for (let row = 0; row < table.length; row++) if (table.worker[row]! < 0) hosts.add(table.host[row]!);
    }
    return hosts;
  }

  *#metadata(): Generator<string> {
    const { workers, strings } = this.#trace;
    for (let worker = 0; worker < workers.length; worker++) {
      const name = new JsonObjectText().string('name', workerName(this.#trace, worker));
      yield metadata('process_name', this.#pid(worker), -1, name);
      yield metadata(
        'process_sort_index',
        this.#pid(worker),
        -1,
        new JsonObjectText().number('sort_index', worker),
      );
    }
    for (const [host, pid] of this.#hostPids) {
      const text = host < 0 ? 'no host' : `host ${strings.get(host)}`;
      yield metadata('process_name', pid, -1, new JsonObjectText().string('name', text));
    }
    yield* this.#threadMetadata(this.#tasks, 'thread', 0);
    yield* this.#threadMetadata(this.#intervals, 'disk, serialization, gc', BELOW);
    yield* this.#threadMetadata(this.#transfers, 'transfers', 2 * BELOW);
  }

  *#threadMetadata({ tracks, firstTid }: Placed, what: string, below: number): Generator<string> {
    for (const [i, track] of tracks.tracks.entries()) {
      const pid = this.#pid(track.worker);
      const tid = firstTid + i;
      yield metadata('thread_name', pid, tid, new JsonObjectText().string('name', trackName(track, what)));
      yield metadata('thread_sort_index', pid, tid, new JsonObjectText().number('sort_index', below + i));
    }
  }

  *#taskEvents(): Generator<string> {
    const { tasks } = this.#trace;
    const { started, stopped, duration, seceded, worker, functionName } = tasks;
    for (let row = 0; row < tasks.length; row++) {
      const args = this.#taskArgs(row);
      const place = `"pid":${this.#pid(worker[row]!)},"tid":${this.#tid(this.#tasks, row)}`;
      const name = functionName[row]! < 0 ? '""' : this.#texts.get(functionName[row]!);
      const head = `{"name":${name},"cat":"task"`;
      if (!(duration[row]! >= 0) || Number.isNaN(started[row]!) || Number.isNaN(stopped[row]!)) {
        yield `${head},"ph":"i","s":"t","ts":${this.#clock.micros(this.#lastKnown(row))},${place},"args":${args}}`;
        continue;
      }
      // The slice of a seceded task contains its wait.
      const seconds = Number.isNaN(seceded[row]!) ? duration[row]! : stopped[row]! - started[row]!;
      const times = this.#clock.slice(started[row]!, stopped[row]!, seconds);
      yield `${head},"ph":"X",${times},${place},"args":${args}}`;
      yield* this.#flowEvents(row);
    }
  }

  #taskArgs(row: number): JsonObjectText {
    const { tasks, keys } = this.#trace;
    const args = new JsonObjectText().string('key', tasks.keyOf(row));
    const texts = this.#texts;
    const prefix = tasks.prefix[row]!;
    if (prefix !== tasks.functionName[row]) args.text('prefix', texts, prefix);
    const group = tasks.group[row]!;
    if (group >= 0 && (prefix < 0 || keys.get(group) !== this.#trace.strings.get(prefix))) {
      args.string('group', keys.get(group));
    }
    args.text('span', texts, tasks.span[row]!);
    if (tasks.state[row] !== 0) args.string('state', TASK_STATES[tasks.state[row]!] ?? '');
    if (tasks.attempt[row] !== 1) args.number('attempt', tasks.attempt[row]!);
    for (const stage of LIFECYCLE) args.number(stage, this.#clock.micros(tasks[stage][row]!));
    args.number('nbytes', tasks.nbytes[row]!).text('type', texts, tasks.resultType[row]!);
    args.text('dtype', texts, tasks.dtype[row]!).text('shape', texts, tasks.shape[row]!);
    args.text('device', texts, tasks.device[row]!);
    return args;
  }

  /** Returns the last known time of a task that never ran. */
  #lastKnown(row: number): number {
    const { tasks } = this.#trace;
    for (const stage of [...LIFECYCLE].reverse()) {
      if (Number.isFinite(tasks[stage][row]!)) return tasks[stage][row]!;
    }
    return this.#clock.origin;
  }

  *#flowEvents(row: number): Generator<string> {
    const { dependencyOffsets, dependencyRows, started, stopped, worker } = this.#trace.tasks;
    for (let edge = dependencyOffsets[row]!; edge < dependencyOffsets[row + 1]!; edge++) {
      const source = dependencyRows[edge]!;
      if (source < 0 || !(stopped[source]! >= started[source]!)) continue;
      const head = `{"name":"dependency","cat":"dependency","id":${++this.#flows}`;
      // Just before the end, because the next slice of the thread may begin at the end.
      const end = this.#clock.inside(started[source]!, stopped[source]!);
      yield `${head},"ph":"s","ts":${end},"pid":${this.#pid(worker[source]!)},"tid":${this.#tid(this.#tasks, source)}}`;
      const start = this.#clock.micros(started[row]!);
      yield `${head},"ph":"f","bp":"e","ts":${start},"pid":${this.#pid(worker[row]!)},"tid":${this.#tid(this.#tasks, row)}}`;
    }
  }

  #tid({ tracks, firstTid }: Placed, row: number): number {
    return firstTid + tracks.trackOf[row]!;
  }

  *#intervalEvents(): Generator<string> {
    const { intervals } = this.#trace;
    const { worker, thread, action, start, stop, task, nbytes } = intervals;
    for (let row = 0; row < intervals.length; row++) {
      if (!(stop[row]! >= start[row]!)) continue;
      const args = new JsonObjectText().number('task', task[row]!).number('nbytes', nbytes[row]!);
      if (thread[row]! >= 0) args.number('thread', thread[row]!);
      const times = this.#clock.slice(start[row]!, stop[row]!, stop[row]! - start[row]!);
      const head = `{"name":"${ACTIONS[action[row]!]}","cat":"${INTERVALS}","ph":"X",${times}`;
      yield `${head},"pid":${this.#pid(worker[row]!)},"tid":${this.#tid(this.#intervals, row)},"args":${args}}`;
    }
  }

  *#transferEvents(): Generator<string> {
    const { transfers, keys } = this.#trace;
    const { worker, peer, direction, what, nbytes, compressed, start, stop, keyOffsets } = transfers;
    for (let row = 0; row < transfers.length; row++) {
      if (!(stop[row]! >= start[row]!)) continue;
      const kind = TRANSFER_KINDS[what[row]!] ?? '';
      const args = new JsonObjectText()
        .string('direction', DIRECTIONS[direction[row]!] ?? '')
        .string('what', kind)
        .number('nbytes', nbytes[row]!)
        .number('compressed', compressed[row]!);
      if (peer[row]! >= 0) args.number('peer', peer[row]!);
      const ids = transfers.keys.subarray(keyOffsets[row]!, keyOffsets[row + 1]!);
      if (ids.length > 0) args.raw('keys', keyList(ids, keys));
      const times = this.#clock.slice(start[row]!, stop[row]!, stop[row]! - start[row]!);
      const head = `{"name":"${kind}","cat":"${TRANSFERS}","ph":"X",${times}`;
      yield `${head},"pid":${this.#pid(worker[row]!)},"tid":${this.#tid(this.#transfers, row)},"args":${args}}`;
    }
  }

  *#memoryEvents(): Generator<string> {
    const { memory } = this.#trace;
    for (let row = 0; row < memory.length; row++) {
      for (const [name, series] of Object.entries(MEMORY_COUNTERS)) {
        const args = new JsonObjectText();
        for (const figure of series) args.number(figure, memory[figure][row]!);
        yield* this.#counter(name, memory, row, args);
      }
    }
  }

  *#resourceEvents(): Generator<string> {
    const { resources } = this.#trace;
    const figures = [
      ...resources.figures,
      ['gpu_utilization', resources.gpuUtilization] as const,
      ['gpu_memory_used', resources.gpuMemoryUsed] as const,
    ];
    for (let row = 0; row < resources.length; row++) {
      for (const [name, values] of figures) {
        const args = new JsonObjectText().number('value', values[row]!);
        yield* this.#counter(name, resources, row, args, resources.device[row]!);
      }
    }
  }

  *#counter(
    name: string,
    table: { readonly time: Float64Array; readonly worker: Int32Array; readonly host: Int32Array },
    row: number,
    args: JsonObjectText,
    device = -1,
  ): Generator<string> {
    const text = args.toString();
    if (text === '{}' || !Number.isFinite(table.time[row]!)) return;
    const worker = table.worker[row]!;
    const pid = worker < 0 ? this.#hostPids.get(table.host[row]!) : this.#pid(worker);
    const id = device < 0 ? '' : `"id":${this.#texts.get(device)},`;
    const time = this.#clock.micros(table.time[row]!);
    yield `{"name":${JSON.stringify(name)},"ph":"C",${id}"ts":${time},"pid":${pid},"args":${text}}`;
  }

  *#instantEvents(): Generator<string> {
    const { events } = this.#trace;
    const { time, worker, topic, text } = events;
    for (let row = 0; row < events.length; row++) {
      if (!Number.isFinite(time[row]!)) continue;
      const args = new JsonObjectText().text('text', this.#texts, text[row]!);
      const scope = worker[row]! < 0 ? 'g' : 'p';
      const head = `{"name":${topic[row]! < 0 ? '""' : this.#texts.get(topic[row]!)},"ph":"i","s":"${scope}"`;
      yield `${head},"ts":${this.#clock.micros(time[row]!)},"pid":${this.#pid(worker[row]!)},"args":${args}}`;
    }
  }
}

function metadata(name: string, pid: number, tid: number, args: JsonObjectText): string {
  const thread = tid < 0 ? '' : `"tid":${tid},`;
  return `{"name":"${name}","ph":"M","pid":${pid},${thread}"args":${args}}`;
}

function keyList(ids: Int32Array, keys: Trace['keys']): string {
  return `[${Array.from(ids, (id) => JSON.stringify(keys.get(id))).join(',')}]`;
}

// Converts times of a trace to the microseconds of Chrome Trace JSON.

class ChromeClock {
  /** Last whole second before all times of the trace; 0 for a trace without times. */
  readonly origin: number;

  constructor(trace: Trace) {
    const { tasks, intervals, transfers, memory, resources, events } = trace;
    const columns = [
      tasks.submitted,
      tasks.started,
      intervals.start,
      transfers.start,
      memory.time,
      resources.time,
      events.time,
    ];
    const { start } = rangeOf(...columns);
    this.origin = Number.isFinite(start) ? Math.floor(start) : 0;
  }

  /** Returns microseconds since the origin, rounded to nanoseconds. */
  micros(seconds: number): number {
    return wholeNanoseconds((seconds - this.origin) * 1e6);
  }

  /** Returns the fields `"ts":…,"dur":…`. */
  slice(start: number, stop: number, duration: number): string {
    const ts = this.micros(start);
    return `"ts":${ts},"dur":${withinSlice(wholeNanoseconds(duration * 1e6), ts, this.micros(stop))}`;
  }

  /**
   * Returns a time within a slice: 3 ns before its end, because `slice` may shorten the slice by less, or the middle of
   * a very short slice.
   */
  inside(start: number, stop: number): number {
    const [from, to] = [this.micros(start), this.micros(stop)];
    return to - from > 6e-3 ? to - 3e-3 : (from + to) / 2;
  }
}

function wholeNanoseconds(microseconds: number): number {
  return Math.round(microseconds * 1e3) / 1e3;
}

/**
 * Limits the duration of a slice so that it does not overlap the next one. Consecutive tasks have no gap, and Perfetto
 * drops a slice that begins a nanosecond before the end of the previous one. Perfetto adds start and duration as whole
 * nanoseconds. It truncates them (1.001 µs become 1000 ns) or, in some versions, rounds them. In both cases the sum
 * must not exceed the end of the slice.
 */
function withinSlice(dur: number, ts: number, end: number): number {
  const most = Math.max(0, Math.trunc(end * 1e3) - Math.round(ts * 1e3));
  return Math.round(dur * 1e3) > most ? most / 1e3 : dur;
}

// From what V8's sampling profiler gives to a cycle: frames that belong to Longpole and Node are cut off where a task
// begins, waiting is told from working, and every position is asked for in the user's own files.
import { getOrMake } from '../base/lookUps.js';
import {
  type ProfileCycle,
  STACK_IDLE,
  STACK_RUNTIME,
  type TaskIntervals,
} from '../protocol/profileCycle.js';

/** The part of V8's CPU profile (Chrome DevTools protocol, `Profiler.Profile`) that is read here. */
export interface CpuProfile {
  readonly nodes: readonly CpuProfileNode[];
  /** Microseconds of the system's monotonic clock. */
  readonly startTime: number;
  readonly endTime: number;
  /** Ids of nodes. */
  readonly samples: readonly number[];
  /** Microseconds since the sample before, of the first since `startTime`. */
  readonly timeDeltas: readonly number[];
}

export interface CpuProfileNode {
  readonly id: number;
  /** Line and column from 0, where the function begins; -1: not known. */
  readonly callFrame: {
    readonly functionName: string;
    readonly url: string;
    readonly lineNumber: number;
    readonly columnNumber: number;
  };
  readonly children?: readonly number[];
  /** Lines from 1. */
  readonly positionTicks?: readonly { readonly line: number; readonly ticks: number }[];
}

/** A place in the user's own file. */
export interface SourcePosition {
  readonly file: string;
  /** From 1; 0: not known. */
  readonly line: number;
}

/** What is needed to read a profile. */
export interface ProfileReading {
  readonly thread: string;
  /** Seconds. */
  readonly interval: number;
  /** Microseconds of V8's clock → seconds since the epoch. */
  readonly toEpoch: (microseconds: number) => number;
  /** A file that is Longpole's or Node's own: its frames are not shown where they lead to a task. */
  readonly isRuntime: (url: string) => boolean;
  /** A file of Longpole's that calls the functions of tasks: what has no file and is called from there is a task. */
  readonly callsTasks: (url: string) => boolean;
  /** Where a function begins in the user's file; line and column from 0. */
  readonly functionPosition: (url: string, line: number, column: number) => SourcePosition;
  /** The user's line of a line that ran, which is counted from 1; 0: not known. */
  readonly runningLine: (url: string, line: number) => number;
  /** The tasks that ran between two times. */
  readonly tasks: (start: number, stop: number) => TaskIntervals;
  /** Samples up to this time have been told in the cycle before. */
  readonly after: number;
}

/** Scripts under this name rotate the profile; V8 takes a sample inside them, which nobody wants to see. */
export const PROFILER_SCRIPT = 'longpole:profiler';

const GARBAGE_COLLECTOR = '(garbage collector)';
const PROGRAM = '(program)';
const IDLE = '(idle)';
/** A sample that is left out. */
const DROPPED = -3;
/** `(program)`: code of the engine outside any function; it counts only while a task runs. */
const OUTSIDE_JAVASCRIPT = -4;

/** Cost: one step per node and per sample. */
export function readCpuProfile(profile: CpuProfile, reading: ProfileReading): ProfileCycle {
  const builder = new StackBuilder(profile, reading);
  const { order, times } = sampleTimes(profile, reading);
  const start = Math.max(reading.toEpoch(profile.startTime), reading.after);
  const stop = reading.toEpoch(profile.endTime);
  const tasks = tasksAt(times, reading.tasks(start, stop));
  const kept: number[] = [];
  const stacks: number[] = [];
  const sampleLines: number[] = [];
  for (const [index, sample] of order.entries()) {
    const node = profile.samples[sample]!;
    const stack = builder.stackOf(node, tasks[index] !== NO_TASK);
    const line = builder.nextLine(node);
    if (stack === DROPPED || times[index]! <= reading.after) continue;
    kept.push(index);
    stacks.push(stack);
    sampleLines.push(stack < 0 ? 0 : line);
  }
  return {
    thread: reading.thread,
    start,
    stop,
    interval: reading.interval,
    ...builder.columns(),
    times: Float64Array.from(kept, (index) => times[index]!),
    stacks: Int32Array.from(stacks),
    sampleLines: Int32Array.from(sampleLines),
    tasks: Float64Array.from(kept, (index) => tasks[index]!),
  };
}

/** Times of the samples, ascending, and which sample each belongs to: V8 may record a sample late. */
function sampleTimes(
  { samples, timeDeltas, startTime }: CpuProfile,
  { toEpoch }: ProfileReading,
): { order: Int32Array; times: Float64Array } {
  const raw = new Float64Array(samples.length);
  let microseconds = startTime;
  let sorted = true;
  for (let index = 0; index < raw.length; index++) {
    const delta = timeDeltas[index] ?? 0;
    microseconds += delta;
    sorted &&= delta >= 0;
    raw[index] = toEpoch(microseconds);
  }
  const order = Int32Array.from(raw, (_time, index) => index);
  if (!sorted) order.sort((a, b) => raw[a]! - raw[b]!);
  return { order, times: sorted ? raw : Float64Array.from(order, (index) => raw[index]!) };
}

/** Makes the cycle's stack nodes of those of V8 that samples lead to. */
class StackBuilder {
  readonly #reading: ProfileReading;
  readonly #nodes = new Map<number, CpuProfileNode>();
  readonly #parents = new Map<number, number>();
  /** V8's node → stack node or one of the special numbers. */
  readonly #stacks = new Map<number, number>();
  /** V8's node → its lines with the ticks that are left of each. */
  readonly #lines = new Map<number, { line: number; ticks: number }[]>();
  readonly #columns = {
    parents: [] as number[],
    names: [] as string[],
    files: [] as string[],
    lines: [] as number[],
  };
  /** Frames that stand for themselves: name → stack node. */
  readonly #named = new Map<string, number>();

  constructor(profile: CpuProfile, reading: ProfileReading) {
    this.#reading = reading;
    for (const node of profile.nodes) {
      this.#nodes.set(node.id, node);
      for (const child of node.children ?? []) this.#parents.set(child, node.id);
    }
  }

  stackOf(id: number, inTask: boolean): number {
    const stack = getOrMake(this.#stacks, id, () => this.#build(id));
    if (stack === OUTSIDE_JAVASCRIPT) return inTask ? this.#namedFrame(PROGRAM) : STACK_IDLE;
    return stack;
  }

  nextLine(id: number): number {
    let lines = this.#lines.get(id);
    if (lines === undefined) {
      const node = this.#nodes.get(id);
      const url = node?.callFrame.url ?? '';
      lines = (node?.positionTicks ?? []).map(({ line, ticks }) => ({
        line: this.#reading.runningLine(url, line),
        ticks,
      }));
      this.#lines.set(id, lines);
    }
    const next = lines[0];
    if (next === undefined) return 0;
    if (--next.ticks <= 0) lines.shift();
    return next.line;
  }

  columns(): Pick<ProfileCycle, 'parents' | 'names' | 'files' | 'lines'> {
    const { parents, names, files, lines } = this.#columns;
    return { parents: Int32Array.from(parents), names, files, lines: Int32Array.from(lines) };
  }

  #build(id: number): number {
    const path = this.#path(id);
    const name = path.at(-1)?.callFrame.functionName;
    if (path.length === 0 || name === IDLE) return STACK_IDLE;
    if (path.some(({ callFrame }) => callFrame.url === PROFILER_SCRIPT)) return DROPPED;
    if (path.length === 1 && name === PROGRAM) return OUTSIDE_JAVASCRIPT;
    if (path.length === 1 && name === GARBAGE_COLLECTOR) return this.#namedFrame(GARBAGE_COLLECTOR);
    const first = this.#firstOfTask(path);
    if (first === path.length) return STACK_RUNTIME;
    let parent = -1;
    for (const node of path.slice(first)) parent = this.#frame(node, parent);
    return parent;
  }

  /** From the outermost function inwards, without V8's root. */
  #path(id: number): CpuProfileNode[] {
    const path: CpuProfileNode[] = [];
    for (let at: number | undefined = id; at !== undefined; at = this.#parents.get(at)) {
      const node = this.#nodes.get(at);
      if (node !== undefined) path.push(node);
    }
    path.reverse();
    return path.slice(1);
  }

  /**
   * Where the task begins. Longpole's frames lead to it; a task that goes on after an await has only Node's own below
   * it, or none. Code of the engine, such as `stringify`, has no file; it is a task where Longpole calls it as one.
   */
  #firstOfTask(path: readonly CpuProfileNode[]): number {
    const { isRuntime, callsTasks } = this.#reading;
    let called = -1;
    for (const [index, { callFrame }] of path.entries()) {
      const { url } = callFrame;
      if (url === '') continue;
      if (!isRuntime(url)) return called < 0 ? index : called;
      called = callsTasks(url) ? index + 1 : -1;
    }
    return called < 0 ? path.length : called;
  }

  #frame(node: CpuProfileNode, parent: number): number {
    const known = this.#stacks.get(-node.id - 1);
    if (known !== undefined) return known;
    const { functionName, url, lineNumber, columnNumber } = node.callFrame;
    const position =
      url === '' || lineNumber < 0
        ? { file: url, line: 0 }
        : this.#reading.functionPosition(url, lineNumber, columnNumber);
    const stack = this.#push(parent, functionName === '' ? '(anonymous)' : functionName, position);
    // Negative keys: the node as part of a task's stack. Which frames are cut off depends on those below alone.
    this.#stacks.set(-node.id - 1, stack);
    return stack;
  }

  #namedFrame(name: string): number {
    return getOrMake(this.#named, name, () => this.#push(-1, name, { file: '', line: 0 }));
  }

  #push(parent: number, name: string, { file, line }: SourcePosition): number {
    const { parents, names, files, lines } = this.#columns;
    names.push(name);
    files.push(file);
    lines.push(line);
    return parents.push(parent) - 1;
  }
}

// Which task a sample belongs to: the one whose interval holds the sample's time.

/** No task ran. */
const NO_TASK = -1;

/**
 * The task of each time, or NO_TASK. Both ends of an interval belong to it; where intervals overlap (a task that is
 * awaited, and others meanwhile) the one that started last counts.
 *
 * Cost: one pass over both.
 *
 * @param times ascending
 */
export function tasksAt(times: Float64Array, intervals: TaskIntervals): Float64Array {
  const { starts, stops, tasks } = intervals;
  const found = new Float64Array(times.length).fill(NO_TASK);
  /** Intervals that have started and may not have ended, the latest last. */
  const open: number[] = [];
  let next = 0;
  for (const [sample, time] of times.entries()) {
    for (; next < starts.length && starts[next]! <= time; next++) open.push(next);
    // One that has ended may lie below one that has not; it is met again when that one ends.
    while (open.length > 0 && stops[open[open.length - 1]!]! < time) open.pop();
    const latest = open.at(-1);
    if (latest !== undefined) found[sample] = tasks[latest]!;
  }
  return found;
}

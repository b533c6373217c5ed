// Converts a profile of V8's sampling profiler to a cycle. Frames of Longpole and Node are removed where a task
// begins, waiting is separated from work, and positions become positions in the user's own files.
import { getOrMake } from '../base/lookUps.js';
import {
  type ProfileCycle,
  STACK_IDLE,
  STACK_RUNTIME,
  type TaskIntervals,
} from '../protocol/clusterObserver.js';
import type { SourcePosition, TaskFunction, TaskPlaces } from './taskPlaces.js';

/** The part of V8's CPU profile (Chrome DevTools protocol, `Profiler.Profile`) that this file reads. */
export interface CpuProfile {
  readonly nodes: readonly CpuProfileNode[];
  /** Microseconds on the system's monotonic clock. */
  readonly startTime: number;
  readonly endTime: number;
  /** Ids of nodes. */
  readonly samples: readonly number[];
  /** Microseconds since the previous sample; for the first sample since `startTime`. */
  readonly timeDeltas: readonly number[];
}

export interface CpuProfileNode {
  readonly id: number;
  /** Start of the function, line and column from 0; -1 if unknown. */
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

export interface ProfileReading {
  readonly thread: string;
  /** Seconds between two samples. */
  readonly interval: number;
  /** Converts microseconds of V8's clock to seconds since the epoch. */
  readonly toEpoch: (microseconds: number) => number;
  /** Returns whether a file belongs to Longpole or Node. Such frames are removed where they lead to a task. */
  readonly isRuntime: (url: string) => boolean;
  /** Returns whether a file of Longpole calls the functions of tasks. A callee without a file is a task then. */
  readonly callsTasks: (url: string) => boolean;
  /** Returns whether a function of Longpole runs tasks, so that V8 may inline the function of a task into it. */
  readonly runsTasks: (url: string, functionName: string) => boolean;
  /** Returns the function of a task, for functions that V8 inlined or that have no name. Default: unknown. */
  readonly taskFunction?: (task: number) => TaskFunction | undefined;
  /** Places of the functions of tasks, which later cycles use too. */
  readonly taskPlaces: TaskPlaces;
  /** Returns the start of a function in the user's file. Line and column count from 0. */
  readonly functionPosition: (url: string, line: number, column: number) => SourcePosition;
  /** Returns the user's line for an executed line, which counts from 1; 0 if unknown. */
  readonly runningLine: (url: string, line: number) => number;
  /** Returns the tasks that ran between two times. */
  readonly tasks: (start: number, stop: number) => TaskIntervals;
  /**
   * Called for each sample of a task, in order. A hidden sample shows a function that runs tasks, and no function of the
   * task.
   */
  readonly onTaskSample?: (task: number, time: number, isHidden: boolean) => void;
  /** Time up to which the previous cycle reported samples. */
  readonly after: number;
}

/** Name of the scripts that rotate the profile. V8 takes a sample inside them, which would only confuse a user. */
export const PROFILER_SCRIPT = 'longpole:profiler';

const NO_POSITION: SourcePosition = { file: '', line: 0 };
const GARBAGE_COLLECTOR = '(garbage collector)';
const PROGRAM = '(program)';
const IDLE = '(idle)';
const DROPPED = -3;
/** Marks `(program)`: code of the engine outside any function. It counts only while a task runs. */
const OUTSIDE_JAVASCRIPT = -4;

/** Converts a profile. Cost: one step per node and per sample. */
export function readCpuProfile(profile: CpuProfile, reading: ProfileReading): ProfileCycle {
  const builder = new StackBuilder(profile, reading);
  const { order, times } = sampleTimes(profile, reading);
  const start = Math.max(reading.toEpoch(profile.startTime), reading.after);
  const stop = reading.toEpoch(profile.endTime);
  const tasks = tasksAt(times, reading.tasks(start, stop));
  const kept: number[] = [];
  const stacks: number[] = [];
  const sampleLines: number[] = [];
  /** Samples of inlined functions: index in `stacks` → function. */
  const inlined = new Map<number, TaskFunction>();
  for (const [index, sample] of order.entries()) {
    const node = profile.samples[sample]!;
    const task = tasks[index]!;
    const fn = task === NO_TASK ? undefined : reading.taskFunction?.(task);
    const stack = builder.stackOf(node, task !== NO_TASK, fn);
    const line = builder.nextLine(node);
    if (stack === DROPPED || times[index]! <= reading.after) continue;
    const isHidden = stack === STACK_RUNTIME && builder.runsTasks(node);
    if (isHidden && fn !== undefined) inlined.set(stacks.length, fn);
    if (task !== NO_TASK) reading.onTaskSample?.(task, times[index]!, isHidden);
    kept.push(index);
    stacks.push(stack);
    sampleLines.push(stack < 0 ? 0 : line);
  }
  // The other samples have shown where the functions are.
  for (const [at, fn] of inlined) stacks[at] = builder.taskFrame(fn);
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

/** Returns the times of the samples, ascending, and the sample of each. V8 may record a sample late. */
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

/** Creates the cycle's stack nodes from those nodes of V8 that have samples. */
class StackBuilder {
  readonly #reading: ProfileReading;
  readonly #nodes = new Map<number, CpuProfileNode>();
  readonly #parents = new Map<number, number>();
  /** V8's node → stack node or one of the special numbers. */
  readonly #stacks = new Map<number, number>();
  /** V8's node → its lines, each with its remaining ticks. */
  readonly #lines = new Map<number, { line: number; ticks: number }[]>();
  readonly #columns = {
    parents: [] as number[],
    names: [] as string[],
    files: [] as string[],
    lines: [] as number[],
  };
  /** Frames without a caller: name and position → stack node. */
  readonly #outermost = new Map<string, number>();
  /** V8's node → the function that the runner called, if that is known. */
  readonly #called = new Map<number, { readonly functionName: string; readonly position: SourcePosition }>();

  constructor(profile: CpuProfile, reading: ProfileReading) {
    this.#reading = reading;
    for (const node of profile.nodes) {
      this.#nodes.set(node.id, node);
      for (const child of node.children ?? []) this.#parents.set(child, node.id);
    }
  }

  /** `fn` is the function of the task that ran. The sample shows where that function is. */
  stackOf(id: number, inTask: boolean, fn?: TaskFunction): number {
    const stack = getOrMake(this.#stacks, id, () => this.#build(id, fn?.name));
    const called = this.#called.get(id);
    if (fn !== undefined && called !== undefined)
      if (called.functionName === '' || called.functionName === fn.name)
        this.#reading.taskPlaces.add(fn, called.position);
    if (stack === OUTSIDE_JAVASCRIPT) return inTask ? this.#outermostFrame(PROGRAM, NO_POSITION) : STACK_IDLE;
    return stack;
  }

  nextLine(id: number): number {
    const lines = getOrMake(this.#lines, id, () => {
      const node = this.#nodes.get(id);
      const url = node?.callFrame.url ?? '';
      const ticks = node?.positionTicks ?? [];
      return ticks.map((one) => ({ line: this.#reading.runningLine(url, one.line), ticks: one.ticks }));
    });
    const next = lines[0];
    if (next === undefined) return 0;
    if (--next.ticks <= 0) lines.shift();
    return next.line;
  }

  columns(): Pick<ProfileCycle, 'parents' | 'names' | 'files' | 'lines'> {
    const { parents, names, files, lines } = this.#columns;
    return { parents: Int32Array.from(parents), names, files, lines: Int32Array.from(lines) };
  }

  /** Returns whether the innermost function runs tasks. */
  runsTasks(id: number): boolean {
    const frame = this.#nodes.get(id)?.callFrame;
    return frame !== undefined && this.#reading.runsTasks(frame.url, frame.functionName);
  }

  /** Returns the stack of the function of a task; STACK_RUNTIME if no sample has shown where the function is. */
  taskFrame(fn: TaskFunction): number {
    const position = this.#reading.taskPlaces.of(fn);
    return position === undefined ? STACK_RUNTIME : this.#outermostFrame(fn.name, position);
  }

  #build(id: number, taskName: string | undefined): number {
    const path = this.#path(id);
    const name = path.at(-1)?.callFrame.functionName;
    if (path.length === 0 || name === IDLE) return STACK_IDLE;
    if (path.some(({ callFrame }) => callFrame.url === PROFILER_SCRIPT)) return DROPPED;
    if (path.length === 1 && name === PROGRAM) return OUTSIDE_JAVASCRIPT;
    if (path.length === 1 && name === GARBAGE_COLLECTOR)
      return this.#outermostFrame(GARBAGE_COLLECTOR, NO_POSITION);
    const first = this.#firstOfTask(path);
    if (first === path.length) return STACK_RUNTIME;
    let parent = -1;
    const caller = path[first - 1]?.callFrame;
    const isTask = caller !== undefined && this.#reading.runsTasks(caller.url, caller.functionName);
    for (const node of path.slice(first)) parent = this.#frame(node, parent, isTask ? taskName : undefined);
    const called = path[first]?.callFrame;
    if (isTask && called !== undefined) {
      const { functionName } = called;
      this.#called.set(id, { functionName, position: this.#positionOf(called) });
    }
    return parent;
  }

  /** Returns the nodes from the outermost function inwards, without V8's root. */
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
   * Returns the index of the task's first frame. Longpole's frames lead to a task. Below a task that continues after
   * an await, there are only Node's frames, or none. Code of the engine, such as `stringify`, has no file; it is a
   * task where Longpole calls it as one.
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

  #frame(node: CpuProfileNode, parent: number, taskName: string | undefined): number {
    const known = this.#stacks.get(-node.id - 1);
    if (known !== undefined) return known;
    const { functionName } = node.callFrame;
    const position = this.#positionOf(node.callFrame);
    const ofTask = parent < 0 ? taskName : undefined;
    const name = functionName === '' ? (ofTask ?? '(anonymous)') : functionName;
    const stack = parent < 0 ? this.#outermostFrame(name, position) : this.#push(parent, name, position);
    // Negative keys stand for a node inside a task. Only the frames below a node decide which frames are removed.
    this.#stacks.set(-node.id - 1, stack);
    return stack;
  }

  #positionOf({ url, lineNumber, columnNumber }: CpuProfileNode['callFrame']): SourcePosition {
    if (url === '' || lineNumber < 0) return { file: url, line: 0 };
    return this.#reading.functionPosition(url, lineNumber, columnNumber);
  }

  #outermostFrame(name: string, position: SourcePosition): number {
    const key = `${name}\u0000${position.file}\u0000${position.line}`;
    return getOrMake(this.#outermost, key, () => this.#push(-1, name, position));
  }

  #push(parent: number, name: string, { file, line }: SourcePosition): number {
    const { parents, names, files, lines } = this.#columns;
    names.push(name);
    files.push(file);
    lines.push(line);
    return parents.push(parent) - 1;
  }
}

// Assigns samples to tasks: the task whose interval contains the time of the sample.

/** Marks a time at which no task ran. */
const NO_TASK = -1;

/**
 * Returns the task at each time, or NO_TASK. Intervals include both ends. Where intervals overlap (a task is awaited
 * while others run), the one that started last counts.
 *
 * Cost: one pass over both.
 *
 * @param times ascending
 */
export function tasksAt(times: Float64Array, intervals: TaskIntervals): Float64Array {
  const { starts, stops, tasks } = intervals;
  const found = new Float64Array(times.length).fill(NO_TASK);
  /** Started intervals that may not have ended, the latest last. */
  const open: number[] = [];
  let next = 0;
  for (const [sample, time] of times.entries()) {
    for (; next < starts.length && starts[next]! <= time; next++) open.push(next);
    // An ended interval may lie below an open one. It is removed once the open one ends.
    while (open.length > 0 && stops[open[open.length - 1]!]! < time) open.pop();
    const latest = open.at(-1);
    if (latest !== undefined) found[sample] = tasks[latest]!;
  }
  return found;
}

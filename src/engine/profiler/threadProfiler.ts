// The statistical profiler of one thread, driven from outside it: V8 samples, and profiles that overlap are rotated
// once a cycle through the inspector, also in the middle of a task. Overlapping console profiles because stopping and
// starting takes 10 ms and more each time, and V8 loses the names of functions that are running then.
//
// A thread that dies takes the samples of its last cycle along. Inside one long native call (`JSON.parse` of a huge
// text) nothing is rotated; its samples are taken all the same and arrive after it.
import {
  type CpuProfile,
  type CpuProfileNode,
  PROFILER_SCRIPT,
  type ProfileReading,
  readCpuProfile,
} from '../../profile/cpuProfile.js';
import type { ProfileCycle, TaskIntervals } from '../../protocol/profileCycle.js';
import { mapExpression, SourcePositions } from './sourcePositions.js';
import { forgetThread, type InspectorChannel, inspectThisThread, inspectThread } from './threadInspector.js';

export interface ThreadProfilerOptions {
  /** Name of a worker thread of this process, unique in it; without it this thread itself is profiled, as `scheduler`. */
  readonly thread?: string;
  /** Seconds between two samples, at least 0.0001, default 0.01. */
  readonly interval?: number;
  /** Seconds of a cycle, default 1. */
  readonly cycleInterval?: number;
  /** Milliseconds to add to `process.hrtime` to get milliseconds since the epoch. */
  readonly epochOffsetMs: number;
  /** Which tasks the thread ran between two times; asked once per cycle. Default: none. */
  readonly tasks?: (start: number, stop: number) => TaskIntervals;
  /** Called with each cycle, in their order. */
  readonly onCycle: (cycle: ProfileCycle) => void;
  /** Called when profiling has begun: the thread did nothing else from `start` to `stop`, seconds since the epoch. */
  readonly onStarted?: (start: number, stop: number) => void;
}

/**
 * A thread is profiled once it has been busy for this long, in milliseconds: starting costs 20 ms of its time, and 50 while
 * it loads modules. Its heap is small still, on which the cost depends.
 */
const START_AFTER_MS = 50;
/** A thread without work is profiled on for this many times what starting costs: then starting again costs 1 % at most. */
const IDLE_FACTOR = 100;
/** V8 throws a thread's optimised code away at most this often, in milliseconds: making it anew takes 60 to 180 of its time. */
const FORGETTING_MS = 12_000;
/** How long `flush` waits for a thread that is in a native call, in milliseconds. */
const FLUSH_PATIENCE_MS = 2000;
/** The clock of profiles, in milliseconds, as the thread reads it. */
const CLOCK = 'Number(process.hrtime.bigint()) / 1e6';
const NO_INTERVALS: TaskIntervals = { starts: [], stops: [], tasks: [] };

/** Numbers the profiles of this process: V8 knows them by title. */
let profiles = 0;

export class ThreadProfiler {
  readonly #options: ThreadProfilerOptions;
  readonly #reading: Omit<ProfileReading, 'after'>;
  readonly #positions = new SourcePositions();
  #channel: InspectorChannel | undefined;
  #release: (() => void) | undefined;
  /** Titles of profiles that this one has started and whose samples have not come. */
  readonly #titles = new Set<string>();
  /** Title of the profile that V8 fills now. */
  #title: string | undefined;
  #attached = false;
  #startTimer: NodeJS.Timeout | undefined;
  #closed = false;
  /** A request to rotate is on its way. */
  #rotating = false;
  #rotation: NodeJS.Timeout | undefined;
  #idleTimer: NodeJS.Timeout | undefined;
  /** How long V8 took to start, in milliseconds. It grows with the heap. */
  #startCostMs = 0;
  /** Code that V8 optimised before this profile began may have no name in it. */
  #unnamed = false;
  /** When optimised code was last thrown away, on `performance.now()`. */
  #forgotten = Number.NEGATIVE_INFINITY;
  #after = 0;
  /** Profiles that have ended and whose cycle has not been told. */
  #outstanding = 0;
  #delivered: (() => void)[] = [];
  /** The cycles before, so that they are told in order. */
  #queue: Promise<void> = Promise.resolve();

  /** Starts when the thread is busy. */
  constructor(options: ThreadProfilerOptions) {
    this.#options = options;
    const { interval = 0.01, epochOffsetMs, tasks = () => NO_INTERVALS, thread } = options;
    this.#reading = {
      thread: thread ?? 'scheduler',
      interval,
      toEpoch: (microseconds) => (microseconds / 1000 + epochOffsetMs) / 1000,
      isRuntime: thread === undefined ? isNodeFile : isRuntimeFile,
      callsTasks,
      functionPosition: (url, line, column) => this.#positions.functionPosition(url, line, column),
      runningLine: (url, line) => this.#positions.runningLine(url, line),
      tasks,
    };
  }

  /** The thread has work. To be called again and again, or until `idle`. */
  busy(): void {
    clearTimeout(this.#idleTimer);
    this.#idleTimer = undefined;
    if (this.#title !== undefined) this.#nameOptimisedCode();
    if (this.#title !== undefined || this.#startTimer !== undefined || this.#closed) return;
    this.#startTimer = setTimeout(() => this.#begin(), START_AFTER_MS);
    this.#startTimer.unref();
  }

  /** The thread has nothing to do: profiling ends soon, and then costs nothing. */
  idle(): void {
    clearTimeout(this.#startTimer);
    this.#startTimer = undefined;
    if (this.#title === undefined || this.#idleTimer !== undefined) return;
    const { cycleInterval = 1 } = this.#options;
    const wait = Math.max(cycleInterval * 1000, IDLE_FACTOR * this.#startCostMs);
    this.#idleTimer = setTimeout(() => this.#stop(), wait);
    this.#idleTimer.unref();
  }

  /** Resolves when everything sampled so far has been told, or when the thread does not answer for two seconds. */
  async flush(): Promise<void> {
    this.#rotate();
    if (this.#outstanding === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, FLUSH_PATIENCE_MS);
      this.#delivered.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  /** Ends profiling; what has been sampled is still told if the thread lives. */
  close(): void {
    this.#closed = true;
    if (this.#options.thread !== undefined) forgetThread(this.#options.thread);
    clearTimeout(this.#idleTimer);
    clearTimeout(this.#startTimer);
    this.#stop();
    if (this.#outstanding === 0) this.#release?.();
  }

  /** The thread is about to be terminated: nothing more is sent to it, and the samples of its last cycle are lost. */
  abandon(): void {
    if (this.#options.thread !== undefined) forgetThread(this.#options.thread);
    clearTimeout(this.#idleTimer);
    clearTimeout(this.#startTimer);
    this.#lost();
  }

  #begin(): void {
    if (this.#channel !== undefined) {
      this.#start();
    } else if (!this.#attached) {
      this.#attached = true;
      const { thread } = this.#options;
      if (thread === undefined) this.#attach(inspectThisThread());
      else inspectThread(thread, (channel) => this.#attach(channel));
    }
  }

  #attach(channel: InspectorChannel): void {
    if (this.#closed) return;
    this.#channel = channel;
    this.#release = channel.on('Profiler.consoleProfileFinished', (params) => this.#finished(params));
    channel.send('Profiler.enable', {});
    channel.send('Profiler.setSamplingInterval', { interval: Math.round(this.#reading.interval * 1e6) });
    this.#start();
  }

  #start(): void {
    this.#startTimer = undefined;
    if (this.#channel === undefined || this.#closed) return;
    const title = this.#nextTitle();
    this.#title = title;
    const begin = performance.now();
    let before: unknown;
    this.#evaluate(
      `(() => { const now = ${CLOCK}; console.profile('${title}'); return now; })()`,
      (answer) => {
        before = evaluated(answer);
        this.#startCostMs = performance.now() - begin;
      },
    );
    this.#unnamed = true;
    this.#nameOptimisedCode();
    this.#evaluate(CLOCK, (answer) => this.#tellStarted(before, evaluated(answer)));
    const { cycleInterval = 1 } = this.#options;
    this.#rotation = setInterval(() => this.#rotate(), cycleInterval * 1000);
    this.#rotation.unref();
  }

  #tellStarted(before: unknown, after: unknown): void {
    const { onStarted } = this.#options;
    if (typeof before !== 'number' || typeof after !== 'number' || this.#closed) return;
    onStarted?.(this.#reading.toEpoch(before * 1000), this.#reading.toEpoch(after * 1000));
  }

  /**
   * V8 does not name code that it optimised in the middle of a loop before profiling began: the task that runs would be missing
   * from every sample, for as long as its loop takes, and until it is called again. Precise coverage, on and off again, has
   * V8 throw optimised code away; where that was done a moment ago, a later call for a busy thread does it.
   * Where somebody else may be measuring coverage, that is left alone.
   */
  #nameOptimisedCode(): void {
    if (!this.#unnamed || this.#options.thread === undefined) return;
    if (process.env['NODE_V8_COVERAGE'] !== undefined) return;
    const now = performance.now();
    if (now - this.#forgotten < FORGETTING_MS) return;
    this.#unnamed = false;
    this.#forgotten = now;
    this.#channel?.send('Profiler.startPreciseCoverage', { callCount: false, detailed: false });
    this.#channel?.send('Profiler.stopPreciseCoverage', {});
  }

  #rotate(): void {
    const ended = this.#title;
    // A thread in a native call answers later: one rotation waits for it, not a row of them.
    if (ended === undefined || this.#rotating) return;
    const title = this.#nextTitle();
    this.#title = title;
    this.#rotating = true;
    this.#outstanding++;
    this.#evaluate(`console.profile('${title}'); console.profileEnd('${ended}')`, (answer) => {
      this.#rotating = false;
      if (answer === undefined) this.#lost();
    });
  }

  #stop(): void {
    clearInterval(this.#rotation);
    this.#idleTimer = undefined;
    const ended = this.#title;
    this.#title = undefined;
    if (ended === undefined) return;
    this.#outstanding++;
    this.#evaluate(`console.profileEnd('${ended}')`, (answer) => {
      if (answer === undefined) this.#lost();
    });
  }

  #finished(params: unknown): void {
    const message = consoleProfile(params);
    if (message === undefined || !this.#titles.delete(message.title)) return;
    const { profile } = message;
    const unknown = this.#positions.unknown(profile.nodes.map(({ callFrame }) => callFrame.url));
    const maps = Promise.all(unknown.map((url) => this.#askForMap(url)));
    this.#queue = this.#queue.then(() => maps).then(() => this.#tell(profile));
  }

  #tell(profile: CpuProfile): void {
    const cycle = readCpuProfile(profile, { ...this.#reading, after: this.#after });
    this.#after = cycle.times.at(-1) ?? this.#after;
    this.#options.onCycle(cycle);
    this.#settle();
  }

  #askForMap(url: string): Promise<void> {
    return new Promise((resolve) => {
      const answer = (result: unknown): void => {
        this.#positions.learn(url, evaluated(result));
        resolve();
      };
      if (this.#channel === undefined) answer(undefined);
      else this.#evaluate(mapExpression(url), answer);
    });
  }

  /** The thread is gone. */
  #lost(): void {
    this.#closed = true;
    this.#title = undefined;
    clearInterval(this.#rotation);
    this.#outstanding = 1;
    this.#settle();
  }

  #nextTitle(): string {
    const title = `longpole-${profiles++}`;
    this.#titles.add(title);
    return title;
  }

  #settle(): void {
    this.#outstanding--;
    if (this.#outstanding > 0) return;
    if (this.#closed) this.#release?.();
    for (const resolve of this.#delivered.splice(0)) resolve();
  }

  #evaluate(script: string, answer: (result: unknown) => void): void {
    const expression = `${script}\n//# sourceURL=${PROFILER_SCRIPT}`;
    this.#channel?.send('Runtime.evaluate', { expression, silent: true, returnByValue: true }, answer);
  }
}

// Reads what a thread's inspector sends: it comes as JSON, from another thread or process.

/** `Profiler.consoleProfileFinished`, or undefined if it is not one that this program understands. */
function consoleProfile(params: unknown): { title: string; profile: CpuProfile } | undefined {
  if (!hasShape(params, { title: 'string', profile: 'object' })) return undefined;
  const { title, profile } = params;
  return typeof title === 'string' && isCpuProfile(profile) ? { title, profile } : undefined;
}

/** The value of a `Runtime.evaluate` that was asked to return it; undefined if there is none. */
function evaluated(result: unknown): unknown {
  if (!hasShape(result, { result: 'object' })) return undefined;
  const { result: inner } = result;
  if (!hasShape(inner, {})) return undefined;
  const { value } = inner;
  return value;
}

function isCpuProfile(value: unknown): value is CpuProfile {
  if (!hasShape(value, { startTime: 'number', endTime: 'number' })) return false;
  const { nodes, samples, timeDeltas } = value;
  return Array.isArray(nodes) && nodes.every(isNode) && isNumbers(samples) && isNumbers(timeDeltas);
}

function isNode(value: unknown): value is CpuProfileNode {
  if (!hasShape(value, { id: 'number', callFrame: 'object' })) return false;
  const { callFrame, children, positionTicks } = value;
  return (
    hasShape(callFrame, {
      functionName: 'string',
      url: 'string',
      lineNumber: 'number',
      columnNumber: 'number',
    }) &&
    (children === undefined || isNumbers(children)) &&
    (positionTicks === undefined ||
      (Array.isArray(positionTicks) &&
        positionTicks.every((tick) => hasShape(tick, { line: 'number', ticks: 'number' }))))
  );
}

function isNumbers(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'number');
}

function hasShape(
  value: unknown,
  fields: Readonly<Record<string, 'string' | 'number' | 'object'>>,
): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(fields).every(([name, type]) => typeof Reflect.get(value, name) === type);
}

// Which scripts are the runtime: Node's own, and this package where it runs tasks.

const PACKAGE = new URL('../../', import.meta.url).href;
const WORKER = new URL('../worker/', import.meta.url).href;
const CALLERS = new Set(['evaluator.js', 'loadFunctions.js'].map((name) => WORKER + name));
/** Programs of this package, which may be what a user wants to see. */
const PROGRAMS = ['examples/', 'cli/'].map((folder) => PACKAGE + folder);

function isRuntimeFile(url: string): boolean {
  if (url.startsWith('node:')) return true;
  return url.startsWith(PACKAGE) && !isTest(url) && !PROGRAMS.some((folder) => url.startsWith(folder));
}

/** Scripts that call the functions of tasks. */
function callsTasks(url: string): boolean {
  return CALLERS.has(url);
}

/** The scheduler's thread runs the runtime on purpose: there only Node's own frames are cut off. */
function isNodeFile(url: string): boolean {
  return url.startsWith('node:');
}

function isTest(url: string): boolean {
  return /\.test(\.support)?\.js$/.test(url);
}

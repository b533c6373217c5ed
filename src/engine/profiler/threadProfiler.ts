// The statistical profiler of one thread, controlled from outside. V8 takes samples. Overlapping profiles are rotated
// once a cycle through the inspector, also in the middle of a task. They overlap because stopping and starting takes
// 10 ms and more each time, and V8 loses the names of running functions.
//
// If a thread dies, the samples of its last cycle are lost. Inside one long native call (`JSON.parse` of a huge text)
// nothing is rotated; samples are still taken, and arrive after it.
import type { Profiler } from 'node:inspector';
import type { EventLoopUtilization } from 'node:perf_hooks';
import type { Worker } from 'node:worker_threads';
import { fieldOf } from '../../base/json.js';
import {
  type CpuProfile,
  PROFILER_SCRIPT,
  type ProfileReading,
  readCpuProfile,
} from '../../profile/cpuProfile.js';
import { type TaskFunction, TaskPlaces } from '../../profile/taskPlaces.js';
import type { ProfileCycle, TaskIntervals } from '../../protocol/clusterObserver.js';
import { within } from '../within.js';
import { CodeNaming } from './codeNaming.js';
import { nodeProfile } from './nodeProfile.js';
import { callsTasks, isNodeFile, isRuntimeFile, runsTasks } from './runtimeScripts.js';
import { mapExpression, SourcePositions } from './sourcePositions.js';
import { forgetThread, type InspectorChannel, inspectThisThread, inspectThread } from './threadInspector.js';

type EventLoop = Pick<Worker['performance'], 'eventLoopUtilization'>;

export interface ThreadProfilerOptions {
  /** Unique name of a worker thread of this process. Without it, this thread itself is profiled, as `scheduler`. */
  readonly thread?: string;
  /** Event loop of that thread. Default: the one of this thread. */
  readonly loop?: EventLoop;
  /** Seconds between two samples, at least 0.0001, default 0.01. */
  readonly interval?: number;
  /** Seconds of a cycle, default 1. */
  readonly cycleInterval?: number;
  /** Milliseconds to add to `process.hrtime` to get milliseconds since the epoch. */
  readonly epochOffsetMs: number;
  /** Returns the tasks that the thread ran between two times; called once per cycle. Default: none. */
  readonly tasks?: (start: number, stop: number) => TaskIntervals;
  /** Returns the function of a task. Default: unknown. */
  readonly taskFunction?: (task: number) => TaskFunction | undefined;
  /** Called with each cycle, in order. */
  readonly onCycle: (cycle: ProfileCycle) => void;
  /** Called when profiling has started, which blocked the thread from `start` to `stop`, seconds since the epoch. */
  readonly onStarted?: (start: number, stop: number) => void;
}

/**
 * Milliseconds that the event loop of a thread must be active before the thread is profiled. Starting takes 20 ms of its time, and
 * 50 ms while it loads modules. The cost grows with its heap.
 */
const START_AFTER_MS = 50;
/** Multiple of the starting cost for which an idle thread is still profiled, so that another start costs 1 % at most. */
const IDLE_FACTOR = 100;
/** Milliseconds that `flush` waits for a thread in a native call. */
const FLUSH_PATIENCE_MS = 2000;
/** Expression for the clock of profiles, in milliseconds, as the thread reads it. */
const CLOCK = 'Number(process.hrtime.bigint()) / 1e6';
const NO_INTERVALS: TaskIntervals = { starts: [], stops: [], tasks: [] };

/** Number of profiles of this process, because V8 identifies them by title. */
let profiles = 0;

export class ThreadProfiler {
  readonly #options: ThreadProfilerOptions;
  readonly #reading: Omit<ProfileReading, 'after'>;
  readonly #positions = new SourcePositions();
  #channel: InspectorChannel | undefined;
  #release: (() => void) | undefined;
  /** Titles of started profiles whose samples have not arrived. */
  readonly #titles = new Set<string>();
  /** Title of the profile that V8 fills now. */
  #title: string | undefined;
  #attached = false;
  #startTimer: NodeJS.Timeout | undefined;
  readonly #loop: EventLoop;
  /** State of the event loop when the thread first had work without being profiled. */
  #before: EventLoopUtilization | undefined;
  #closed = nodeProfile() !== undefined;
  /** True while a request to rotate is in progress. */
  #rotating = false;
  #rotation: NodeJS.Timeout | undefined;
  #idleTimer: NodeJS.Timeout | undefined;
  /** Milliseconds that V8 took to start. They grow with the heap. */
  #startCostMs = 0;
  readonly #naming = new CodeNaming();
  #after = 0;
  /** Number of finished profiles whose cycle has not been reported. */
  #outstanding = 0;
  #delivered: (() => void)[] = [];
  /** Completes after the earlier cycles, so that cycles are reported in order. */
  #queue: Promise<void> = Promise.resolve();

  /** Starts profiling once the thread is busy. */
  constructor(options: ThreadProfilerOptions) {
    this.#options = options;
    const { loop = performance } = options;
    this.#loop = loop;
    const { interval = 0.01, epochOffsetMs, tasks = () => NO_INTERVALS, taskFunction, thread } = options;
    this.#reading = {
      thread: thread ?? 'scheduler',
      interval,
      toEpoch: (microseconds) => (microseconds / 1000 + epochOffsetMs) / 1000,
      isRuntime: thread === undefined ? isNodeFile : isRuntimeFile,
      callsTasks,
      runsTasks,
      ...(taskFunction === undefined ? {} : { taskFunction }),
      taskPlaces: new TaskPlaces(),
      functionPosition: (url, line, column) => this.#positions.functionPosition(url, line, column),
      runningLine: (url, line) => this.#positions.runningLine(url, line),
      tasks,
      onTaskSample: (task, time, isHidden) => this.#naming.sampled(task, time, isHidden),
    };
  }

  /** Whether V8 takes samples now. */
  get isSampling(): boolean {
    return this.#title !== undefined;
  }

  /** Records that the thread has work; profiling starts soon. Call it at every poll in which the thread runs a task. */
  busy(): void {
    clearTimeout(this.#idleTimer);
    this.#idleTimer = undefined;
    if (this.#title !== undefined) this.#nameOptimisedCode();
    if (this.#title !== undefined || this.#startTimer !== undefined || this.#closed) return;
    this.#before ??= this.#loop.eventLoopUtilization();
    this.#beginLater(this.#before);
  }

  /** Records that the thread is idle; profiling ends soon. */
  idle(): void {
    clearTimeout(this.#startTimer);
    this.#startTimer = undefined;
    if (this.#title === undefined || this.#idleTimer !== undefined) return;
    const { cycleInterval = 1 } = this.#options;
    const wait = Math.max(cycleInterval * 1000, IDLE_FACTOR * this.#startCostMs);
    this.#idleTimer = setTimeout(() => this.#stop(), wait);
    this.#idleTimer.unref();
  }

  /** Resolves when all samples so far have been reported, or when the thread does not answer for two seconds. */
  async flush(): Promise<void> {
    this.#rotate();
    if (this.#outstanding === 0) return;
    const delivered = new Promise<void>((resolve) => this.#delivered.push(resolve));
    await within(FLUSH_PATIENCE_MS, delivered);
  }

  /** Ends profiling. Samples are still reported if the thread lives. */
  close(): void {
    this.#closed = true;
    if (this.#options.thread !== undefined) forgetThread(this.#options.thread);
    clearTimeout(this.#idleTimer);
    clearTimeout(this.#startTimer);
    this.#stop();
    if (this.#outstanding === 0) this.#release?.();
  }

  /**
   * Records that the thread is about to be terminated: nothing more is sent to it, and the samples of its last cycle
   * are lost.
   */
  abandon(): void {
    if (this.#options.thread !== undefined) forgetThread(this.#options.thread);
    clearTimeout(this.#idleTimer);
    clearTimeout(this.#startTimer);
    this.#lost();
  }

  #beginLater(before: EventLoopUtilization): void {
    this.#startTimer = setTimeout(() => {
      if (this.#loop.eventLoopUtilization(before).active < START_AFTER_MS) this.#beginLater(before);
      else this.#begin();
    }, START_AFTER_MS);
    this.#startTimer.unref();
  }

  #begin(): void {
    this.#before = undefined;
    if (this.#channel !== undefined) {
      this.#start();
    } else if (!this.#attached) {
      this.#attached = true;
      const { thread } = this.#options;
      if (thread === undefined) this.#attach(inspectThisThread());
      else inspectThread(thread, (channel) => this.#attach(channel));
    }
  }

  #attach(channel: InspectorChannel | undefined): void {
    if (this.#closed || channel === undefined) return;
    this.#channel = channel;
    this.#release = channel.onProfile((title, profile) => this.#finished(title, profile));
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
    this.#naming.started();
    this.#nameOptimisedCode();
    this.#evaluate(CLOCK, (answer) => this.#reportStart(before, evaluated(answer)));
    const { cycleInterval = 1 } = this.#options;
    this.#rotation = setInterval(() => this.#rotate(), cycleInterval * 1000);
    this.#rotation.unref();
  }

  #reportStart(before: unknown, after: unknown): void {
    const { onStarted } = this.#options;
    if (typeof before !== 'number' || typeof after !== 'number' || this.#closed) return;
    onStarted?.(this.#reading.toEpoch(before * 1000), this.#reading.toEpoch(after * 1000));
  }

  /**
   * Makes V8 discard optimised code that may lack names: switching precise coverage on and off does that. If it
   * happened recently, a later call for a busy thread does it.
   */
  #nameOptimisedCode(): void {
    if (this.#options.thread === undefined || !this.#naming.discardsAt(performance.now())) return;
    this.#channel?.send('Profiler.startPreciseCoverage', { callCount: false, detailed: false });
    this.#channel?.send('Profiler.stopPreciseCoverage', {});
  }

  #rotate(): void {
    const ended = this.#title;
    // A thread in a native call answers later. Only one rotation waits for it.
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

  #finished(title = '', { samples = [], timeDeltas = [], ...profile }: Profiler.Profile): void {
    if (!this.#titles.delete(title)) return;
    // Named properties: V8 takes ten times as long for a spread.
    const nodes = profile.nodes.map(({ id, callFrame, children = [], positionTicks = [] }) => ({
      id,
      callFrame,
      children,
      positionTicks,
    }));
    const unknown = this.#positions.unknown(nodes.map(({ callFrame }) => callFrame.url));
    const maps = Promise.all(unknown.map((url) => this.#askForMap(url)));
    const complete = { ...profile, nodes, samples, timeDeltas };
    this.#queue = this.#queue.then(() => maps).then(() => this.#report(complete));
  }

  #report(profile: CpuProfile): void {
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

  /** Handles the end of the thread. */
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

/** Returns the value of a `Runtime.evaluate` with `returnByValue`; undefined if there is none. */
function evaluated(result: unknown): unknown {
  return fieldOf(fieldOf(result, 'result'), 'value');
}

// The thread of an isolate, as used by its host.
import { EventEmitter } from 'node:events';
import { Worker, type WorkerOptions } from 'node:worker_threads';
import type {
  FromIsolate,
  IsolateBirth,
  IsolateMeasures,
  Several,
  ToIsolate,
} from '../../protocol/isolateMessages.js';
import type { TaskQuestion } from '../../protocol/questions.js';
import type { ExecutingTask } from '../../protocol/workerMessages.js';
import { openCompiler } from './moduleCompiler.js';
import { enlargeYoungGeneration } from './youngGeneration.js';

const ENTRY = new URL('../worker/threadMain.js', import.meta.url);

/** The parts of a thread that its host uses. The protocol model in the tests has another implementation. */
export interface IsolateThread extends Pick<Worker, 'ref' | 'unref'> {
  postMessage(message: ToIsolate | Several<ToIsolate>): void;
  on(event: 'message', listener: (message: FromIsolate) => void): unknown;
  /** Called when a message could not be deserialized. */
  on(event: 'messageerror', listener: (error: unknown) => void): unknown;
  on(event: 'error', listener: (error: unknown) => void): unknown;
  on(event: 'exit', listener: (code: number) => void): unknown;
  terminate(): Promise<unknown>;
}

export type StartThread = (birth: IsolateBirth) => IsolateThread;

export interface ThreadIsolateOptions {
  /** Called once, when the thread has ended or is given up. `executing`: the task that ran then. `cause`: why it ended. */
  readonly gone?: ((executing: ExecutingTask | undefined, cause: Error) => void) | undefined;
  /** Receives the isolate's measurements of its tasks. Default: nothing is measured. */
  readonly measured?: ((measures: IsolateMeasures) => void) | undefined;
  /** Receives the questions of tasks. Default: tasks cannot ask. */
  readonly asked?: ((question: TaskQuestion) => void) | undefined;
  readonly start?: StartThread | undefined;
}

/** A thread whose event loop can be observed, unless the system refused it. */
export type StartedThread = IsolateThread & Partial<Pick<Worker, 'performance'>>;

/** Smallest limit on the heap, in bytes, of which a large young generation is a small part. */
const LARGE_HEAP = 512 * 2 ** 20;

/** Starts the thread of an isolate in this process, with at most `heap` bytes of JavaScript heap. Default: V8's limit. */
export function startThread(birth: IsolateBirth, heap?: number): StartedThread {
  const limits =
    heap === undefined ? {} : { resourceLimits: { maxOldGenerationSizeMb: Math.floor(heap / 2 ** 20) } };
  if (heap === undefined || heap >= LARGE_HEAP) enlargeYoungGeneration();
  try {
    return new Worker(ENTRY, { ...optionsOf(birth), ...limits });
  } catch (error) {
    return new RefusedThread(error);
  }
}

/** A thread that the system refused, e.g. at a limit on processes. It ends as one that fails during its start. */
class RefusedThread extends EventEmitter implements IsolateThread {
  constructor(reason: unknown) {
    super();
    setImmediate(() => {
      this.emit('error', reason);
      this.emit('exit', 1);
    });
  }

  ref(): void {}
  unref(): void {}
  postMessage(): void {}
  async terminate(): Promise<void> {}
}

/**
 * Returns options that give the modules of tasks the program's arguments in `process.argv`. The file before them is the
 * thread's entry, so that the program's check for the main module fails in the thread.
 */
function optionsOf(birth: IsolateBirth): WorkerOptions {
  const options = { name: birth.name, argv: process.argv.slice(2) };
  const compiler = openCompiler(birth.metered);
  if (compiler === undefined) return { ...options, workerData: birth };
  return { ...options, workerData: { ...birth, compiler }, transferList: [compiler.port], execArgv: [] };
}

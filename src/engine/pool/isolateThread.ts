// The thread of an isolate, as its host uses it.
import { Worker, type WorkerOptions } from 'node:worker_threads';
import type { FromIsolate, IsolateBirth, ToIsolate } from '../../protocol/isolateMessages.js';
import type { Several } from '../../protocol/several.js';

const ENTRY = new URL('../worker/threadMain.js', import.meta.url);

/** What an isolate needs of its thread. A model of the protocol has threads of its own. */
export interface IsolateThread extends Pick<Worker, 'ref' | 'unref'> {
  postMessage(message: ToIsolate | Several<ToIsolate>): void;
  on(event: 'message', listener: (message: FromIsolate) => void): unknown;
  /** A message could not be deserialized. */
  on(event: 'messageerror', listener: (error: unknown) => void): unknown;
  on(event: 'error', listener: (error: unknown) => void): unknown;
  on(event: 'exit', listener: (code: number) => void): unknown;
  terminate(): Promise<unknown>;
}

export type StartThread = (birth: IsolateBirth) => IsolateThread;

/** Starts the thread of an isolate in this process. */
export const startThread: StartThread = (birth) => new Worker(ENTRY, optionsOf(birth));

/** The same, with at most so many bytes of JavaScript heap. */
export function startThreadWithin(heap: number): StartThread {
  const resourceLimits = { maxOldGenerationSizeMb: Math.floor(heap / 2 ** 20) };
  return (birth) => new Worker(ENTRY, { ...optionsOf(birth), resourceLimits });
}

/**
 * Modules of tasks read the arguments of the program at their places in `process.argv`. In front of them, where a program checks
 * whether it is the main module, stands the file of the thread.
 */
function optionsOf(birth: IsolateBirth): WorkerOptions {
  return { workerData: birth, name: birth.name, argv: process.argv.slice(2) };
}

// Output of tasks beside their results: printed lines, for the log of the trace, and uncaught errors. An uncaught
// error ends the isolate. The asynchronous context identifies the task that caused it, even after the task has ended.

import { writeSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import { inspect } from 'node:util';
import { visibleName, visibleText } from '../../base/visibleText.js';
import type { IsolateOutput } from '../../protocol/isolateMessages.js';
import { meterContext } from './meterContext.js';
import { TaskMeter } from './taskMeter.js';
import { cutStacks } from './thrownByTask.js';

/** Most lines of one isolate in the trace. A task that prints without end must not fill its memory. */
const MOST_LINES = 10_000;
/** Most characters of a line in the trace. */
const MOST_CHARACTERS = 1000;
const STDERR = 2;
const MOST_REACHED = `The worker has printed ${MOST_LINES} lines. Further lines are printed and not recorded.`;

type Post = (output: IsolateOutput) => void;

/** Posts the lines that this thread prints, and the error that ends it. Both are still printed. */
export function watchOutput(post: Post): void {
  let lines = 0;
  const note = (topic: 'stdout' | 'stderr', text: string): void => {
    if (lines++ < MOST_LINES) post(outputOf(topic, text));
    else if (lines === MOST_LINES + 1) post(outputOf(topic, MOST_REACHED));
  };
  watchStream(process.stdout, (line) => note('stdout', line));
  watchStream(process.stderr, (line) => note('stderr', line));
  process.on('uncaughtExceptionMonitor', (error) => {
    cutStacks(error);
    post(outputOf('uncaught-error', inspect(error)));
  });
}

/**
 * Prints an error that ends this thread, with the task that caused it. Writes it synchronously, because the streams
 * of an ending thread may lose text.
 */
export function printUncaughtErrors(worker: string): void {
  process.on('uncaughtExceptionMonitor', (error, origin) => {
    cutStacks(error);
    const what = origin === 'unhandledRejection' ? 'unhandled rejection' : 'uncaught error';
    const { prefix = '' } = currentTask() ?? {};
    const where = prefix === '' ? '' : `, caused by a task of '${visibleName(prefix)}'`;
    try {
      writeSync(STDERR, visibleText(`longpole: ${what} in ${worker}${where}:\n${inspect(error)}\n`));
    } catch {
      // A program that closed its error output does not read the text.
    }
  });
}

/** Calls back with each line that is written to the stream. */
function watchStream(stream: NodeJS.WriteStream, note: (line: string) => void): void {
  const write = stream.write;
  // A write may end in the middle of a character.
  const decoder = new StringDecoder();
  let rest = '';
  // The finding `console-output` finds this function in samples.
  const recordedWrite = (...args: Parameters<NodeJS.WriteStream['write']>): boolean => {
    const [chunk, encoding] = args;
    const isText = typeof chunk === 'string' && typeof encoding !== 'string';
    const text = isText ? chunk : decoder.write(bytesOf(chunk, encoding));
    const lines = (rest + text).split('\n');
    rest = (lines.pop() ?? '').slice(-MOST_CHARACTERS);
    for (const line of lines) note(line);
    return Reflect.apply(write, stream, args);
  };
  Object.defineProperty(stream, 'write', { value: recordedWrite, writable: true, configurable: true });
}

/** Returns the bytes of a chunk, which may be a text of any encoding, e.g. hexadecimal digits. */
function bytesOf(chunk: string | Uint8Array, encoding: unknown): Uint8Array {
  if (typeof chunk !== 'string') return chunk;
  return Buffer.from(chunk, typeof encoding === 'string' && Buffer.isEncoding(encoding) ? encoding : 'utf8');
}

function outputOf(topic: IsolateOutput['topic'], text: string): IsolateOutput {
  const { run = -1, id = -1 } = currentTask() ?? {};
  return { topic, text: text.slice(0, MOST_CHARACTERS), run, id };
}

/** Returns the task of the running code, also after an `await`, if the isolate measures its tasks. */
function currentTask(): TaskMeter | undefined {
  const task = meterContext.getStore()?.task;
  return task instanceof TaskMeter ? task : undefined;
}

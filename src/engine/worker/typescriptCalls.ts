// Entry point of a Node process that runs functions of TypeScript for a thread of Python, one call after the other. Messages
// travel over the socket whose descriptor is the first argument. python/longpole_dask/typescript_calls.py has the counterpart.
import { Socket } from 'node:net';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { attempt, isError, messageOf } from '../../base/errors.js';
import { type AnyFunction, isFunction, resolveFunction } from '../../graph/callable.js';
import { type MessageHead, readMessages, sendMessage } from './pythonMessages.js';
import { decodeValue, type Encoded, encodeValues } from './pythonValues.js';

interface CallHead extends MessageHead {
  /** Path of the module. */
  readonly file: string;
  /** Name of the module for errors. */
  readonly module: string;
  /** Name of the export. */
  readonly name: string;
  readonly value: unknown;
}

/** Error of a call. `kind` is its cause: the function threw, it does not exist, or its result has no counterpart. */
interface CallFailure {
  readonly kind: 'thrown' | 'missing' | 'value';
  readonly name: string;
  readonly message: string;
  readonly stack: string;
}

/**
 * Ends this process when its standard input ends, which only the end of the Python process closes. It is a thread, so
 * that a function that never returns ends as well. The folder of the files has no other owner then.
 */
const WATCH = `
  const { Socket } = require('node:net');
  const input = new Socket({ fd: 0, readable: true, writable: false });
  input.on('error', () => {}).on('close', () => {
    require('node:fs').rmSync(require('node:worker_threads').workerData, { recursive: true, force: true });
    process.kill(process.pid, 'SIGKILL');
  }).resume();
`;

const NOTHING: Encoded = { tree: null, buffers: [] };

async function serve(descriptor: number): Promise<void> {
  const socket = new Socket({ fd: descriptor, readable: true, writable: true });
  for await (const { head, buffers } of readMessages<CallHead>(socket)) {
    try {
      sendMessage(socket, {}, await called(head, buffers));
    } catch (error) {
      sendMessage(socket, { error: failureOf(error) }, NOTHING);
    }
  }
}

/** Failure of a call that is not an error of the function. */
class CallRefused extends Error {
  readonly kind: 'missing' | 'value';

  constructor(kind: 'missing' | 'value', message: string) {
    super(message);
    this.kind = kind;
  }
}

async function called(head: CallHead, buffers: readonly ArrayBuffer[]): Promise<Encoded> {
  const { value, name } = head;
  const decoded = decodeValue(value, buffers);
  const args: unknown[] = Array.isArray(decoded) ? decoded : [];
  const fn = await functionOf(head);
  const result: unknown = await Reflect.apply(fn, undefined, args);
  try {
    return encodeValues([result], () => `The result of ${name}`, 'Return');
  } catch (error) {
    throw new CallRefused('value', messageOf(error));
  }
}

async function functionOf({ file, module, name }: CallHead): Promise<AnyFunction> {
  // Node keeps the module after the first import.
  const exported: Record<string, unknown> = await import(pathToFileURL(file).href);
  const { default: main } = exported;
  // A bundle of a CommonJS module has its exports as `default`.
  const named = Object.hasOwn(exported, name) || !isRecord(main) ? exported : main;
  const found = Object.hasOwn(named, name) ? named[name] : undefined;
  if (isFunction(found)) return resolveFunction(found);
  const others = Object.keys(named).filter((one) => isFunction(named[one]));
  throw new CallRefused(
    'missing',
    `The module ${module} exports no function '${name}'. Its functions: ${others.join(', ') || 'none'}.`,
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function failureOf(thrown: unknown): CallFailure {
  if (thrown instanceof CallRefused)
    return { kind: thrown.kind, name: '', message: thrown.message, stack: '' };
  if (!isError(thrown)) return { kind: 'thrown', name: '', message: textOf(thrown), stack: '' };
  const { name, message, stack } = thrown;
  // The stack frames of this program say nothing about the error.
  const lines = textOf(stack ?? '').split('\n');
  const own = lines.filter((line) => !line.includes(import.meta.url)).join('\n');
  return { kind: 'thrown', name: textOf(name), message: textOf(message), stack: own };
}

function textOf(value: unknown): string {
  return attempt(() => String(value), 'a value without text');
}

const [descriptor, folder] = process.argv.slice(2);
new Worker(WATCH, { eval: true, workerData: folder });
await serve(Number(descriptor));

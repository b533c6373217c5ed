// Tasks that the cluster tests run. Workers import this module, so it holds nothing but tasks. What two sides wait for
// is a file: workers may be threads or processes, and a file is the same for both.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parentPort } from 'node:worker_threads';
import { tasks } from 'longpole';

const pause = new Int32Array(new SharedArrayBuffer(4));

/** No gate of these tests stays closed longer, in seconds; a test that forgets one fails instead of hanging. */
const GATE_SECONDS = 60;

/** Keeps the thread busy until the file is there. */
function waitForFile(path: string): void {
  const until = performance.now() + GATE_SECONDS * 1000;
  while (!existsSync(path)) {
    if (performance.now() > until) throw new Error(`${path} never came`);
    Atomics.wait(pause, 0, 0, 2);
  }
}

/** How often this was called with the file, this call included. Only one task may use a file at a time. */
function countCall(path: string): number {
  const calls = existsSync(path) ? readFileSync(path, 'utf8').length + 1 : 1;
  writeFileSync(path, 'x'.repeat(calls));
  return calls;
}

class Point {
  readonly x = 1;
  readonly y = 2;
}

export const t = tasks(import.meta.url, {
  inc: (x: number): number => x + 1,
  add: (a: number, b: number): number => a + b,
  addModulo: (a: number, b: number): number => (a + b) % 1e6,
  asyncAdd: async (a: number, b: number): Promise<number> => {
    await new Promise((resolve) => setImmediate(resolve));
    return a + b;
  },
  echo: <T>(value: T): T => value,
  value: (x: number): number => x,
  /** Takes so much memory, and keeps it until its isolate is ended. */
  hoard: (kind: 'heap' | 'buffers', megabytes: number, folder: string): number => {
    const taken: unknown[] = [];
    for (let index = 0; index < megabytes; index++)
      taken.push(
        kind === 'heap' ? Array.from({ length: 2 ** 17 }, () => index / 7) : new Uint8Array(2 ** 20).fill(1),
      );
    waitForFile(join(folder, 'never.open'));
    return taken.length;
  },
  nothing: (): undefined => undefined,
  nil: (): null => null,
  fn: (): (() => number) => () => 1,
  holder: (): unknown => ({ inside: () => 1 }),
  point: (): Point => new Point(),
  sum: (values: readonly number[]): number => values.reduce((total, value) => total + value, 0),
  lengthOf: (values: ArrayLike<unknown>): number => values.length,
  total: (values: Float64Array): number => values.reduce((sum, value) => sum + value, 0),
  totalAfter: (values: Float64Array, _after: number): number => values.reduce((sum, value) => sum + value, 0),
  totals: (arrays: readonly Float64Array[]): number =>
    arrays.reduce((sum, values) => sum + values.reduce((part, value) => part + value, 0), 0),
  zeros: (length: number, value: number): Float64Array => new Float64Array(length).fill(value),
  plus: (values: Float64Array, by: number): Float64Array => values.map((value) => value + by),
  objects: (count: number): { id: number; name: string }[] =>
    Array.from({ length: count }, (_, id) => ({ id, name: `name ${id}` })),
  isShared: (values: Float64Array): boolean => values.buffer instanceof SharedArrayBuffer,
  /** Writes into shared memory: whoever has the same memory sees it. */
  mark: (values: Float64Array): number => {
    values[0] = 4711;
    return values.length;
  },
  fail: (message: string): never => {
    throw new RangeError(message);
  },
  failTimes: (path: string, times: number): number => {
    const calls = countCall(path);
    if (calls <= times) throw new Error(`call ${calls}`);
    return calls;
  },
  count: (path: string): number => countCall(path),
  countAfter: (path: string, _before: number): number => countCall(path),
  slowOnce: (path: string): number => {
    const calls = countCall(path);
    if (calls === 1) for (;;);
    return calls;
  },
  /** Appends a name: the order in which tasks ran. One worker only. */
  note: (path: string, name: string): string => {
    writeFileSync(path, `${existsSync(path) ? readFileSync(path, 'utf8') : ''}${name} `);
    return name;
  },
  /** Says that it runs, and keeps its worker busy until the gate opens. */
  hold: (folder: string, name: string, value: number): number => {
    writeFileSync(join(folder, `${name}.started`), '');
    waitForFile(join(folder, `${name}.open`));
    return value;
  },
  /** The same, without keeping the event loop busy. */
  holdAsync: async (folder: string, name: string, value: number): Promise<number> => {
    writeFileSync(join(folder, `${name}.started`), '');
    while (!existsSync(join(folder, `${name}.open`))) await new Promise((resolve) => setTimeout(resolve, 2));
    return value;
  },
  /** Never ends and never looks up. */
  /** Hears nothing meanwhile, an inspector neither. */
  freeze: (folder: string, name: string): void => {
    writeFileSync(join(folder, `${name}.started`), '');
    Atomics.wait(pause, 0, 0);
  },
  spin: (folder: string, name: string): never => {
    writeFileSync(join(folder, `${name}.started`), '');
    for (;;);
  },
  exit: (code: number): never => process.exit(code),
  exitTimes: (path: string, times: number): number => {
    const calls = countCall(path);
    if (calls <= times) process.exit(7);
    return calls;
  },
  /** After `path` was written once, returns the value; before, ends its worker. */
  exitOnce: (path: string, value: number): number => {
    if (countCall(path) === 1) process.exit(7);
    return value;
  },
  /** Returns the value; the first time its worker ends behind the task, before it can report. */
  exitBehind: (path: string, value: number): number => {
    if (countCall(path) === 1) queueMicrotask(() => process.exit(7));
    return value;
  },
  /** Says that it runs, and ends its isolate when the gate opens; the second time it returns the value. */
  holdAndExit: (folder: string, name: string, value: number): number => {
    if (countCall(join(folder, `${name}.calls`)) > 1) return value;
    writeFileSync(join(folder, `${name}.started`), '');
    waitForFile(join(folder, `${name}.open`));
    process.exit(7);
  },
  /** The first time, a message to its thread turns out to be unreadable while it waits. */
  unreadableOnce: async (path: string): Promise<number> => {
    const calls = countCall(path);
    if (calls > 1) return calls;
    setImmediate(() => parentPort?.emit('messageerror', new Error('unknown object')));
    return new Promise(() => undefined);
  },
  /** For `client.run`: keeps the thread busy until the gate `call` in the folder above the worker's own is open. */
  holdCall: ({ worker }: { readonly worker: { readonly localDirectory: string } }): void => {
    const folder = dirname(worker.localDirectory);
    writeFileSync(join(folder, 'call.started'), '');
    waitForFile(join(folder, 'call.open'));
  },
  /** From now on its thread takes no message, and its event loop turns. */
  deafen: (): void => {
    parentPort?.removeAllListeners('message');
    setInterval(() => undefined, 1e6);
  },
  throwOutside: async (path: string): Promise<number> => {
    const calls = countCall(path);
    if (calls > 1) return calls;
    setImmediate(() => {
      throw new Error('outside of the task');
    });
    return new Promise(() => undefined);
  },
  rejectOutside: async (path: string): Promise<number> => {
    const calls = countCall(path);
    if (calls > 1) return calls;
    void Promise.reject(new Error('nobody handles it'));
    return new Promise(() => undefined);
  },
  countZeros: (path: string, length: number): Float64Array => {
    countCall(path);
    return new Float64Array(length).fill(1);
  },
  eat: (): never => {
    const all: unknown[] = [];
    for (let i = 0; ; i++) all.push({ i, list: [i] });
  },
  /** Keeps its worker busy for about this long. */
  busy: (milliseconds: number, value: number): number => {
    const until = performance.now() + milliseconds;
    while (performance.now() < until);
    return value;
  },
});

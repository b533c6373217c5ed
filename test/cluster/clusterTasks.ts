// Tasks that the cluster tests run. Workers import this module, so it contains only tasks. Tests and tasks synchronise
// through files, because a file works for threads and for processes.
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parentPort } from 'node:worker_threads';
import { tasks } from 'longpole';

const pause = new Int32Array(new SharedArrayBuffer(4));

/** Time limit of a closed gate in seconds. A test that never opens its gate fails instead of hanging. */
const GATE_SECONDS = 200;

/** Blocks the thread until the file exists. */
function waitForFile(path: string): void {
  const until = performance.now() + GATE_SECONDS * 1000;
  while (!existsSync(path)) {
    if (performance.now() > until) throw new Error(`${path} was not created in time`);
    Atomics.wait(pause, 0, 0, 2);
  }
}

/** Counts a call in a file. Returns the number of calls with this file so far. Only one task may use a file at a time. */
function countCall(path: string): number {
  // A process that is killed here must not leave a file with fewer calls, as writeFileSync does.
  appendFileSync(path, 'x');
  return readFileSync(path).length;
}

/** A loop, because `reduce` with a function takes twenty times as long. */
function totalOf(values: Float64Array): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
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
  /** Allocates the given memory and keeps it until the isolate ends. */
  hoard: (kind: 'heap' | 'buffers', megabytes: number, folder: string): number => {
    const taken: unknown[] = [];
    for (let index = 0; index < megabytes; index++)
      taken.push(
        kind === 'heap' ? new Array<number>(2 ** 17).fill(index / 7) : new Uint8Array(2 ** 20).fill(1),
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
  total: totalOf,
  totalAfter: (values: Float64Array, _after: number): number => totalOf(values),
  totals: (arrays: readonly Float64Array[]): number =>
    arrays.reduce((sum, values) => sum + totalOf(values), 0),
  zeros: (length: number, value: number): Float64Array => new Float64Array(length).fill(value),
  plus: (values: Float64Array, by: number): Float64Array => values.map((value) => value + by),
  objects: (count: number): { id: number; name: string }[] =>
    Array.from({ length: count }, (_, id) => ({ id, name: `name ${id}` })),
  isShared: (values: Float64Array): boolean => values.buffer instanceof SharedArrayBuffer,
  /** Overwrites the first value of its argument. Other holders of the same shared memory see the new value. */
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
  failWith: (values: ArrayLike<unknown>): number => {
    throw new RangeError(`${values.length} values`);
  },
  count: (path: string): number => countCall(path),
  countAfter: (path: string, _before: number): number => countCall(path),
  slowOnce: (path: string): number => {
    const calls = countCall(path);
    if (calls === 1) for (;;);
    return calls;
  },
  /** Appends a name to a file, which then shows the order of the tasks. The tasks must run on one worker. */
  note: (path: string, name: string): string => {
    writeFileSync(path, `${existsSync(path) ? readFileSync(path, 'utf8') : ''}${name} `);
    return name;
  },
  /** Creates the file NAME.started, then blocks its thread until the gate NAME is open. */
  hold: (folder: string, name: string, value: number): number => {
    writeFileSync(join(folder, `${name}.started`), '');
    waitForFile(join(folder, `${name}.open`));
    return value;
  },
  /** Waits for the gate like `hold`, if the value is even. */
  holdUnlessOdd: (folder: string, name: string, value: number): number => {
    if (value % 2 === 0) waitForFile(join(folder, `${name}.open`));
    return value;
  },
  /** Waits for the gate like `hold`, without blocking the event loop. */
  holdAsync: async (folder: string, name: string, value: number): Promise<number> => {
    writeFileSync(join(folder, `${name}.started`), '');
    while (!existsSync(join(folder, `${name}.open`))) await new Promise((resolve) => setTimeout(resolve, 2));
    return value;
  },
  /** Blocks its thread for ever, so that the thread receives no message and an inspector gets no answer. */
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
  /** Ends its isolate in the first call with `path`. Returns the value in later calls. */
  exitOnce: (path: string, value: number): number => {
    if (countCall(path) === 1) process.exit(7);
    return value;
  },
  /** Returns the value. After the first call, the isolate ends before it can report the task. */
  exitBehind: (path: string, value: number): number => {
    if (countCall(path) === 1) queueMicrotask(() => process.exit(7));
    return value;
  },
  /** Waits for the gate like `hold`, and ends its isolate in the first call. Returns the value in later calls. */
  holdAndExit: (folder: string, name: string, value: number): number => {
    if (countCall(join(folder, `${name}.calls`)) > 1) return value;
    writeFileSync(join(folder, `${name}.started`), '');
    waitForFile(join(folder, `${name}.open`));
    process.exit(7);
  },
  /** Waits for the gate like `hold`, and fails in the first call. Returns the number of calls in later calls. */
  holdAndFail: (folder: string, name: string): number => {
    const calls = countCall(join(folder, `${name}.calls`));
    writeFileSync(join(folder, `${name}.started`), '');
    waitForFile(join(folder, `${name}.open`));
    if (calls === 1) throw new Error(`the first call of ${name}`);
    return calls;
  },
  /** Simulates, in the first call, a message to its thread that cannot be deserialized. */
  unreadableOnce: async (path: string): Promise<number> => {
    const calls = countCall(path);
    if (calls > 1) return calls;
    setImmediate(() => parentPort?.emit('messageerror', new Error('unknown object')));
    return new Promise(() => undefined);
  },
  /** A function for `client.run`: blocks the thread until the gate `call` in the parent of the worker's folder is open. */
  holdCall: ({ worker }: { readonly worker: { readonly localDirectory: string } }): void => {
    const folder = dirname(worker.localDirectory);
    writeFileSync(join(folder, 'call.started'), '');
    waitForFile(join(folder, 'call.open'));
  },
  /** Makes its thread ignore all later messages, while the event loop continues to run. */
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
    void Promise.reject(new Error('an unhandled rejection'));
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
  /** Keeps its worker busy for about this time. */
  busy: (milliseconds: number, value: number): number => {
    const until = performance.now() + milliseconds;
    while (performance.now() < until);
    return value;
  },
});

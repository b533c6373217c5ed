// Tasks for values of every kind. Workers import this module.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { tasks } from 'longpole';
import { Random } from './random.js';
import { type Purpose, textOf, valueFrom } from './values.js';

export const v = tasks(import.meta.url, {
  make: (seed: number, purpose: Purpose): unknown => valueFrom(seed, purpose),
  echo: (value: unknown): unknown => value,
  echoLater: async (value: unknown): Promise<unknown> => {
    await new Promise((resolve) => setImmediate(resolve));
    return value;
  },
  /** Returns the values in a structure that depends on the seed. */
  pack: (seed: number, ...values: readonly unknown[]): unknown => {
    const random = new Random(seed);
    const places = [
      () => [...values],
      () => ({ values, seed }),
      () => new Map(values.map((value, index) => [`k${index}`, { value }])),
      // The values are wrapped, because two equal inputs may arrive as one object or as two, depending on their
      // transport.
      () => new Set(values.map((value) => [value])),
      () => [{ deep: { deeper: values } }, values[0]],
    ];
    return random.pick(places)();
  },
  digest: (...values: readonly unknown[]): string => textOf(values),
  digestOf: (values: Readonly<Record<string, unknown>>): string => textOf(values),
  fail: (message: string, ..._after: readonly unknown[]): never => {
    throw new RangeError(message);
  },
  /** Fails the first `times` calls. Counts them in a file, because each call may run in another isolate. */
  flaky: (path: string, times: number, value: unknown): unknown => {
    const calls = existsSync(path) ? readFileSync(path, 'utf8').length : 0;
    if (calls >= times) return value;
    writeFileSync(path, 'x'.repeat(calls + 1));
    throw new Error(`call ${calls + 1} of ${path}`);
  },
  /** Allocates memory in steps with pauses, so that the worker can measure the growth. */
  take: async (kind: 'heap' | 'buffers', megabytes: number): Promise<number> => {
    const taken: unknown[] = [];
    for (let step = 0; step < megabytes; step++) {
      // An array of doubles in the heap takes 8 bytes per element.
      taken.push(
        kind === 'heap'
          ? Array.from({ length: 2 ** 17 }, () => step / 7)
          : new Uint8Array(2 ** 20).fill(step),
      );
      if (step % 16 === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    }
    return taken.length;
  },
  /** Allocates memory without pauses, so that only another thread can measure the growth. */
  takeAtOnce: (kind: 'heap' | 'buffers', megabytes: number): number => {
    const taken: unknown[] = [];
    for (let step = 0; step < megabytes; step++)
      taken.push(
        kind === 'heap'
          ? Array.from({ length: 2 ** 17 }, () => step / 7)
          : new Uint8Array(2 ** 20).fill(step),
      );
    return taken.length;
  },
  /** Returns a value in the heap with a serialized size of about `megabytes`. */
  bulk: (
    kind: 'text' | 'integers' | 'doubles' | 'objects',
    megabytes: number,
  ): string | readonly unknown[] => {
    const bytes = megabytes * 2 ** 20;
    if (kind === 'text') return 'x'.repeat(bytes);
    if (kind === 'integers') return Array.from({ length: bytes / 2 }, (_, index) => index % 60);
    if (kind === 'doubles') return Array.from({ length: Math.floor(bytes / 9) }, (_, index) => index / 7);
    return Array.from({ length: Math.floor(bytes / 24) }, (_, id) => ({ id, name: `name ${id}` }));
  },
  spin: (): never => {
    for (;;);
  },
});

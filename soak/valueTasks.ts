// Tasks on values of every kind. Workers import this module.
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
  /** Its values in a structure that the seed decides. */
  pack: (seed: number, ...values: readonly unknown[]): unknown => {
    const random = new Random(seed);
    const places = [
      () => [...values],
      () => ({ values, seed }),
      () => new Map(values.map((value, index) => [`k${index}`, { value }])),
      // Not the values themselves: two inputs are one object here or two, as the way there decides.
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
  /** Fails as often as is said, and counts in a file, because each call may be in another isolate. */
  flaky: (path: string, times: number, value: unknown): unknown => {
    const calls = existsSync(path) ? readFileSync(path, 'utf8').length : 0;
    if (calls >= times) return value;
    writeFileSync(path, 'x'.repeat(calls + 1));
    throw new Error(`call ${calls + 1} of ${path}`);
  },
  /** Takes so much memory, in pieces, so that its worker can see it grow. */
  take: async (kind: 'heap' | 'buffers', megabytes: number): Promise<number> => {
    const taken: unknown[] = [];
    for (let step = 0; step < megabytes; step++) {
      // A small array of numbers in the heap has 8 bytes for each.
      taken.push(
        kind === 'heap'
          ? Array.from({ length: 2 ** 17 }, () => step / 7)
          : new Uint8Array(2 ** 20).fill(step),
      );
      if (step % 16 === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    }
    return taken.length;
  },
  /** The same in one go: only who looks from outside sees it grow. */
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
  /** A value that lies in the heap, of about so many serialized megabytes. */
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

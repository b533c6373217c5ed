// A store in a new directory, with a stopped clock and a file system that waits or fails on request.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import type { LongpoleError } from '../../base/errors.js';
import { packResult, unpackResult } from '../worker/packResult.js';
import { nodeFiles, type SpillFiles, type StoreInterval } from './spillFile.js';
import { Store, type StoreOptions } from './store.js';

export const parent = mkdtempSync(join(tmpdir(), 'longpole-test-'));
after(() => rmSync(parent, { recursive: true, force: true }));
let count = 0;

interface Setup {
  readonly store: Store;
  readonly directory: string;
  readonly intervals: StoreInterval[];
  readonly errors: LongpoleError[];
  /** Seconds. */
  clock: number;
}

export function setup(options: Partial<StoreOptions> = {}, directory = join(parent, String(++count))): Setup {
  mkdirSync(directory, { recursive: true });
  const own: Setup = { directory, intervals: [], errors: [], clock: 100, store: make() };
  function make(): Store {
    return new Store({
      file: (name) => join(directory, name),
      name: 'worker-0',
      now: () => own.clock,
      onInterval: (interval) => own.intervals.push(interval),
      onError: (error) => own.errors.push(error),
      onSpillFailed: (error) => own.errors.push(error),
      ...options,
    });
  }
  return own;
}

/** Returns a file system whose calls wait for `open()`, or for the promise of `before`. */
export function gated(
  before: (action: 'open' | 'write' | 'read', path: string) => Promise<void> | undefined,
): SpillFiles {
  return {
    unlink: nodeFiles.unlink,
    statfs: nodeFiles.statfs,
    async open(path, flags, mode) {
      await before('open', path);
      const handle = await nodeFiles.open(path, flags, mode);
      return {
        async write(bytes, offset, length) {
          await before('write', path);
          return await handle.write(bytes, offset, length);
        },
        async read(bytes, offset, length, position) {
          await before('read', path);
          return await handle.read(bytes, offset, length, position);
        },
        close: () => handle.close(),
      };
    },
  };
}

export function gate(): { promise: Promise<void>; open: () => void } {
  let open = (): void => undefined;
  const promise = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { promise, open };
}

/** Puts the values under their indices as ids. */
export function putAll(store: Store, values: readonly unknown[]): void {
  for (const [id, value] of values.entries()) store.put(id, packResult(value));
}

export async function valueIn(store: Store, id: number): Promise<unknown> {
  const packed = await store.get(id);
  assert.ok(packed !== undefined, `result ${id} is not there`);
  return unpackResult(packed);
}

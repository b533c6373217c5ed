// A real Dask cluster for tests, with two workers of one thread.
import assert from 'node:assert/strict';
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { pythonWith } from '#internal/files/pythonWith.test.support.js';
import { repositoryPath } from '../support/repository.js';

export const python = pythonWith('distributed');
export const NO_PYTHON = 'no Python with distributed (set LONGPOLE_PYTHON to one that has it)';

export class NodeCluster {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #lines: AsyncIterator<string>;
  address = '';

  constructor(name: string) {
    this.#child = spawn(name, [repositoryPath('test/dask/nodeCluster.py')], {
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    this.#lines = createInterface(this.#child.stdout)[Symbol.asyncIterator]();
  }

  static async start(name: string): Promise<NodeCluster> {
    const cluster = new NodeCluster(name);
    const { address }: { address: string } = await cluster.#answer();
    cluster.address = address;
    return cluster;
  }

  async scale(workers: number): Promise<void> {
    await this.#ask(`scale ${workers}`);
  }

  /** Address of a Dask worker → its process. */
  pids(): Promise<Record<string, number>> {
    return this.#ask('pids');
  }

  left(): Promise<{ plugins: string[]; keys: string[] }> {
    return this.#ask('left');
  }

  #ask<T>(command: string): Promise<T> {
    this.#child.stdin.write(`${command}\n`);
    return this.#answer();
  }

  async #answer<T>(): Promise<T> {
    const { value, done } = await this.#lines.next();
    assert.ok(!done, 'the cluster has ended');
    return JSON.parse(value);
  }

  async close(): Promise<void> {
    this.#child.stdin.end();
    if (this.#child.exitCode === null) await once(this.#child, 'close');
  }
}

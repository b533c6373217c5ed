// A real Dask cluster for tests.
import assert from 'node:assert/strict';
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { type Client, connect } from 'longpole';
import { pythonWith } from '#internal/files/pythonWith.test.support.js';
import { repositoryPath } from '../support/repository.js';

export const python = pythonWith('distributed');
export const NO_PYTHON = 'no Python with distributed (set LONGPOLE_PYTHON to one that has it)';

/** Seconds in which a scheduler must answer a bridge. */
export const CONNECT_SECONDS = 300;

/** Polls until a condition holds that another process makes true. The test runner limits the time. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 20));
}

export interface NodeClusterOptions {
  readonly workers?: number;
  readonly threads?: number;
  /** Memory limit of each worker. */
  readonly memory?: string;
  readonly resources?: Readonly<Record<string, number>>;
  /** Environment of the workers. */
  readonly env?: Readonly<Record<string, string>>;
  /** Configuration of Dask. */
  readonly config?: Readonly<Record<string, string>>;
  /** File with a certificate and its key. The cluster then uses TLS. */
  readonly pem?: string;
}

/** A cluster of two workers with one thread each, unless the options say otherwise. */
export class NodeCluster {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #lines: AsyncIterator<string>;
  address = '';
  /** A Python that starts fast, see `Workload`. */
  python = '';

  constructor(name: string, options: NodeClusterOptions) {
    const all = JSON.stringify({ workers: 2, threads: 1, ...options });
    this.#child = spawn(name, [repositoryPath('test/dask/nodeCluster.py'), all], {
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    this.#lines = createInterface(this.#child.stdout)[Symbol.asyncIterator]();
  }

  static async start(name: string, options: NodeClusterOptions = {}): Promise<NodeCluster> {
    const cluster = new NodeCluster(name, options);
    return Object.assign(cluster, await cluster.#answer<Pick<NodeCluster, 'address' | 'python'>>());
  }

  /** Connects a program to the cluster. @param name Python of the bridge, default: one that starts fast */
  connect(name = this.python): Promise<Client> {
    return connect(this.address, { python: name, timeout: CONNECT_SECONDS });
  }

  async scale(workers: number): Promise<void> {
    await this.#ask(`scale ${workers}`);
  }

  /** The process of the scheduler. */
  get scheduler(): number {
    return this.#child.pid ?? Number.NaN;
  }

  /** Address of a Dask worker → its process. */
  pids(): Promise<Record<string, number>> {
    return this.#ask('pids');
  }

  /**
   * Returns the retired workers when they have left the scheduler's list.
   *
   * @param blocked seconds for which a worker that closes answers nothing at first
   */
  retire(address: string, blocked?: number): Promise<string[]> {
    return this.#ask(`retire ${address} ${blocked ?? ''}`);
  }

  /** Makes a worker pause at this fraction of its memory. Resolves when it has paused or resumed. */
  async pauseAt(address: string, fraction: number): Promise<void> {
    await this.#ask(`pause ${fraction} ${address}`);
  }

  /** Restarts all workers. */
  async restart(): Promise<void> {
    await this.#ask('restart');
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

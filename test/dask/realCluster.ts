// A real Dask cluster for tests: workload.py starts a scheduler and workers, and runs workloads on command.
import assert from 'node:assert/strict';
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { after, type TestContext } from 'node:test';
import { type DaskObservation, observeDask } from 'longpole/trace';
import { pythonWith } from '#internal/files/pythonWith.test.support.js';
import { repositoryPath } from '../support/repository.js';
import type { Counted } from './counted.js';
import { CONNECT_SECONDS } from './nodeCluster.js';

/** A Python with distributed. If undefined, tests of real clusters are skipped. */
export const python = pythonWith('distributed');

export const NO_PYTHON = 'no Python with distributed (set LONGPOLE_PYTHON to one that has it)';

/** Time limit in milliseconds until nothing is left on a cluster. */
const PATIENCE = 200_000;

export interface Left {
  readonly names: readonly string[];
  readonly metadata: number;
}

/** A cluster that runs workloads on command. */
export class Workload {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #lines: AsyncIterator<string>;
  address = '';
  /**
   * A Python whose processes are forks of one that has imported distributed, see prepared_python.py. For tests that check
   * neither how a bridge starts nor how it is killed.
   */
  python = '';

  /** @param pem file with a certificate and its key, with which the cluster uses TLS */
  constructor(name: string, threads: number, pem?: string) {
    this.#child = spawn(
      name,
      [repositoryPath('test/dask/workload.py'), String(threads), ...(pem === undefined ? [] : [pem])],
      {
        stdio: ['pipe', 'pipe', 'ignore'],
      },
    );
    this.#lines = createInterface(this.#child.stdout)[Symbol.asyncIterator]();
  }

  async start(): Promise<this> {
    [this.address = '', this.python = ''] = (await this.#line()).split(' ');
    return this;
  }

  run(): Promise<Counted> {
    return this.ask('run');
  }

  /** Observes the cluster. @param python Python of the bridge, default: one that starts fast */
  observe(python = this.python): Promise<DaskObservation> {
    return observeDask(this.address, { python, timeout: CONNECT_SECONDS });
  }

  left(): Promise<Left> {
    return this.ask('left');
  }

  /** Returns the answer of workload.py to a command. */
  async ask<T>(command: string): Promise<T> {
    this.#child.stdin.write(`${command}\n`);
    return JSON.parse(await this.#line());
  }

  async #line(): Promise<string> {
    const { value, done } = await this.#lines.next();
    assert.ok(!done, 'the cluster has ended');
    return value;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.stdin.end();
    if (this.#child.exitCode === null) await once(this.#child, 'close');
  }
}

/**
 * Returns a function that makes tests of a cluster that the tests of a file share, because its start takes seconds.
 *
 * @param threads threads of each worker
 */
export function sharedCluster(threads: number) {
  let shared: Promise<Workload> | undefined;
  after(async () => (await shared)?.[Symbol.asyncDispose]());
  return (test: (cluster: Workload, python: string) => Promise<void>) =>
    async (context: TestContext): Promise<void> => {
      if (python === undefined) return context.skip(NO_PYTHON);
      shared ??= new Workload(python, threads).start();
      await test(await shared, python);
    };
}

/** Waits until nothing of the bridge is left. The scheduler notices the end of a process only after some time. */
export async function nothingLeft(cluster: Workload): Promise<void> {
  for (const end = Date.now() + PATIENCE; ; ) {
    const left = await cluster.left();
    if (left.names.length === 0) {
      assert.equal(left.metadata, 0);
      return;
    }
    assert.ok(Date.now() < end, `left on the cluster: ${left.names.join(', ')}`);
  }
}

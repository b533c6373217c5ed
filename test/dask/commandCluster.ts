// A Dask cluster for tests whose scheduler and workers are started by Dask's commands, each in processes of its own.
import assert from 'node:assert/strict';
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { repositoryPath } from '../support/repository.js';

interface SchedulerFile {
  readonly address: string;
}

/** Settings of Dask for little CPU time of idle processes. Nothing reads Dask's profiles of tasks in TypeScript. */
const CHEAP = {
  DASK_DISTRIBUTED__ADMIN__TICK__INTERVAL: '500ms',
  DASK_DISTRIBUTED__WORKER__MULTIPROCESSING_METHOD: 'forkserver',
  DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED: 'False',
};

export class CommandCluster {
  readonly #folder: string;
  readonly #tls: readonly string[];
  /** The process that runs daskCommands.py. */
  readonly #commands: ChildProcessByStdio<Writable, Readable, null>;
  readonly #answers: AsyncIterator<string>;
  readonly #running = new Map<string, Promise<number>>();
  #schedulers = 0;

  /**
   * @param folder for the files of the cluster
   * @param pem file with a certificate and its key
   */
  constructor(python: string, folder: string, pem: string) {
    this.#folder = folder;
    this.#tls = ['--tls-ca-file', pem, '--tls-cert', pem, '--tls-key', pem];
    this.#commands = spawn(python, [repositoryPath('test/dask/daskCommands.py')], {
      stdio: ['pipe', 'pipe', 'ignore'],
      cwd: folder,
      env: { ...process.env, ...CHEAP },
    });
    this.#answers = createInterface({ input: this.#commands.stdout })[Symbol.asyncIterator]();
  }

  /** Starts a scheduler. Resolves with its address. @param port default: the system chooses one */
  async scheduler(port = '0'): Promise<string> {
    const file = join(this.#folder, `scheduler-${this.#schedulers++}.json`);
    const args = [
      '--host',
      'tls://127.0.0.1',
      '--port',
      port,
      '--dashboard-address',
      ':0',
      '--scheduler-file',
      file,
    ];
    this.#start('scheduler', ['scheduler', ...args]);
    for (;;) {
      try {
        const { address }: SchedulerFile = JSON.parse(readFileSync(file, 'utf8'));
        return address;
      } catch {
        // Dask has not written the file.
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
  }

  /** Starts a worker, with a nanny unless the arguments say otherwise. `under` is a command that runs it. */
  worker(
    name: string,
    address: string,
    args: readonly string[] = [],
    { env = {}, under = [] }: { readonly env?: NodeJS.ProcessEnv; readonly under?: readonly string[] } = {},
  ): void {
    const own = ['--name', name, '--no-dashboard', '--local-directory', join(this.#folder, name)];
    this.#start(name, ['worker', address, ...own, ...args], env, under);
  }

  /** Asks a worker that has no nanny to end. Resolves when its process has ended. */
  terminate(name: string): Promise<void> {
    return this.#end(name, 'SIGTERM');
  }

  /** Kills the scheduler or a nanny. */
  kill(name: string): Promise<void> {
    return this.#end(name, 'SIGKILL');
  }

  async close(): Promise<void> {
    await Promise.all([...this.#running.keys()].map((name) => this.kill(name)));
    this.#commands.stdin.end();
  }

  #start(
    name: string,
    args: readonly string[],
    env: NodeJS.ProcessEnv = {},
    under: readonly string[] = [],
  ): void {
    this.#running.set(name, this.#ask({ start: [...args, ...this.#tls], env, under }));
  }

  async #end(name: string, signal: NodeJS.Signals): Promise<void> {
    const pid = this.#running.get(name);
    if (!this.#running.delete(name)) return;
    await this.#ask({ end: await pid, signal });
  }

  /** Answers arrive in the order of the commands. */
  async #ask<T>(command: object): Promise<T> {
    this.#commands.stdin.write(`${JSON.stringify(command)}\n`);
    const { value, done } = await this.#answers.next();
    assert.ok(done !== true, "the process that runs Dask's commands has ended");
    return JSON.parse(value);
  }
}

// A Dask cluster for tests whose scheduler and workers are started by Dask's commands, each in processes of its own.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

interface SchedulerFile {
  readonly address: string;
}

/** Settings of Dask for little CPU time of idle processes. Nothing reads Dask's profiles of tasks in TypeScript. */
const CHEAP = {
  DASK_DISTRIBUTED__ADMIN__TICK__INTERVAL: '500ms',
  DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED: 'False',
};

export class CommandCluster {
  readonly #python: string;
  readonly #folder: string;
  readonly #tls: readonly string[];
  readonly #children = new Map<string, ChildProcess>();

  /**
   * @param folder for the files of the cluster
   * @param pem file with a certificate and its key
   */
  constructor(python: string, folder: string, pem: string) {
    this.#python = python;
    this.#folder = folder;
    this.#tls = ['--tls-ca-file', pem, '--tls-cert', pem, '--tls-key', pem];
  }

  /** Starts a scheduler. Resolves with its address. @param port default: the system chooses one */
  async scheduler(port = '0'): Promise<string> {
    const file = join(this.#folder, `scheduler-${this.#children.size}.json`);
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
  async terminate(name: string): Promise<void> {
    const child = this.#children.get(name);
    if (child === undefined) return;
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
  }

  /** Kills the scheduler or a nanny. */
  async kill(name: string): Promise<void> {
    const child = this.#children.get(name);
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }

  async close(): Promise<void> {
    await Promise.all([...this.#children.keys()].map((name) => this.kill(name)));
  }

  #start(
    name: string,
    args: readonly string[],
    env: NodeJS.ProcessEnv = {},
    under: readonly string[] = [],
  ): void {
    const [command = '', ...rest] = [...under, this.#python, '-m', 'dask', ...args, ...this.#tls];
    const child = spawn(command, rest, {
      stdio: 'ignore',
      cwd: this.#folder,
      env: { ...process.env, ...CHEAP, ...env },
    });
    this.#children.set(name, child);
  }
}

// One conformance suite for both kinds of workers: a test is written once and runs with threads and with processes.
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { type Client, connect, LocalCluster, type LocalClusterOptions } from 'longpole';
import { withFolder } from '../support/programs.js';

/** A test that takes longer hangs, in milliseconds: none takes a tenth of it where it has a core. */
const TIMEOUT_MS = 120_000;

export interface Setting {
  readonly client: Client;
  readonly cluster: LocalCluster;
  /** For gates and counters; removed at the end. */
  readonly folder: string;
  readonly processes: boolean;
  readonly context: TestContext;
}

/** Kinds of workers that `LONGPOLE_TEST_KINDS` names; default both. */
export const KINDS = (process.env['LONGPOLE_TEST_KINDS'] ?? 'threads,processes').split(',');

/** Runs a test on a new cluster of each kind, of two workers unless the options say otherwise. */
export function clusterTest(
  name: string,
  body: (setting: Setting) => Promise<void>,
  options: LocalClusterOptions | ((processes: boolean) => LocalClusterOptions) = {},
): void {
  for (const kind of KINDS) {
    const processes = kind === 'processes';
    test(`${kind}: ${name}`, { timeout: TIMEOUT_MS }, (context) =>
      withFolder(async (folder) => {
        const own = typeof options === 'function' ? options(processes) : options;
        await using cluster = await LocalCluster.start({ workers: 2, processes, ...own });
        await using client = await connect(cluster, { setAsDefault: false });
        await body({ client, cluster, folder, processes, context });
      }),
    );
  }
}

/** Kind of workers → the cluster that tests of this file share, started by the first of them. */
const sharedClusters = new Map<string, Promise<LocalCluster>>();

after(async () => {
  for (const cluster of sharedClusters.values()) await (await cluster).close();
});

/**
 * Runs a test on the two workers of each kind that the tests of this file share: starting workers costs more than most tests.
 * The client is the test's own; when it closes, its results are released. A test that closes or scales the cluster, kills a
 * worker and does not wait for the next, or counts what a whole cluster has done or holds, needs a `clusterTest`.
 */
export function sharedClusterTest(name: string, body: (setting: Setting) => Promise<void>): void {
  for (const kind of KINDS) {
    const processes = kind === 'processes';
    test(`${kind}: ${name}`, { timeout: TIMEOUT_MS }, (context) =>
      withFolder(async (folder) => {
        const starting = sharedClusters.get(kind) ?? LocalCluster.start({ workers: 2, processes });
        sharedClusters.set(kind, starting);
        const cluster = await starting;
        await using client = await connect(cluster, { setAsDefault: false });
        await body({ client, cluster, folder, processes, context });
      }),
    );
  }
}

/** Looks again and again until it is so. */
export async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + 0.5 * TIMEOUT_MS;
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error(`It never came to this: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

/** A task made with `hold` or `spin` runs. */
export function started(folder: string, name: string): Promise<void> {
  return until(`${name} runs`, () => existsSync(join(folder, `${name}.started`)));
}

/** Lets a task made with `hold` end, or not wait in the first place. */
export function open(folder: string, name: string): void {
  writeFileSync(join(folder, `${name}.open`), '');
}

/** What a promise rejects with. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  let value: unknown;
  try {
    value = await promise;
  } catch (error) {
    return error;
  }
  throw new Error(`It did not reject; the result is ${String(value)}.`);
}

/** Kills a worker: its process, or its thread. */
export async function kill(
  { client, processes }: Pick<Setting, 'client' | 'processes'>,
  name: string,
): Promise<void> {
  const pid = client.schedulerInfo().workers[name]?.pid;
  if (pid === undefined) return;
  if (processes) process.kill(pid, 'SIGKILL');
  else await client.run(() => process.exit(9), { workers: [name] }).catch(() => undefined);
}

// One conformance suite for both kinds of workers: each test runs with threads and with processes.
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { type Client, connect, LocalCluster, type LocalClusterOptions } from 'longpole';
import { withFolder } from '../support/programs.js';

/** Time limit of a test in milliseconds. With a free core every test takes less than a twentieth of it. */
const TIMEOUT_MS = 300_000;

export interface Setting {
  readonly client: Client;
  readonly cluster: LocalCluster;
  /** Folder for gates and counters, removed at the end. */
  readonly folder: string;
  readonly processes: boolean;
  readonly context: TestContext;
}

/** Kinds of workers from the environment variable LONGPOLE_TEST_KINDS. Default: both. */
export const KINDS = (process.env['LONGPOLE_TEST_KINDS'] ?? 'threads,processes').split(',');

/** Runs a test on a new cluster of each kind. Default: two workers. */
export function clusterTest(
  name: string,
  body: (setting: Setting) => Promise<void>,
  options: LocalClusterOptions | ((processes: boolean) => LocalClusterOptions) = {},
  kinds: readonly string[] = KINDS,
): void {
  for (const kind of kinds) {
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

/** Runs a test of worker processes on a new cluster. Threads do not have what it tests. */
export function processClusterTest(
  name: string,
  body: (setting: Setting) => Promise<void>,
  options: LocalClusterOptions = {},
): void {
  clusterTest(
    name,
    body,
    options,
    KINDS.filter((kind) => kind === 'processes'),
  );
}

/** Kind of workers and options → the cluster that the tests of a process share, started by the first of these tests. */
const sharedClusters = new Map<string, Promise<LocalCluster>>();

async function closeShared(): Promise<void> {
  for (const cluster of sharedClusters.values()) await (await cluster).close();
}

// scripts/lib/testBatch.mjs runs several files in a process.
const afterFiles: unknown = Reflect.get(globalThis, Symbol.for('longpole:afterFiles'));
if (typeof afterFiles === 'function') afterFiles(closeShared);
else after(closeShared);

/**
 * Runs a test on a cluster of each kind that the tests of a process share, because starting workers takes longer than most
 * tests. Each test has a separate client, which releases its results when it closes. Use `clusterTest` for a test that
 * closes or scales the cluster, kills a worker without waiting for the next, counts tasks or results of all clients, or
 * needs functions whose durations the scheduler has not yet measured.
 * Tests with equal options share a cluster.
 */
export function sharedClusterTest(
  name: string,
  body: (setting: Setting) => Promise<void>,
  options: LocalClusterOptions = {},
): void {
  for (const kind of KINDS) {
    const processes = kind === 'processes';
    test(`${kind}: ${name}`, { timeout: TIMEOUT_MS }, (context) =>
      withFolder(async (folder) => {
        const shared = JSON.stringify([kind, options]);
        const starting =
          sharedClusters.get(shared) ?? LocalCluster.start({ workers: 2, processes, ...options });
        sharedClusters.set(shared, starting);
        const cluster = await starting;
        await using client = await connect(cluster, { setAsDefault: false });
        await body({ client, cluster, folder, processes, context });
      }),
    );
  }
}

/** Polls until a condition holds. Fails after half the time limit of a test with the name of the condition. */
export async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + 0.5 * TIMEOUT_MS;
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error(`The test waited too long for this condition: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

/** Waits until a task made with `hold` or `spin` runs. */
export function started(folder: string, name: string): Promise<void> {
  return until(`${name} runs`, () => existsSync(join(folder, `${name}.started`)));
}

/** Opens the gate of a task made with `hold`, before or while the task runs. */
export function open(folder: string, name: string): void {
  writeFileSync(join(folder, `${name}.open`), '');
}

/** Waits until a file has text. Returns the text. */
export async function textOf(file: string): Promise<string> {
  await until(`${file} has text`, () => existsSync(file) && statSync(file).size > 0);
  return readFileSync(file, 'utf8');
}

/** Returns the reason with which a promise rejects. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  let value: unknown;
  try {
    value = await promise;
  } catch (error) {
    return error;
  }
  throw new Error(`The promise did not reject, but resolved with ${String(value)}.`);
}

/** Kills the process or the thread of a worker. */
export async function kill(
  { client, processes }: Pick<Setting, 'client' | 'processes'>,
  name: string,
): Promise<void> {
  const pid = client.schedulerInfo().workers[name]?.pid;
  if (pid === undefined) return;
  if (processes) process.kill(pid, 'SIGKILL');
  else await client.run(() => process.exit(9), { workers: [name] }).catch(() => undefined);
}

// The context managers of the Python package observe real Dask clusters. Skipped if no Python has distributed.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { openTrace } from 'longpole/trace';
import { until } from '../cluster/support.js';
import { NO_PYTHON, nothingLeft, python, Workload } from '../dask/realCluster.js';
import { isAlive } from '../support/programs.js';
import { repositoryPath } from '../support/repository.js';
import { runCommand, runOrThrow } from '../support/runCommand.js';
import { ENVIRONMENT } from './environment.js';

const PEM = repositoryPath('test/fixtures/dask/localhost.pem');
/** Tasks of each part of observe.py. */
const TASKS = 20;

const folder = mkdtempSync(join(tmpdir(), 'longpole-observe-'));
after(() => rmSync(folder, { recursive: true, force: true }));

interface Raised {
  readonly class: string;
  readonly code: string | null;
  readonly text: string;
}

interface Outcome {
  readonly without: Raised;
  readonly reported: { path: string; before: string; summary: string; tasks: number };
  readonly failing: { error: Raised; tasks: number };
  readonly watched: { page: string; closed: boolean; killed: Raised; won: Raised; warnings: string[] };
  readonly refused: Readonly<Record<'existing' | 'unreachable' | 'client' | 'timeout', Raised>>;
  readonly early: { wrong: Raised; address: string; warnings: string[]; damage: object | null };
}

/** Runs observe.py for all tests, on a cluster with two processes. Afterwards the cluster has nothing of Longpole. */
async function observe(name: string): Promise<Outcome> {
  await using cluster = await new Workload(name, 1).start();
  const args = [repositoryPath('test/python/observe.py'), cluster.address, folder];
  const outcome: Outcome = JSON.parse(
    await runOrThrow(name, [...args, PEM, cluster.python], { cwd: folder, env: ENVIRONMENT }),
  );
  const { code, stdout } = await runCommand(name, [...args, 'killed'], { cwd: folder, env: ENVIRONMENT });
  assert.equal(code, null);
  await until('the recording process has ended', () => !isAlive(Number(stdout)));
  await nothingLeft(cluster);
  return outcome;
}

let outcome: Promise<Outcome> | undefined;

const withOutcome = (test: (outcome: Outcome) => void) => async (): Promise<void> => {
  assert.ok(python !== undefined);
  outcome ??= observe(python);
  test(await outcome);
};

describe('longpole for Python, on a Dask cluster', { skip: python === undefined && NO_PYTHON }, () => {
  it(
    'writes a report of what the current Client ran',
    withOutcome(({ without, reported }) => {
      assert.match(without.text, /^There is no current Client\. .*\(ERR_LONGPOLE_INVALID_ARGUMENT\)$/);
      assert.equal(reported.path, join(folder, 'new/run.html'));
      assert.match(readFileSync(reported.path, 'utf8').slice(0, 100), /^<!doctype html>/i);
      assert.equal(reported.tasks, TASKS);
      assert.equal(reported.before, '');
      assert.match(reported.summary, /^tasks +20 done in 1 computation/);
    }),
  );

  it(
    'completes the trace of a body that raises, and the error of the body wins',
    withOutcome(({ failing }) => {
      assert.equal(failing.error.class, 'KeyError');
      assert.equal(failing.tasks, TASKS);
      assert.equal(openTrace(join(folder, 'failing.trace')).damage, undefined);
    }),
  );

  it(
    'completes the trace of a program that is killed',
    withOutcome(() => {
      const { damage, tasks } = openTrace(join(folder, 'killed.trace'));
      assert.deepEqual([damage, tasks.length], [undefined, TASKS]);
    }),
  );

  it(
    'serves the dashboard until the end of the block',
    withOutcome(({ watched }) => {
      assert.match(watched.page, /^<!doctype html>$/i);
      assert.equal(watched.closed, true);
    }),
  );

  it(
    'raises if the program dies, and warns if the body raised as well',
    withOutcome(({ watched: { killed, won, warnings } }) => {
      assert.deepEqual([killed.class, killed.code], ['LongpoleError', 'ERR_LONGPOLE_INTERNAL']);
      assert.match(killed.text, /was killed by signal 9/);
      assert.equal(won.class, 'KeyError');
      assert.match(warnings.join('\n'), /was killed by signal 9/);
    }),
  );

  it(
    'refuses what it cannot observe with a code and a remedy',
    withOutcome(({ refused: { existing, unreachable, client, timeout } }) => {
      assert.equal(existing.code, 'ERR_LONGPOLE_TRACE_FILE');
      assert.match(existing.text, /holds a trace already/);
      for (const { code } of [unreachable, client, timeout])
        assert.equal(code, 'ERR_LONGPOLE_INVALID_ARGUMENT');
      assert.match(unreachable.text, /^The scheduler at inproc:.*protocol='tcp'/);
      assert.match(client.text, /must be a distributed\.Client, not str/);
    }),
  );

  it(
    'observes an asynchronous Client with its certificates, and warns if the cluster ends first',
    withOutcome(({ early }) => {
      assert.match(early.address, /^tls:/);
      assert.match(early.wrong.text, /'async with'/);
      assert.equal(early.warnings.length, 1);
      assert.match(early.warnings[0] ?? '', /^the observation ended early: /);
      assert.equal(early.damage, null);
    }),
  );
});

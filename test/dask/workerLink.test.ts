// The link of the bridge to one Dask worker: leases that follow one another, frames that the worker cannot process, and a
// worker that closes.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { ENVIRONMENT } from '../python/environment.js';
import { repositoryPath } from '../support/repository.js';
import { runOrThrow } from '../support/runCommand.js';
import { NO_PYTHON, python } from './nodeCluster.js';

interface Seen {
  readonly leases: readonly number[];
  readonly failures: readonly string[];
  readonly unable: readonly [early: number, late: number];
  readonly closing: readonly [waits: number, early: boolean, late: boolean];
}

describe('the link of the bridge to a Dask worker', { skip: python === undefined && NO_PYTHON }, () => {
  let seen: Seen;

  before(async () => {
    const program = repositoryPath('test/dask/workerLink.py');
    seen = JSON.parse(await runOrThrow(python ?? '', [program], { env: ENVIRONMENT }));
  });

  it('holds one thread of Dask if a lease follows a release at once', () => {
    assert.deepEqual(seen.leases, [1, 0]);
  });

  it('fails if the worker could not write a file, because later frames need the file', () => {
    assert.equal(seen.failures.length, 1);
    assert.match(seen.failures[0] ?? '', /Error\(/);
  });

  it('does not try a worker that cannot write files again before a minute has passed', () => {
    assert.deepEqual(seen.unable, [0, 1]);
  });

  it('waits once, and without computing, for a process that a terminated worker no longer reads', () => {
    assert.deepEqual(seen.closing, [1, false, true]);
  });
});

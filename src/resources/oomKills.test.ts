import assert from 'node:assert/strict';
import { test } from 'node:test';
import { killReason, oomKills, parseOomKills } from './oomKills.js';

test('a process that SIGKILL ended had no memory if the system has ended one more for this reason', () => {
  assert.equal(
    killReason('SIGKILL', 3, () => 4),
    ' because the machine or its container had no memory left',
  );
  assert.equal(
    killReason('SIGKILL', 3, () => 3),
    '',
  );
  assert.equal(
    killReason('SIGTERM', 3, () => 4),
    '',
  );
  assert.equal(
    killReason(null, 3, () => 4),
    '',
  );
  assert.equal(
    killReason('SIGKILL', Number.NaN, () => Number.NaN),
    '',
  );
});

test('the number is that of Linux', () => {
  assert.equal(parseOomKills('pgfault 7\noom_kill 12\nthp_fault_alloc 0\n'), 12);
  assert.ok(Number.isNaN(parseOomKills('')));
  if (process.platform === 'linux') assert.ok(oomKills() >= 0);
});

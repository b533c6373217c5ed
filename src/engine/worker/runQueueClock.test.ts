// Tests the clock of the run queue with files in the kernel's format.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { runQueueClock } from './coreWaits.js';

describe('the clock of the run queue', () => {
  const folder = mkdtempSync(join(tmpdir(), 'longpole-run-queue-'));
  after(() => rmSync(folder, { recursive: true }));
  const file = (text: string): string => {
    const path = join(folder, 'schedstat');
    writeFileSync(path, text);
    return path;
  };

  it('reads the second number, in nanoseconds, at each call', () => {
    const clock = runQueueClock(file('401162402 1387595108 382\n'));
    assert.equal(clock?.(), 1.387595108);
    file('401162500 2000000000 383\n');
    assert.equal(clock?.(), 2);
  });

  it('is undefined if the kernel counts nothing, writes another format, or has no such file', () => {
    for (const text of ['0 0 0\n', '', 'no statistics', '12 13'])
      assert.equal(runQueueClock(file(text)), undefined);
    assert.equal(runQueueClock(join(folder, 'missing')), undefined);
  });

  it('is NaN once the file cannot be read', () => {
    const clock = runQueueClock(file('1 2 3\n'));
    file('');
    assert.ok(Number.isNaN(clock?.()));
  });
});

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { processTreeUsage, sumOfPs } from './processTree.js';

describe('processTreeUsage', () => {
  it('counts the CPU time of children and grandchildren, also after they have ended', {
    timeout: 300_000,
  }, async () => {
    const before = processTreeUsage();
    const busy = 'const stop = process.cpuUsage().user + 3e5; while (process.cpuUsage().user < stop);';
    const nested = `require('child_process').execFileSync(process.execPath, ['-e', ${JSON.stringify(busy)}])`;
    const child = spawn(process.execPath, [
      '-e',
      `${nested}; process.stdout.write('x'); setInterval(() => {}, 1000)`,
    ]);
    await once(child.stdout, 'data');
    const during = processTreeUsage();
    assert.ok(during.cpu - before.cpu >= 0.29, `${during.cpu - before.cpu} s`);
    // The memory of this process changes all the time; the child takes memory in addition.
    const own = process.memoryUsage.rss();
    const { rss } = processTreeUsage();
    assert.ok(rss > Math.max(own, process.memoryUsage.rss()), 'the child takes memory');
    child.kill();
    await once(child, 'exit');
    const after = processTreeUsage();
    assert.ok(after.cpu >= during.cpu - 0.02, 'ended children still count');
  });

  it('counts the CPU time of this process', () => {
    const before = processTreeUsage().cpu;
    const stop = process.cpuUsage().user + 50_000;
    while (process.cpuUsage().user < stop);
    // The difference of two sums has a rounding error.
    assert.ok(processTreeUsage().cpu - before >= 0.05 - 1e-9);
  });
});

describe('sumOfPs', () => {
  it('adds up all descendants', () => {
    const text = [
      '    1     0   1000 00:00:09',
      '   10     1   2000 00:01:00',
      '   11    10    300 0:02.50',
      '   12    11     40 1-00:00:01',
      '   13     1     99 00:00:01',
      '',
    ].join('\n');
    assert.deepEqual(sumOfPs(text, 10), { cpu: 2.5 + 86_401, rss: 340 * 1024 });
    assert.deepEqual(sumOfPs('garbage', 10), { cpu: 0, rss: 0 });
  });
});

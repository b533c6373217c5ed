import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from '../base/properties.test.support.js';
import { hostCounters, parseDiskstats, parseNetDev, parseStat } from './hostCounters.js';
import { parseChildren, parseIo } from './processCounters.js';

describe('counters of /proc', () => {
  it('adds up all network interfaces', () => {
    const text = [
      'Inter-|   Receive                                                |  Transmit',
      ' face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed',
      '    lo: 6442047     703    0    0    0     0          0         0  6442040     703    0    0    0     0       0          0',
      '  eth0:378951485    8287    0    0    0     0          0         0   487507    5349    0    0    0     0       0          0',
    ].join('\n');
    assert.deepEqual(parseNetDev(text), [385_393_532, 6_929_547]);
    assert.deepEqual(parseNetDev(''), [Number.NaN, Number.NaN]);
  });

  it('adds up disks, not their partitions', () => {
    const text = [
      ' 259       0 nvme0n1 100 5 2000 7 50 3 800 9 0 10 11 0 0 0 0 0 0',
      ' 259       1 nvme0n1p1 90 5 1900 7 50 3 800 9 0 10 11 0 0 0 0 0 0',
      '   8       0 sda 1 0 10 0 1 0 20 0 0 0 0 0 0 0 0 0 0',
    ].join('\n');
    assert.deepEqual(parseDiskstats(text, new Set(['nvme0n1', 'sda'])), [2010 * 512, 820 * 512]);
    assert.deepEqual(parseDiskstats(text, new Set()), [Number.NaN, Number.NaN]);
  });

  it('reads how long the cores were busy', () => {
    assert.equal(parseStat('cpu  100 20 30 1000 500 7 3 0 0 0\ncpu0 1 1 1 1 1 1 1 0 0 0'), 1.6);
    assert.equal(parseStat('intr 1 2 3'), Number.NaN);
  });

  it("reads a process's disk traffic without its writes to pipes", () => {
    assert.deepEqual(parseIo('rchar: 9\nwchar: 9\nread_bytes: 4096\nwrite_bytes: 8192\n'), [4096, 8192]);
    assert.deepEqual(parseIo(''), [Number.NaN, Number.NaN]);
  });

  it('reads the CPU time of ended child processes, also of a program with spaces and parentheses in its name', () => {
    assert.equal(
      parseChildren('7 (a) b (c) S 1 7 7 0 -1 4194304 10 20 0 0 300 40 1500 250 20 0 11 0 5'),
      17.5,
    );
    assert.equal(parseChildren(''), Number.NaN);
  });

  it('accepts any text', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        for (const parse of [parseNetDev, parseStat, parseIo, parseChildren]) parse(text);
        parseDiskstats(text, new Set(['sda']));
      }),
    );
  });

  it('never decreases', () => {
    const names = ['received', 'sent', 'read', 'written', 'busy'] as const;
    let back: readonly string[] = names;
    // A sum decreases if a network interface or a disk disappears between two reads. Only a repeated decrease is an
    // error.
    for (let pair = 0; pair < 10 && back.length > 0; pair++) {
      const before = hostCounters();
      const after = hostCounters();
      back = names.filter((name) => after[name] < before[name]);
    }
    assert.deepEqual(back, []);
  });
});

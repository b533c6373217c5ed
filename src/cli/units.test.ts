import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseBandwidth, parseBytes, parseSeconds } from './units.js';

test('times may have units, and other texts are rejected', () => {
  assert.deepEqual(
    ['0', '0.0002', '200us', '0.2 ms', '200µs', '2e-4', '1s'].map(parseSeconds),
    [0, 0.0002, 0.0002, 0.0002, 0.0002, 0.0002, 1],
  );
  for (const text of ['', 'abc', '-1', '1 fortnight', 'ms', '1.2.3'])
    assert.throws(() => parseSeconds(text), /is not a time\. Write e\.g\. 0\.0002 or 200us/, text);
});

test('sizes and bandwidths may have units, bits are an eighth of a byte, and other texts are rejected', () => {
  assert.deepEqual(['1000', '500MB', '2GiB', '1e9', '1.5 kB'].map(parseBytes), [
    1000,
    500e6,
    2 * 2 ** 30,
    1e9,
    1500,
  ]);
  assert.deepEqual(['10Gbit', '10 Gbit/s', '125MB/s', '1GB', '2MiB/s'].map(parseBandwidth), [
    1.25e9,
    1.25e9,
    125e6,
    1e9,
    2 * 2 ** 20,
  ]);
  for (const text of ['', 'MB', '-1MB', '5 apples']) {
    assert.throws(() => parseBytes(text), /is not a size\. Write e\.g\. 500MB or 2GiB/, text);
    assert.throws(() => parseBandwidth(text), /is not a bandwidth\. Write e\.g\. 10Gbit or 500MB\/s/, text);
  }
});

test('a bandwidth in Gbps or Gb/s is in bits, and one in GBps or GB/s is in bytes', () => {
  assert.deepEqual(
    ['10Gbps', '10 Gb/s', '100Mbps', '100MBps', '100MB/s', '8e9bps'].map(parseBandwidth),
    [1.25e9, 1.25e9, 12.5e6, 100e6, 100e6, 1e9],
  );
});

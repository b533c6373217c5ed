import assert from 'node:assert/strict';
import { totalmem } from 'node:os';
import { test } from 'node:test';
import {
  allowedCores,
  coreCount,
  parseCores,
  parseThrottled,
  readCpuLimit,
  usableMemory,
} from './containerLimits.js';

const limitOf = (files: Readonly<Record<string, string>>) => readCpuLimit((path) => files[path] ?? '');

test('the CPU limit of a container with control groups of version 2 is quota / period', () => {
  const files = { '/proc/self/cgroup': '0::/\n', '/sys/fs/cgroup/cpu.max': '150000 100000\n' };
  assert.deepEqual(limitOf(files), { cores: 1.5, stat: '/sys/fs/cgroup/cpu.stat' });
});

test('the lowest limit of a group and of the groups above it counts', () => {
  const files = {
    '/proc/self/cgroup': '0::/kubepods/pod7/main\n',
    '/sys/fs/cgroup/kubepods/pod7/main/cpu.max': 'max 100000\n',
    '/sys/fs/cgroup/kubepods/pod7/cpu.max': '50000 100000\n',
    '/sys/fs/cgroup/kubepods/cpu.max': '3200000 100000\n',
  };
  assert.deepEqual(limitOf(files), { cores: 0.5, stat: '/sys/fs/cgroup/kubepods/pod7/cpu.stat' });
});

test('with version 1, a container without a namespace sees its group at the mount point', () => {
  const files = {
    '/proc/self/cgroup': '5:memory:/docker/12ab\n4:cpu,cpuacct:/docker/12ab\n0::/\n',
    '/sys/fs/cgroup/cpu/cpu.cfs_quota_us': '200000\n',
    '/sys/fs/cgroup/cpu/cpu.cfs_period_us': '100000\n',
  };
  assert.deepEqual(limitOf(files), { cores: 2, stat: '/sys/fs/cgroup/cpu/cpu.stat' });
});

test('there is no limit without a quota, and without control groups', () => {
  assert.equal(limitOf({}), undefined);
  assert.equal(
    limitOf({ '/proc/self/cgroup': '0::/\n', '/sys/fs/cgroup/cpu.max': 'max 100000\n' }),
    undefined,
  );
  const first = {
    '/proc/self/cgroup': '1:cpu:/\n',
    '/sys/fs/cgroup/cpu/cpu.cfs_quota_us': '-1\n',
    '/sys/fs/cgroup/cpu/cpu.cfs_period_us': '100000\n',
  };
  assert.equal(limitOf(first), undefined);
});

test('both versions count the time in which the limit stopped threads', () => {
  assert.equal(parseThrottled('usage_usec 9\nnr_throttled 3\nthrottled_usec 2500000\n'), 2.5);
  assert.equal(parseThrottled('nr_periods 9\nnr_throttled 3\nthrottled_time 2500000000\n'), 2.5);
  assert.ok(Number.isNaN(parseThrottled('')));
});

test('this process has at least one core and some memory, and no more than the machine', () => {
  assert.equal(parseCores('0'), 1);
  assert.equal(parseCores('0-3,8,10-11'), 7);
  assert.ok(coreCount() >= 1 && coreCount() <= allowedCores());
  assert.ok(usableMemory() > 0 && usableMemory() <= totalmem());
});

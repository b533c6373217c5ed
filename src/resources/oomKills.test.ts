import assert from 'node:assert/strict';
import { test } from 'node:test';
import { killReason, oomKills } from './oomKills.js';

const killsOf = (files: Readonly<Record<string, string>>) => oomKills((path) => files[path] ?? '');
const ofGroup = (count: number) => ({ count, isOfGroup: true });

test('a process that SIGKILL ended had no memory if the system has ended one more of its group for this reason', () => {
  const reason = ' because the machine or its container had no memory left';
  assert.equal(
    killReason('SIGKILL', ofGroup(3), () => ofGroup(4)),
    reason,
  );
  assert.equal(
    killReason('SIGKILL', ofGroup(3), () => ofGroup(3)),
    '',
  );
  assert.equal(
    killReason('SIGTERM', ofGroup(3), () => ofGroup(4)),
    '',
  );
  assert.equal(
    killReason(null, ofGroup(3), () => ofGroup(4)),
    '',
  );
});

test('without a count of the own group, the reason is only probable', () => {
  const ofMachine = (count: number) => ({ count, isOfGroup: false });
  assert.equal(
    killReason('SIGKILL', ofMachine(3), () => ofMachine(4)),
    ' probably because the machine or its container had no memory left',
  );
  assert.equal(
    killReason('SIGKILL', ofMachine(Number.NaN), () => ofMachine(Number.NaN)),
    '',
  );
});

test('only processes of the own control group count, not those of other containers', () => {
  const vmstat = 'pgfault 7\noom_kill 12\nthp_fault_alloc 0\n';
  assert.deepEqual(killsOf({}), { count: Number.NaN, isOfGroup: false });
  assert.deepEqual(killsOf({ '/proc/vmstat': vmstat, '/proc/self/cgroup': '0::/\n' }), {
    count: 12,
    isOfGroup: false,
  });
  const second = {
    '/proc/vmstat': vmstat,
    '/proc/self/cgroup': '0::/\n',
    '/sys/fs/cgroup/memory.events': 'low 0\nhigh 0\nmax 9\noom 2\noom_kill 2\noom_group_kill 0\n',
  };
  assert.deepEqual(killsOf(second), ofGroup(2));
  const first = {
    '/proc/vmstat': vmstat,
    '/proc/self/cgroup': '4:memory:/docker/12ab\n2:cpu:/docker/12ab\n0::/\n',
    '/sys/fs/cgroup/memory/memory.oom_control': 'oom_kill_disable 0\nunder_oom 0\noom_kill 1\n',
  };
  assert.deepEqual(killsOf(first), ofGroup(1));
});

test('Linux counts these processes', () => {
  if (process.platform === 'linux') assert.ok(oomKills().count >= 0);
});

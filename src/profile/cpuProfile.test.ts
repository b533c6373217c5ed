import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ProfileCycle, STACK_IDLE, STACK_RUNTIME } from '../protocol/clusterObserver.js';
import { type ProfileReading, readCpuProfile } from './cpuProfile.js';
import { cpuProfileOf } from './samples.test.support.js';
import { TaskPlaces } from './taskPlaces.js';

const READING: ProfileReading = {
  thread: 'threads-0',
  interval: 0.01,
  toEpoch: (microseconds) => 1000 + microseconds / 1e6,
  isRuntime: (url) => url.startsWith('node:') || url.startsWith('longpole/'),
  callsTasks: (url) => url === 'longpole/evaluator.js',
  runsTasks: (url) => url === 'longpole/evaluator.js',
  taskPlaces: new TaskPlaces(),
  functionPosition: (url, line) => ({ file: `/${url}`, line: line + 1 }),
  runningLine: (_url, line) => line,
  tasks: () => ({ starts: [1000], stops: [Number.POSITIVE_INFINITY], tasks: [42] }),
  after: 0,
};

/** Returns the stacks of the samples as names, `idle` and `runtime`. */
function stacksOf(cycle: ProfileCycle): string[] {
  return Array.from(cycle.stacks, (stack) => {
    if (stack === STACK_IDLE) return 'idle';
    if (stack === STACK_RUNTIME) return 'runtime';
    const names: string[] = [];
    for (let at = stack; at >= 0; at = cycle.parents[at]!) names.unshift(cycle.names[at]!);
    return names.join('>');
  });
}

function read(frames: readonly string[], changes: Partial<ProfileReading> = {}): string | undefined {
  return stacksOf(readCpuProfile(cpuProfileOf([frames]), { ...READING, ...changes }))[0];
}

const ENGINE = ['emit@node:events', 'work@longpole/runtime.js', 'call@longpole/evaluator.js'];
const INC = { id: 'module user.ts inc', name: 'inc' };
const NO_TASKS = { tasks: () => ({ starts: [], stops: [], tasks: [] }) };

test('frames of Longpole and Node that lead to a task are removed, and those inside a task are kept', () => {
  assert.equal(read([...ENGINE, 'inc@user.ts', 'add@user.ts']), 'inc>add');
  assert.equal(read([...ENGINE, 'inc@user.ts', 'map', 'add@user.ts']), 'inc>map>add');
  assert.equal(read([...ENGINE, 'inc@user.ts', 'meter@longpole/meter.js', 'f@user.ts']), 'inc>meter>f');
});

test('a task that continues after an await, and a task that is a function of the engine', () => {
  assert.equal(read(['processTicks@node:task_queues', 'load@user.ts']), 'load');
  assert.equal(read(['load@user.ts']), 'load');
  assert.equal(read([...ENGINE, 'stringify']), 'stringify');
});

test('a sample of a function that V8 inlined into the runner belongs to the function of the task', () => {
  const taskPlaces = new TaskPlaces();
  taskPlaces.add(INC, { file: '/user.ts', line: 7 });
  const named = { taskFunction: () => INC, taskPlaces };
  assert.equal(read(ENGINE, named), 'inc');
  assert.equal(read([...ENGINE, 'clock@longpole/clock.js'], named), 'runtime');
  assert.equal(read(ENGINE, { ...named, ...NO_TASKS }), 'runtime');
});

test('samples of a task are reported with whether they hide its functions', () => {
  const seen: boolean[] = [];
  const reading = {
    ...READING,
    onTaskSample: (task: number, time: number, isHidden: boolean) => {
      assert.ok(task === 42 && time > 1000);
      seen.push(isHidden);
    },
  };
  readCpuProfile(
    cpuProfileOf([ENGINE, [...ENGINE, 'inc@user.ts'], [...ENGINE, 'clock@longpole/clock.js']]),
    reading,
  );
  assert.deepEqual(seen, [true, false, false]);
  readCpuProfile(cpuProfileOf([ENGINE]), { ...reading, ...NO_TASKS });
  assert.equal(seen.length, 3);
});

test('a function that V8 inlined is where other samples have shown it, and not another function of that name', () => {
  const named = { ...READING, taskFunction: () => INC, taskPlaces: new TaskPlaces() };
  assert.deepEqual(stacksOf(readCpuProfile(cpuProfileOf([ENGINE]), named)), ['runtime']);
  const both = readCpuProfile(cpuProfileOf([ENGINE, [...ENGINE, 'inc@user.ts']]), named);
  assert.deepEqual(stacksOf(both), ['inc', 'inc']);
  assert.deepEqual([both.files, Array.from(both.lines)], [['/user.ts'], [7]]);
  assert.deepEqual(readCpuProfile(cpuProfileOf([ENGINE]), named).files, ['/user.ts']);
});

test('two functions of one name that V8 inlined are each at their own place', () => {
  const tasks = [0, 1, 2, 3];
  const reading = {
    ...READING,
    taskPlaces: new TaskPlaces(),
    // The samples are at 10, 20, 30 and 40 ms: two tasks of each function, by turns.
    tasks: () => ({
      starts: tasks.map((index) => 1000.005 + index / 100),
      stops: tasks.map((index) => 1000.014 + index / 100),
      tasks,
    }),
    taskFunction: (task: number) => ({ id: `module ${task % 2 === 0 ? 'a.ts' : 'b.ts'} inc`, name: 'inc' }),
  };
  const profile = cpuProfileOf([ENGINE, ENGINE, [...ENGINE, 'inc@a.ts'], [...ENGINE, 'inc@b.ts']]);
  const cycle = readCpuProfile(profile, reading);
  const files = Array.from(cycle.stacks, (stack) => cycle.files[stack]);
  assert.deepEqual(files, ['/a.ts', '/b.ts', '/a.ts', '/b.ts']);
  const later = readCpuProfile(cpuProfileOf([ENGINE, ENGINE]), reading);
  assert.deepEqual(
    Array.from(later.stacks, (stack) => later.files[stack]),
    ['/a.ts', '/b.ts'],
  );
});

test('the file of a task function is that of most samples, even if one sample shows the function of the next task', () => {
  const taskPlaces = new TaskPlaces();
  const border = cpuProfileOf([
    [...ENGINE, 'inc@other.ts'],
    [...ENGINE, 'inc@user.ts'],
    [...ENGINE, 'inc@user.ts'],
    ENGINE,
  ]);
  const cycle = readCpuProfile(border, { ...READING, taskFunction: () => INC, taskPlaces });
  assert.equal(cycle.files[cycle.stacks[3]!], '/user.ts');
});

test('a task without a name of its own has the name of its key', () => {
  const named = { taskFunction: () => INC, taskPlaces: new TaskPlaces() };
  assert.equal(read([...ENGINE, '@user.ts', '@user.ts'], named), 'inc>(anonymous)');
  assert.equal(read(['@user.ts'], named), '(anonymous)');
});

test('waiting, work of the runtime, and garbage collection are distinguished', () => {
  assert.equal(read(['(idle)']), 'idle');
  assert.equal(read(ENGINE), 'runtime');
  assert.equal(read(['emit@node:events', 'post@longpole/runtime.js', 'postMessage']), 'runtime');
  assert.equal(read(['(garbage collector)']), '(garbage collector)');
  assert.equal(read(['(program)']), '(program)');
  assert.equal(read(['(program)'], NO_TASKS), 'idle');
});

test('the sample that V8 takes when a profile starts is omitted, and no sample is reported twice', () => {
  const profile = cpuProfileOf([['f@user.ts', '@longpole:profiler'], ['f@user.ts'], ['g@user.ts']]);
  assert.deepEqual(stacksOf(readCpuProfile(profile, READING)), ['f', 'g']);
  assert.deepEqual(stacksOf(readCpuProfile(profile, { ...READING, after: 1000.02 })), ['g']);
});

test('positions, times and tasks', () => {
  const profile = cpuProfileOf([['f@user.ts'], ['f@user.ts']]);
  const cycle = readCpuProfile(profile, {
    ...READING,
    tasks: () => ({ starts: [1000.015], stops: [1000.03], tasks: [7] }),
  });
  assert.deepEqual(cycle.files, ['/user.ts']);
  assert.deepEqual(Array.from(cycle.lines), [7]);
  assert.deepEqual(Array.from(cycle.times), [1000.01, 1000.02]);
  assert.deepEqual(Array.from(cycle.tasks), [-1, 7]);
});

test('executed lines are counted exactly', () => {
  const profile = cpuProfileOf([['f@user.ts'], ['f@user.ts'], ['f@user.ts']]);
  const nodes = profile.nodes.map((node) =>
    node.callFrame.functionName === 'f'
      ? {
          ...node,
          positionTicks: [
            { line: 9, ticks: 2 },
            { line: 11, ticks: 1 },
          ],
        }
      : node,
  );
  const cycle = readCpuProfile({ ...profile, nodes }, READING);
  assert.deepEqual(Array.from(cycle.sampleLines).sort(), [11, 9, 9]);
});

test('samples that V8 recorded late are sorted', () => {
  const profile = cpuProfileOf([['f@user.ts'], ['g@user.ts'], ['h@user.ts']]);
  const cycle = readCpuProfile({ ...profile, timeDeltas: [10_000, 20_000, -10_000] }, READING);
  assert.deepEqual(stacksOf(cycle), ['f', 'h', 'g']);
});

// The stack of a task's error has the frames of the program, and none of this package.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compute, connect, delayed, LocalCluster, TaskError } from 'longpole';
import { getSync } from 'longpole/local';

const fail = delayed(function fail(x: number): number {
  throw new RangeError(`${x} is out of range`);
});

/** Returns the stack lines of the error with which a promise rejects. */
async function framesOf(work: Promise<unknown>): Promise<readonly string[]> {
  const error: unknown = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof TaskError);
  assert.match(error.stack ?? '', /^TaskError: Task 'fail-.*RangeError: 3 is out of range\n/);
  return (error.stack ?? '').split('\n').slice(1);
}

test('the stack of a failed local computation is the call of the program', async () => {
  const frames = await framesOf(compute(fail(3), { scheduler: 'threads' }));
  assert.equal(frames.length, 1);
  assert.match(frames[0] ?? '', /^ {4}at .*taskErrorStacks.*:\d+ {2}.*compute\(fail\(3\)/);
});

test('the stack of a failed computation on a cluster is the call of the program', async () => {
  await using cluster = await LocalCluster.start({ workers: 1, dashboard: false });
  await using client = await connect(cluster);
  for (const frames of [
    await framesOf(client.compute(fail(3))),
    await framesOf(client.persist(fail(3)).result()),
  ]) {
    assert.equal(frames.length, 1);
    assert.match(frames[0] ?? '', /^ {4}at .*taskErrorStacks.*:\d+ {2}/);
  }
});

test('the stack of a failed synchronous computation has the frames of its caller', () => {
  const graph = {
    a: [
      () => {
        throw new Error('no');
      },
    ],
  };
  const error: unknown = (() => {
    try {
      return getSync(graph, 'a');
    } catch (thrown) {
      return thrown;
    }
  })();
  assert.ok(error instanceof TaskError);
  const frames = (error.stack ?? '').split('\n').slice(1);
  assert.ok(frames.length > 0 && frames.every((frame) => frame.includes('taskErrorStacks')), error.stack);
});

test('the cause of a failed synchronous computation has the frames of the task only', async () => {
  const inner = (): never => {
    throw new RangeError('inner');
  };
  const outer = (): never => {
    try {
      return inner();
    } catch (cause) {
      throw new Error('outer', { cause });
    }
  };
  const error: unknown = await compute(delayed(outer)(), { scheduler: 'sync' }).catch((thrown) => thrown);
  assert.ok(error instanceof TaskError && error.cause instanceof Error && error.cause.cause instanceof Error);
  assert.match(error.stack ?? '', /outer\n {4}at .*taskErrorStacks.*:\d+ {2}.*compute\(delayed\(outer\)/);
  assert.match(error.cause.stack ?? '', /^Error: outer\n {4}at outer .*$/);
  assert.match(error.cause.cause.stack ?? '', /^RangeError: inner\n {4}at inner .*\n {4}at outer .*$/);
});

test('a frozen error of a synchronous task stays the cause', () => {
  const frozen = Object.freeze(new Error('frozen'));
  const graph = {
    a: [
      () => {
        throw frozen;
      },
    ],
  };
  assert.throws(() => getSync(graph, 'a'), { name: 'TaskError', cause: frozen });
});

test('the stack of a function that was shipped as text has its name and no file of this package', async () => {
  const error: unknown = await compute(fail(3), { scheduler: 'threads' }).catch((thrown: unknown) => thrown);
  assert.ok(error instanceof TaskError && error.cause instanceof Error);
  assert.match(
    error.cause.stack ?? '',
    /^RangeError: 3 is out of range\n {4}at fail \(delayed:fail:2:\d+\)$/,
  );
});

test('the stack of an error of a call begins with the call and the line of the program', async () => {
  await using client = await connect({ workers: 1, profile: false });
  const free = Number('1');
  const uses = (x: number): number => x + free;
  async function submits(): Promise<void> {
    client.submit(uses, 1, { retries: -1 });
  }
  async function waits(): Promise<void> {
    await client.submit(uses, 1).result();
  }
  async function gathers(): Promise<void> {
    await client.gather(client.map(uses, [1, 2]));
  }
  async function computes(): Promise<void> {
    await compute(delayed(uses)(1), { scheduler: 'threads' });
  }
  async function cycles(): Promise<void> {
    getSync({ a: [uses, 'b'], b: [uses, 'a'] }, 'a');
  }
  const shown: string[] = [];
  for (const call of [submits, waits, gathers, computes, cycles])
    await call().catch(({ stack }: Error) => shown.push(...(stack ?? '').split('\n').slice(1, 3)));
  assert.deepEqual(
    shown.map((line) => / at (\S+ )\(.*(?:\/bundle\/|(taskErrorStacks))/.exec(line)?.slice(1).join('')),
    [
      ['Client.submit ', 'submits taskErrorStacks'],
      ['Future.result ', 'waits taskErrorStacks'],
      ['Client.gather ', 'gathers taskErrorStacks'],
      ['compute ', 'computes taskErrorStacks'],
      ['getSync ', 'cycles taskErrorStacks'],
    ].flat(),
  );
});

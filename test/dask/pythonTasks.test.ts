// Tasks in Python beside tasks in TypeScript, on a real Dask cluster.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { tableFromIPC, tableToIPC } from 'apache-arrow';
import fc from 'fast-check';
import {
  type ArrowTable,
  annotate,
  arrowTable,
  type Client,
  compute,
  connect,
  delayed,
  python as pythonTask,
  TaskError,
} from 'longpole';
import { getSync, getThreaded } from 'longpole/local';
import { repositoryPath } from '../support/repository.js';
import { CONNECT_SECONDS, NO_PYTHON, NodeCluster, python, until } from './nodeCluster.js';
import { ones, square, sum } from './runTasks.js';

const folder = mkdtempSync(join(tmpdir(), 'longpole-dask-python-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const named = (name: string) => pythonTask(`python_functions:${name}`);
const echo = named('echo');
const total = pythonTask<(values: Float64Array) => number>('python_functions:total');
const squares = pythonTask<(length: number) => Float64Array>('python_functions:squares');
const hold = pythonTask<(begun: string, gate: string) => number>('python_functions:hold');

async function failureOf(result: Promise<unknown>): Promise<TaskError> {
  const error: unknown = await result.then(
    () => assert.fail('the task did not fail'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof TaskError, String(error));
  return error;
}

describe('tasks in Python', { skip: python === undefined && NO_PYTHON, timeout: 450_000 }, () => {
  let cluster: NodeCluster;
  let client: Client;

  before(async () => {
    cluster = await NodeCluster.start(python ?? '');
    client = await cluster.connect();
  });
  after(async () => {
    await client.close();
    await cluster.close();
  });

  it('use results of tasks in TypeScript, and the other way round', async () => {
    const doubled = delayed((values: Float64Array) => values.map((value) => value * 2));
    assert.deepEqual(await compute(total(doubled(squares(4))), square(total(ones(3)))), [28, 9]);
    const [held] = client.persist([squares(1000)]);
    assert.ok(held !== undefined);
    assert.equal(await client.submit(sum, held).result(), 332_833_500);
    assert.deepEqual(await client.gather(client.map(total, client.map(ones, [1, 2, 3]))), [1, 2, 3]);
    const count = pythonTask('python_functions:Counter.count');
    assert.equal(await client.submit(count, [1, squares(3), 3]).result(), 3);
  });

  it('are tasks of Dask on a thread of a worker, and have a row in the trace', async () => {
    const future = client.submit(named('where'), { workers: 'dask-1', pure: false });
    const there: unknown = await future.result();
    assert.ok(typeof there === 'object' && there !== null && 'key' in there && 'thread' in there);
    assert.match(String(there.key), new RegExp(`^${future.key}-[0-9a-f]{32}$`));
    assert.match(String(there.thread), /Dask-Default-Threads/);
    const gates = [join(folder, 'row'), join(folder, 'row-gate')] as const;
    const held = client.submit(hold, ...gates, { key: 'held', workers: 'dask-0' });
    await until(() => existsSync(gates[0]));
    writeFileSync(gates[1], '');
    const seconds = await held.result();
    const row = client.getTaskStream().find(({ key }) => key === 'held');
    assert.ok(row !== undefined);
    const { prefix, worker, status, nbytes, type, received, started, stopped, acknowledged } = row;
    assert.deepEqual(
      { prefix, worker, status, nbytes, type },
      { prefix: 'held', worker: 'dask-0', status: 'memory', nbytes: 8, type: 'number' },
    );
    assert.ok(
      received <= started && stopped - started >= seconds && stopped <= acknowledged,
      JSON.stringify(row),
    );
    const activities = (): Promise<string[]> =>
      client.runOnScheduler(({ scheduler }) =>
        [...scheduler.cumulativeWorkerMetrics].flatMap(([[, prefix, activity]]) =>
          prefix === 'held' && activity !== undefined ? [activity] : [],
        ),
      );
    // Workers send metrics after results.
    for (const activity of ['thread-cpu', 'serialize', 'deserialize'])
      await until(async () => (await activities()).includes(activity));
  });

  it('receive the types of Python that correspond to those of TypeScript', async () => {
    const values = [
      1,
      0.5,
      1e300,
      2n,
      'a',
      true,
      null,
      undefined,
      [1],
      { a: 1 },
      new Date(0),
      Uint8Array.of(1),
    ];
    const arrays = [new Float32Array(1), new BigInt64Array(1), new Uint8ClampedArray(1), Buffer.from('a')];
    assert.deepEqual(await client.submit(named('kinds'), ...values, ...arrays).result(), [
      ...['int', 'float', 'float', 'int', 'str', 'bool', 'NoneType', 'NoneType', 'list', 'dict'].map(
        (name) => `builtins.${name}`,
      ),
      ...[
        'datetime.datetime',
        'builtins.bytes',
        'numpy.ndarray',
        'numpy.ndarray',
        'numpy.ndarray',
        'builtins.bytes',
      ],
    ]);
  });

  it('return scalars and arrays of numpy, and may change the arrays that they receive', async () => {
    const scalars = [-1, 2n ** 64n - 1n, 2 ** 53 - 1, 2n ** 53n, 0.5, true, 3, Number.NaN, [1, 2]];
    assert.deepEqual(await client.submit(named('scalars')).result(), scalars);
    assert.deepEqual(await client.submit(named('arrays')).result(), [
      Int32Array.of(1, 4),
      Uint8Array.of(0, 1, 2),
      new Float64Array(0),
      Uint8Array.of(97, 98),
    ]);
    const made = ones(3);
    assert.deepEqual(await compute(named('scale')(made, 2), sum(made)), [Float64Array.of(2, 2, 2), 3]);
  });

  it('return every value that they receive', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyValue(), { maxLength: 8 }), async (values) => {
        assert.deepEqual(await client.submit(echo, values, { pure: false }).result(), values);
      }),
      { numRuns: 40, seed: 11 },
    );
  });

  it('receive and return tables of Arrow', async () => {
    const made: unknown = await client.submit(named('table')).result();
    assert.ok(isTable(made));
    const table = tableFromIPC(made.$arrow);
    assert.deepEqual(
      table.toArray().map((row) => ({ ...row })),
      [
        { name: 'a', value: 1.5 },
        { name: 'b', value: 2.5 },
      ],
    );
    const back = arrowTable(tableToIPC(table, 'stream'));
    assert.deepEqual(await client.submit(named('rows'), back).result(), [
      'Table',
      { name: ['a', 'b'], value: [1.5, 2.5] },
    ]);
    const { message } = await failureOf(client.submit(echo, arrowTable(Uint8Array.of(1, 2))).result());
    assert.match(message, /not in Arrow's stream format/);
  });

  it('refuse arguments without a counterpart, with the type and the key of the task', async () => {
    const cyclic: unknown[] = [];
    cyclic.push(cyclic);
    const refused: readonly (readonly [unknown, RegExp])[] = [
      [{ a: [new Map()] }, /'refused-0'.*Argument 1 of python_functions:echo.*\.a\[0\] is a Map/],
      [new Set(), /'refused-1'.*it is a Set/],
      [new Date(Number.NaN), /'refused-2'.*an invalid Date/],
      [new DataView(new ArrayBuffer(2)), /'refused-3'.*a DataView/],
      [/a/, /'refused-4'.*a RegExp/],
    ];
    for (const [index, [value, message]] of refused.entries()) {
      const failed = await failureOf(client.submit(echo, value, { key: `refused-${index}` }).result());
      assert.equal(failed.code, 'ERR_LONGPOLE_PYTHON_VALUE');
      assert.match(failed.message, message);
      assert.match(failed.message, /Pass numbers, strings/);
    }
  });

  it('refuse results without a counterpart, with the type and the key of the task', async () => {
    const refused = {
      set: /it is a set\. Return numbers/,
      nested: /\['a'\]\[1\]\['b'\] is a object/,
      key: /a dict with a key of type int/,
      grid: /numpy array of 2 dimensions; use array\.ravel\(\)/,
      complex: /numpy array of complex128/,
      naive: /datetime without a time zone/,
    };
    for (const [kind, message] of Object.entries(refused)) {
      const failed = await failureOf(
        client.submit(named('returns'), kind, { key: `returned-${kind}` }).result(),
      );
      assert.equal(failed.code, 'ERR_LONGPOLE_PYTHON_VALUE');
      assert.match(failed.message, new RegExp(`'returned-${kind}'.*The result of python_functions:returns`));
      assert.match(failed.message, message);
    }
  });

  it('fail with the traceback of Python', async () => {
    const failed = await failureOf(
      client.submit(named('raises'), 'no such row', { key: 'raising' }).result(),
    );
    assert.equal(failed.code, 'ERR_LONGPOLE_TASK');
    assert.equal(failed.key, 'raising');
    assert.equal(failed.function, 'raises');
    assert.match(failed.message, /LookupError: no such row/);
    const { cause } = failed;
    assert.ok(cause instanceof Error);
    assert.equal(cause.name, 'LookupError');
    assert.match(
      cause.stack ?? '',
      /KeyError: 'inner'.*python_functions\.py", line \d+, in raises.*LookupError/s,
    );
    assert.doesNotMatch(cause.stack ?? '', /python_calls\.py/);
  });

  it('name the worker, the module and a remedy if the import fails', async () => {
    const missing = await failureOf(client.submit(pythonTask('no_such.module:f')).result());
    assert.equal(missing.code, 'ERR_LONGPOLE_PYTHON_IMPORT');
    assert.match(
      missing.message,
      /Dask worker tcp:\/\/127\.0\.0\.1:\d+ .*'no_such\.module'.*ModuleNotFoundError.*PYTHONPATH/,
    );
    const wrong = await failureOf(client.submit(pythonTask('python_functions:both')).result());
    assert.equal(wrong.code, 'ERR_LONGPOLE_PYTHON_IMPORT');
    assert.match(wrong.message, /a threading\.Barrier and no function 'both'.*python_functions\.py/);
  });

  it('have retries, priorities and workers', async () => {
    const file = join(folder, 'failed');
    assert.equal(await client.submit(named('fails_once'), file, { retries: 1 }).result(), 'done');
    const gates = [join(folder, 'busy'), join(folder, 'busy-gate')] as const;
    const busy = client.submit(hold, ...gates, { workers: 'dask-0', pure: false });
    await until(() => existsSync(gates[0]));
    // The filler is the batch that is sent ahead, so that the scheduler can choose among the rest. What is submitted in
    // one turn of the event loop may be sent in one batch.
    const filler = client.submit(echo, 'filler', { workers: 'dask-0', pure: false });
    await new Promise((resolve) => setImmediate(resolve));
    const low = client.submit(echo, 'low', { workers: 'dask-0', pure: false });
    const high = annotate({ priority: 5, workers: 'dask-0' }, () =>
      client.submit(echo, 'high', { pure: false }),
    );
    writeFileSync(gates[1], '');
    await client.gather([busy, filler, low, high]);
    const stream = client.getTaskStream().map(({ key, worker }) => ({ key, worker }));
    const at = (key: string): number => stream.findIndex((row) => row.key === key);
    assert.ok(at(high.key) < at(low.key), JSON.stringify(stream.slice(-10)));
    assert.equal(stream[at(high.key)]?.worker, 'dask-0');
  });

  it('leave the worker usable after they were cancelled', async () => {
    const gates = [join(folder, 'cancelled'), join(folder, 'cancelled-gate')] as const;
    const controller = new AbortController();
    const held = client.submit(hold, ...gates, { workers: 'dask-1', signal: controller.signal });
    await until(() => existsSync(gates[0]));
    controller.abort();
    await assert.rejects(held.result(), { code: 'ERR_LONGPOLE_ABORTED' });
    writeFileSync(gates[1], '');
    assert.equal(await client.submit(echo, 'after', { workers: 'dask-1' }).result(), 'after');
    assert.equal(await client.submit(square, 8, { workers: 'dask-1', pure: false }).result(), 64);
  });

  it('fail if Dask cancels them before they run', async () => {
    const gates = [join(folder, 'occupied'), join(folder, 'occupied-gate')] as const;
    await client.submit(named('occupy'), ...gates, { workers: 'dask-1' }).result();
    await until(() => existsSync(gates[0]));
    const waiting = client.submit(echo, 1, { key: 'waiting', workers: 'dask-0' });
    await client.submit(named('cancel'), 'waiting-', { workers: 'dask-1' }).result();
    const failed = await failureOf(waiting.result());
    assert.equal(failed.code, 'ERR_LONGPOLE_DASK_BRIDGE');
    assert.match(failed.message, /python_functions:echo.*log of the worker/);
    writeFileSync(gates[1], '');
    assert.equal(await client.submit(echo, 2, { workers: 'dask-0' }).result(), 2);
  });

  it('run again if their worker dies', async () => {
    assert.equal(await client.submit(named('dies_once'), join(folder, 'died')).result(), 'alive');
  });

  it('are no functions for client.run()', async () => {
    const run = client.run(named('where'));
    await assert.rejects(run, { code: 'ERR_LONGPOLE_INVALID_ARGUMENT', message: /a function of JavaScript/ });
  });
});

describe('two tasks in Python', { skip: python === undefined && NO_PYTHON, timeout: 450_000 }, () => {
  it('run at the same time on a Dask worker with two threads', async () => {
    const { PYTHONPATH } = process.env;
    process.env['PYTHONPATH'] = repositoryPath('test/dask');
    try {
      await using client = await connect('dask', {
        python: python ?? '',
        workers: 1,
        threads: 2,
        timeout: CONNECT_SECONDS,
      });
      const meet = named('meet');
      assert.deepEqual(await client.gather([client.submit(meet), client.submit(meet)]), [true, true]);
    } finally {
      if (PYTHONPATH === undefined) delete process.env['PYTHONPATH'];
      else process.env['PYTHONPATH'] = PYTHONPATH;
    }
  });
});

describe('a task in Python is refused', () => {
  const refusal = {
    code: 'ERR_LONGPOLE_NOT_DASK',
    message: /python\('python_functions:echo'\).*connect\('dask'\)/,
  };

  it('by a local cluster', async () => {
    await using client = await connect({ workers: 1, profile: false });
    await assert.rejects(client.submit(echo, 1).result(), refusal);
    await assert.rejects(client.compute(echo(1)), refusal);
    assert.throws(() => client.persist(square(total(ones(2)))), { code: 'ERR_LONGPOLE_NOT_DASK' });
  });

  it('by the local schedulers', async () => {
    await assert.rejects(getThreaded({ a: [echo, 1] }, 'a'), refusal);
    assert.throws(() => getSync({ a: [echo, 1] }, 'a'), refusal);
  });
});

function isTable(value: unknown): value is ArrowTable {
  return (
    typeof value === 'object' && value !== null && '$arrow' in value && value.$arrow instanceof Uint8Array
  );
}

/** Any code point, as the unit 'binary', which takes 1.5 s of CPU for a table of all of them. */
const codePoint = fc
  .oneof(fc.integer({ min: 0, max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }))
  .map(
    (code) => String.fromCodePoint(code),
    (text) => {
      assert.ok(typeof text === 'string' && [...text].length === 1);
      return text.codePointAt(0) ?? 0;
    },
  );

/** Values that are equal after they were sent to Python and back. */
function anyValue(): fc.Arbitrary<unknown> {
  const scalar = fc.oneof(
    fc.double(),
    fc.integer(),
    fc.maxSafeInteger(),
    fc.string({ unit: codePoint }),
    fc.boolean(),
    fc.constant(null),
    // Smaller integers return as numbers.
    fc.bigInt({ min: 2n ** 53n, max: 2n ** 200n }),
    fc.bigInt({ min: -(2n ** 200n), max: -(2n ** 53n) }),
    fc.date({
      min: new Date('0001-01-01T00:00:00.000Z'),
      max: new Date('9999-12-31T23:59:59.999Z'),
      noInvalidDate: true,
    }),
    fc.uint8Array(),
    fc.int8Array(),
    fc.int16Array(),
    fc.uint16Array(),
    fc.int32Array(),
    fc.uint32Array(),
    fc.float32Array(),
    fc.float64Array(),
    fc.bigInt64Array(),
    fc.bigUint64Array(),
  );
  const name = fc.oneof(fc.string(), fc.constantFrom('$', '__proto__', 'constructor', '0'));
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      scalar,
      fc.array(tie('tree'), { maxLength: 4 }),
      fc.dictionary(name, tie('tree'), { maxKeys: 4, noNullPrototype: true }),
    ),
  }));
  return tree;
}

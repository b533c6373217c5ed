// Tests the results that an isolate keeps for a run, and the tasks that it skips.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileGraph } from '../../graph/compile.js';
import { CompletionLog, completionColumns } from '../../protocol/completionLog.js';
import {
  type Batch,
  NO_IDS,
  NO_VALUES,
  type PackedValues,
  type UnmeasuredWork,
} from '../../protocol/isolateMessages.js';
import { STAYED } from '../../protocol/taskRun.js';
import { toCallables } from './evaluator.js';
import { IsolateRun } from './isolateRun.js';
import { packResult, unpackResult } from './packResult.js';
import { slowCopies, type WorkTimer } from './slowCopies.js';

const numbers = (): number[] => [1, 2, 3];
const count = (list: readonly unknown[]): number => list.length;

interface Opened {
  readonly make?: () => unknown;
  readonly inlineBytes?: number;
  readonly timer?: WorkTimer;
  readonly sized?: boolean;
}

/** Opens a run with two tasks: `used` takes the result of `made`. */
function openRun({ make = numbers, inlineBytes = 1e6, timer, sized = true }: Opened = {}) {
  const graph = { made: [make], used: [count, 'made'] };
  const { program, functions, constants, ids } = compileGraph(graph, ['used']);
  const log = new CompletionLog(program.size);
  const claims = new Int32Array(program.size);
  const wanted = new Uint8Array(program.size);
  const message = {
    type: 'open' as const,
    run: 1,
    opening: 1,
    program,
    functions: [],
    log: { number: undefined, memory: undefined },
    inlineBytes,
    keys: null,
    marks: false,
    concurrentTasks: 1,
    sized,
  };
  const run = new IsolateRun(message, { log, claims, wanted }, undefined, timer);
  run.setFunctions(toCallables(functions));
  const batch = (lacking: readonly number[]): Batch => ({
    type: 'batch',
    run: 1,
    batch: 1,
    ids: NO_IDS,
    publish: new Uint8Array(0),
    keep: NO_IDS,
    inputs: NO_VALUES,
    lacking: Int32Array.from(lacking),
    constants: { ids: Int32Array.from(constants.keys()), values: constants },
    gather: [],
  });
  const [made = -1, used = -1] = ['made', 'used'].map((key) => ids.get(key));
  /** A batch with `ids`, and a copy of `made` if it was gathered. */
  const sent = (ids: readonly number[], gathered = false): Batch => ({
    ...batch([]),
    ids: Int32Array.from(ids),
    packed: gathered ? { ids: Int32Array.of(made), results: [packResult([1, 2, 3])] } : undefined,
  });
  return { run, batch, sent, log, claims, wanted, made, used };
}

function complete(run: IsolateRun, id: number): unknown {
  const value = run.evaluate(id);
  run.complete(value, { id, batch: 1, received: 0, start: 0, stop: 0, coreWait: 0, ...STAYED });
  return value;
}

test('a task is skipped if its input is in no store and was not computed here', () => {
  const { run, batch, made, used } = openRun();
  run.accept(batch([made]));
  assert.ok(run.isBlocked(used));
});

test('a local scheduler has the size of a result that stays here only if an observer reads it', () => {
  const sizes = [true, false].map((sized) => {
    const { run, batch, log, made: id } = openRun({ inlineBytes: Number.POSITIVE_INFINITY, sized });
    run.accept(batch([]));
    run.complete(run.evaluate(id), { id, batch: 1, received: 0, start: 0, stop: 1, coreWait: 0, ...STAYED });
    const columns = completionColumns(1);
    new CompletionLog(log.buffer).read(columns, 0);
    return columns.numbers[0];
  });
  assert.deepEqual(sizes, [24, Number.NaN]);
});

test('a task runs if its input was computed here during the gather', () => {
  const { run, batch, made, used } = openRun();
  run.accept(batch([]));
  complete(run, made);
  run.accept(batch([made]));
  assert.ok(!run.isBlocked(used));
  assert.equal(complete(run, used), 3);
});

test('a task whose input is not here fails, instead of running with undefined', () => {
  const { run, batch, made, used } = openRun();
  run.accept(batch([]));
  const absent = { code: 'ERR_LONGPOLE_INTERNAL', message: /^The input '.*' of '.*' is not on its worker\./ };
  assert.throws(() => run.evaluate(used), absent);
  complete(run, made);
  run.release(Int32Array.of(made));
  assert.throws(() => run.evaluate(used), absent);
});

test('an input whose value is undefined is here', () => {
  const { run, batch, made, used } = openRun();
  run.accept({ ...batch([]), inputs: { ids: Int32Array.of(made), values: [undefined] } });
  assert.throws(() => run.evaluate(used), TypeError);
});

test('a copy is dropped after its last task if it was evicted while the batch with it was waiting here', () => {
  const { run, sent, claims, made, used } = openRun();
  const batch = sent([used], true);
  claims[used] = 1;
  run.arrived(batch);
  run.evict(Int32Array.of(made), [batch]);
  run.accept(batch);
  assert.equal(complete(run, used), 3);
  run.evict(NO_IDS, []);
  assert.deepEqual(run.fetch(Int32Array.of(made)).missing, Int32Array.of(made));
});

test('a copy that arrives after its eviction stays', () => {
  const { run, sent, claims, made, used } = openRun();
  run.accept(sent([]));
  complete(run, made);
  claims[used] = 1;
  run.evict(Int32Array.of(made), [sent([used])]);
  const batch = sent([used], true);
  run.arrived(batch);
  run.evict(NO_IDS, [batch]);
  run.accept(batch);
  run.evict(NO_IDS, []);
  assert.equal(complete(run, used), 3);
});

test('a result that is computed again while its old copy leaves stays', () => {
  const { run, sent, claims, made, used } = openRun();
  run.accept(sent([]));
  complete(run, made);
  claims[used] = 1;
  run.evict(Int32Array.of(made), [sent([used])]);
  complete(run, made);
  run.evict(NO_IDS, []);
  assert.equal(complete(run, used), 3);
});

test('an input that was sent for a task that runs again stays for other tasks, if no peer has it', () => {
  const { run, batch, made, used } = openRun();
  run.accept(batch([]));
  complete(run, made);
  run.accept(batch([made]));
  complete(run, used);
  assert.equal(complete(run, used), 3);
});

test('a local scheduler reports the results that an isolate packs or unpacks for 5 ms or more', () => {
  let [now, pause] = [0, 0.125];
  const reported: UnmeasuredWork[] = [];
  const timer = slowCopies(
    7,
    () => now,
    (work) => reported.push(work),
  );
  const slow = (): unknown => ({
    text: 'x'.repeat(5000),
    // The packing calls the getter.
    get late() {
      now += pause;
      return 1;
    },
  });
  const { run, batch, wanted, made } = openRun({ make: slow, inlineBytes: Number.POSITIVE_INFINITY, timer });
  run.accept(batch([]));
  wanted.fill(1);
  complete(run, made);
  const [packed] = reported.splice(0);
  assert.deepEqual([packed?.action, packed?.run, packed?.id], ['serialize', 7, made]);
  assert.ok(packed!.stop - packed!.start >= 0.125 && packed!.nbytes > 5000);
  pause = 1e-6;
  complete(run, made);
  assert.equal(reported.length, 0);

  now = 0;
  // Each reading of this clock is a second later.
  const other = openRun({
    timer: slowCopies(
      7,
      () => now++,
      (work) => reported.push(work),
    ),
  });
  other.run.accept(other.sent([other.used], true));
  assert.deepEqual(
    reported.map(({ action, start, stop, id }) => [action, stop - start, id]),
    [['deserialize', 1, other.used]],
  );
});

test('a large result of a local scheduler that another task uses leaves its isolate packed', () => {
  const large = (): string[] => Array.from({ length: 1000 }, (_unused, index) => `line ${index}`);
  const local = { inlineBytes: Number.POSITIVE_INFINITY };
  const { run, batch, wanted, made, used } = openRun({ ...local, make: large });
  run.accept(batch([]));
  wanted.fill(1);
  complete(run, made);
  const packed = [{ id: made, value: large() }];
  const unpacked = ({ ids, results }: PackedValues): unknown =>
    results.map((result, index) => ({ id: ids[index], value: unpackResult(result) }));
  const sent = run.takeUnsent();
  assert.deepEqual(unpacked(sent.packed), packed);
  assert.equal(sent.values.ids.length, 0);
  assert.deepEqual(unpacked(run.fetch(Int32Array.of(made)).packed), packed);
  assert.equal(complete(run, used), 1000);

  const small = openRun(local);
  small.run.accept(small.batch([]));
  small.wanted.fill(1);
  complete(small.run, small.made);
  const { ids, values } = small.run.takeUnsent().values;
  assert.deepEqual([[...ids], values], [[small.made], [numbers()]]);
});

// Decisions of the scheduler of a cluster, one policy at a time: placement, order, stealing, failures, losses, and
// the memory of forgotten graphs.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KIND_NUMBER, KIND_PRIVATE, KIND_STORED, KIND_VALUE } from '../../protocol/resultKinds.js';
import {
  add,
  addUser,
  addWorkers,
  finish,
  handle,
  newScheduler,
  only,
  scatter,
  scheduler,
  sent,
} from './clusterPolicies.test.support.js';
import type { Instruction } from './events.js';
import { CALLER } from './schedulerColumns.js';
import { toGraph } from './schedulerGraphs.test.support.js';
import { validateState } from './validate.test.support.js';

test('a task runs where its bytes are, although another worker is idle', () => {
  addWorkers('a', 'b');
  const data = scatter(1, 1e9);
  const { segment, instructions } = addUser(data);
  assert.deepEqual(sent(instructions), [[1, segment.base + 1]]);
});

test('a task leaves its bytes when their worker is busy for longer than it takes to move them', () => {
  addWorkers('a', 'b');
  const data = scatter(1, 1e9);
  // Each task takes ten seconds, which the scheduler has measured after the first one.
  const { segment } = add([[], [], [], [], []], { workers: new Set(['b']) });
  finish(1, segment.base, KIND_NUMBER, 8, 10);
  const user = addUser(data);
  assert.deepEqual(sent(user.instructions), [[0, user.segment.base + 1]]);
});

test('small inputs do not affect the placement', () => {
  addWorkers('a', 'b');
  const data = scatter(1, 1000);
  const { segment, instructions } = addUser(data);
  assert.deepEqual(sent(instructions), [[0, segment.base + 1]]);
});

test('an idle worker takes over a task that waits for a busy one, if moving its input is quicker', () => {
  for (const [nbytes, moves] of [
    [1e5, true],
    [1e12, false],
  ] as const) {
    newScheduler();
    addWorkers('a', 'b');
    handle({ type: 'worker-paused', worker: 0, paused: true });
    const data = scatter(1, nbytes);
    const first = add([[], [], []], { workers: new Set(['b']) }).segment;
    finish(1, first.base, KIND_NUMBER, 8, 1);
    const user = addUser(data).segment;
    const instructions = handle({ type: 'worker-paused', worker: 0, paused: false });
    assert.deepEqual(sent(instructions), moves ? [[0, user.base + 1]] : []);
  }
});

/** Groups of tasks, each joined by a task behind it, and a task that joins them all. */
function joinedGroups(groups: number, size: number): number[][] {
  const edges: number[][] = [];
  const joins: number[] = [];
  for (let group = 0; group < groups; group++) {
    const first = edges.length;
    for (let i = 0; i < size; i++) edges.push([]);
    joins.push(edges.length);
    edges.push(Array.from({ length: size }, (_, i) => first + i));
  }
  edges.push(joins);
  return edges;
}

test('tasks whose results are joined run on one worker, and an idle worker helps with the last ones', () => {
  addWorkers('a', 'b');
  // Other priorities before do not matter.
  const urgent = add([[]], { priority: 1 });
  for (const [worker, id] of sent(urgent.instructions)) finish(worker, id);
  const { segment, instructions } = add(joinedGroups(3, 4));
  const places: number[][] = [[], []];
  const run = [...sent(instructions)];
  for (let next = run.shift(); next !== undefined; next = run.shift()) {
    const [worker, id] = next;
    places[worker]!.push(id - segment.base);
    run.push(...sent(finish(worker, id, KIND_STORED, 8)));
  }
  // The tasks 4, 9 and 14 join four results each.
  assert.deepEqual(
    places.map((ids) => ids.filter((id) => id < 10).sort((a, b) => a - b)),
    [
      [0, 1, 2, 3, 4],
      [5, 6, 7, 8, 9],
    ],
  );
  for (const ids of places) assert.ok(ids.some((id) => id >= 10 && id < 14));
});

test('other workers take the tasks that a paused worker would have joined, before later ones', () => {
  addWorkers('a', 'b');
  const begun = sent(add(joinedGroups(3, 4)).instructions);
  const ofFirst = begun.filter(([worker]) => worker === 0).map(([, id]) => id);
  assert.deepEqual(ofFirst, [0, 1]);
  handle({ type: 'worker-paused', worker: 0, paused: true });
  // The second worker has the tasks 5 and 6.
  const next = [5, 6, 7, 8].flatMap((id) => sent(finish(1, id, KIND_STORED, 8)));
  assert.deepEqual(
    next.map(([, id]) => id),
    [7, 8, 2, 3],
  );
});

test('tasks whose results are not joined are sent in their order, also if a batch had no room for the next one', () => {
  newScheduler({});
  addWorkers('a', 'b', 'c');
  const ids = sent(add(Array.from({ length: 100 }, () => [])).instructions).map(([, id]) => id);
  assert.deepEqual(ids, [...ids.keys()]);
});

test('a worker takes no tasks of a later graph while an earlier one has tasks that no worker runs', () => {
  addWorkers('a', 'b');
  const first = sent(add(joinedGroups(1, 8)).instructions);
  const later = add(joinedGroups(4, 4));
  assert.deepEqual([...new Set(first.map(([worker]) => worker))], [0, 1]);
  assert.deepEqual(sent(later.instructions), []);
  for (const [worker, id] of first)
    for (const [, next] of sent(finish(worker, id, KIND_STORED, 8))) assert.ok(next < later.segment.base);
});

test('very many results that one task joins are held by all workers', () => {
  addWorkers('a', 'b');
  const { instructions } = add(joinedGroups(2, 40));
  const begin = sent(instructions);
  assert.deepEqual(
    begin.map(([, id]) => id),
    [0, 1, 2, 3],
  );
  assert.deepEqual([...new Set(begin.map(([worker]) => worker))].sort(), [0, 1]);
});

test('a task with a higher priority runs first, one with a lower priority last', () => {
  addWorkers('a');
  const ordinary = add([[], [], []]).segment;
  const low = add([[]], { priority: -1 }).segment;
  const high = add([[]], { priority: 7 }).segment;
  const order: number[] = [];
  for (let id: number | undefined = ordinary.base; id !== undefined; id = order.shift())
    order.push(
      ...sent(finish(0, id)).map(([, next]) => next),
      ...(id === ordinary.base ? [ordinary.base + 1] : []),
    );
  const story = [high.base, ordinary.base + 2, low.base].map((id) =>
    scheduler.story(id).find(({ to }) => to === 'processing'),
  );
  const steps = story.map((transition) => transition!.step);
  assert.deepEqual(
    steps,
    [...steps].sort((a, b) => a - b),
  );
});

test('the results of a chain are published if a task may exceed its time limit and run again', () => {
  for (const [policy, published] of [
    [{}, [0, 0, 1]],
    [{ retries: 1 }, [0, 0, 1]],
    [{ limited: true }, [0, 0, 1]],
    [{ limited: true, retries: 1 }, [1, 1, 1]],
  ] as const) {
    newScheduler({});
    addWorkers('a');
    const flags = only(add([[], [0], [1]], policy).instructions, 'dispatch').map(({ publish }) => publish);
    assert.deepEqual(
      flags.flatMap((each) => [...each]),
      published,
    );
  }
});

test('tasks wait for a worker that may run them', () => {
  addWorkers('a');
  const policy = { workers: new Set(['gpu']), resources: new Map([['GPU', 2]]) };
  const { segment, instructions } = add([[]], policy);
  assert.deepEqual(sent(instructions), []);
  assert.deepEqual(sent(handle({ type: 'worker-added', worker: 1, name: 'gpu' })), []);
  const resources = new Map([['GPU', 2]]);
  assert.deepEqual(sent(handle({ type: 'worker-added', worker: 2, name: 'gpu', resources })), [
    [2, segment.base],
  ]);
  assert.deepEqual(sent(handle({ type: 'worker-removed', worker: 2, blame: 'none' })), []);
  assert.deepEqual(sent(handle({ type: 'worker-added', worker: 3, name: 'gpu', resources })), [
    [3, segment.base],
  ]);
});

test('the cluster can continue while some task runs or could run', () => {
  const { state } = scheduler;
  add([[], [0]], { workers: new Set(['gone']) });
  assert.equal(state.canContinue, false);
  addWorkers('a');
  assert.equal(state.canContinue, false);
  handle({ type: 'worker-paused', worker: 0, paused: true });
  const { segment } = add([[]]);
  assert.equal(state.canContinue, true);
  finish(0, segment.base);
  assert.equal(state.canContinue, false);
});

test('cancelling a running task fails its dependents, and takes the task from its worker', () => {
  addWorkers('a');
  const { segment } = add([[], [0], [1], []]);
  const { base } = segment;
  const ids = [base];
  const instructions = handle({ type: 'tasks-cancelled', ids });
  const [erred] = only(instructions, 'erred');
  assert.deepEqual([...erred!.ids].sort(), [base, base + 1, base + 2]);
  assert.equal(erred!.cancelled, true);
  assert.ok(only(instructions, 'cancel')[0]!.ids.includes(base));
  handle({ type: 'results-unwanted', ids });
  assert.equal(scheduler.stateName(base), 'forgotten');
  // No task and no client needs this one, so cancelling only discards it.
  assert.deepEqual(only(handle({ type: 'tasks-cancelled', ids: [base + 3] }), 'erred'), []);
});

test('no worker steals a task that it may not run', () => {
  newScheduler({ limits: { minimumSeconds: 0 } });
  addWorkers('a', 'b', 'c');
  const { segment } = add([[], [], [], [], [], []], { workers: new Set(['a', 'c']) });
  handle({ type: 'worker-removed', worker: 2, blame: 'none' });
  assert.deepEqual(only(handle({ type: 'idle-check' }), 'steal'), []);
  const steals = only(handle({ type: 'worker-added', worker: 3, name: 'c' }), 'steal');
  assert.equal(steals[0]?.worker, 0);
  const ids = [...steals[0]!.ids];
  assert.ok(ids.length > 0 && ids.every((id) => id >= segment.base));
  const answer = handle({ type: 'tasks-stolen', worker: 0, ids });
  assert.deepEqual(
    sent(answer).map(([worker]) => worker),
    ids.map(() => 3),
  );
});

test('an idle worker steals a task once the task before it has run for longer than moving its input takes', () => {
  newScheduler({});
  addWorkers('a', 'b');
  finish(0, add([[]]).segment.base, KIND_NUMBER, 8, 1e-5);
  const imports = new Map([[0, scatter(0, 1e9).base]]);
  const { segment, instructions } = add([[], [0], [0]], {}, { imports });
  const [first, second] = [segment.base + 1, segment.base + 2];
  assert.deepEqual(sent(instructions), [
    [0, first],
    [0, second],
  ]);
  for (const [now, stolen] of [
    [0, []],
    [0.5, []],
    [2, [[second]]],
  ] as const) {
    scheduler.state.now = now;
    const steals = only(handle({ type: 'idle-check' }), 'steal');
    assert.deepEqual(
      steals.map(({ ids }) => [...ids]),
      stolen,
    );
  }
  assert.deepEqual(sent(handle({ type: 'tasks-stolen', worker: 0, ids: [second] })), [[1, second]]);
});

test('a task that throws is tried again as often as its policy says', () => {
  addWorkers('a');
  const { base } = add([[], [0], []], { retries: 2 }).segment;
  const erred = (): Instruction[] => handle({ type: 'task-erred', worker: 0, id: base });
  finish(0, base + 2);
  for (let attempt = 0; attempt < 2; attempt++) assert.deepEqual(sent(erred()), [[0, base]]);
  const [last] = only(erred(), 'erred');
  assert.deepEqual([...last!.ids], [base, base + 1]);
  assert.equal(last!.because, base);
});

test('a failure that is final is not tried again', () => {
  addWorkers('a');
  const { base } = add([[]], { retries: 2 }).segment;
  const [erred] = only(handle({ type: 'task-erred', worker: 0, id: base, final: true }), 'erred');
  assert.deepEqual([...erred!.ids], [base]);
});

test('a failed task fails its dependents, also in other graphs, and no other task', () => {
  addWorkers('a');
  // 0 → 1 → 3 (requested), 2 → 3, 2 → 4 (requested)
  const { base } = add([[], [0], [], [1, 2], [2]]).segment;
  const user = addUser(scheduler.lastSegment!).segment;
  const other = add([[], [0]], {}, { imports: new Map([[0, base + 3]]) }).segment;
  const instructions = handle({ type: 'task-erred', worker: 0, id: base });
  const [erred] = only(instructions, 'erred');
  assert.deepEqual(new Set(erred!.ids), new Set([base, base + 1, base + 3, other.base, other.base + 1]));
  assert.equal(scheduler.stateName(base + 3), 'erred');
  assert.equal(scheduler.stateName(base), 'forgotten');
  assert.notEqual(scheduler.stateName(base + 4), 'erred');
  assert.equal(scheduler.stateName(user.base), 'waiting');
  // A later request gets the same error.
  const [late] = only(add([[], [0]], {}, { imports: new Map([[0, base + 3]]) }).instructions, 'erred');
  assert.equal(late!.because, base + 3);
});

test('a lost result fails if one of its dependencies has failed meanwhile', () => {
  addWorkers('a', 'b');
  const data = scatter(0, 8);
  const { base } = addUser(data).segment;
  finish(0, base + 1, KIND_STORED);
  const [lost] = only(handle({ type: 'results-missing', worker: 0, ids: [data.base] }), 'erred');
  assert.deepEqual([[...lost!.ids], lost!.lost], [[data.base], true]);
  assert.equal(scheduler.stateName(base + 1), 'memory', 'the earlier result stays');
  const [doomed] = only(handle({ type: 'results-missing', worker: 0, ids: [base + 1] }), 'erred');
  assert.equal(scheduler.stateName(base + 1), 'erred');
  assert.ok(doomed!.ids.includes(base + 1));
});

test('data outlives its worker if another worker was sent a copy', () => {
  addWorkers('a', 'b');
  const data = scatter(0, 8);
  const { base } = addUser(data, { workers: new Set(['b']) }).segment;
  finish(1, base + 1);
  assert.deepEqual(only(handle({ type: 'worker-removed', worker: 0, blame: 'none' }), 'erred'), []);
  assert.equal(scheduler.state.location[data.base], 1);
  const [erred] = only(handle({ type: 'worker-removed', worker: 1, blame: 'none' }), 'erred');
  assert.equal(erred!.lost, true);
});

test('a new isolate beside the same store loses the running tasks and private results, and nothing else', () => {
  addWorkers('a');
  const { base } = add([[], [], [1]]).segment;
  finish(0, base, KIND_STORED);
  const instructions = handle({ type: 'worker-removed', worker: 0, restarted: true, blame: base + 1 });
  assert.equal(scheduler.stateName(base), 'memory');
  assert.deepEqual(sent(instructions), [[0, base + 1]], 'the suspect runs alone');
});

test('an unneeded result is dropped when its task could not be stopped in time', () => {
  addWorkers('a');
  const { base } = add([[]]).segment;
  const instructions = handle({ type: 'results-unwanted', ids: [base] });
  assert.deepEqual([...only(instructions, 'cancel')[0]!.ids], [base]);
  const [release] = only(finish(0, base, KIND_STORED), 'release');
  assert.deepEqual(
    release!.workers.map(({ worker, ids }) => [worker, ...ids]),
    [[0, base]],
  );
});

test('a private result whose dependents are cancelled is dropped by a message', () => {
  newScheduler({});
  addWorkers('a');
  const { base } = add([[], [0]]).segment;
  finish(0, base, KIND_PRIVATE);
  const [release] = only(handle({ type: 'results-unwanted', ids: [base + 1] }), 'release');
  assert.deepEqual(
    release!.workers.map(({ worker, ids }) => [worker, ...ids]),
    [[0, base]],
  );
});

test('a seceded task frees its slot, is not stolen, and its dependents wait for its end', () => {
  addWorkers('a');
  const limit = add([[], [], [], [0]]).segment;
  const batch = scheduler.state.batchOf[limit.base]!;
  const seceded = handle({ type: 'task-seceded', worker: 0, id: limit.base, batch });
  assert.deepEqual(sent(seceded), [[0, limit.base + 2]]);
  assert.deepEqual(handle({ type: 'task-seceded', worker: 0, id: limit.base, batch }), []);
  for (const local of [1, 2]) assert.deepEqual(sent(finish(0, limit.base + local)), []);
  handle({ type: 'worker-added', worker: 1, name: 'b' });
  assert.deepEqual(handle({ type: 'idle-check' }), []);
  // A loss elsewhere queues all tasks anew.
  assert.deepEqual(sent(handle({ type: 'worker-removed', worker: 1, blame: 'none' })), []);
  assert.deepEqual(sent(finish(0, limit.base)), [[0, limit.base + 3]]);
});

test('the death of a worker also counts against its seceded tasks', () => {
  for (const [blame, deaths] of [
    ['none', 0],
    ['seceded', 1],
    ['unknown', 1],
  ] as const) {
    newScheduler();
    addWorkers('a', 'b');
    const { base } = add([[]]).segment;
    handle({ type: 'task-seceded', worker: 0, id: base, batch: scheduler.state.batchOf[base]! });
    assert.deepEqual(sent(handle({ type: 'worker-removed', worker: 0, blame })), [[1, base]]);
    assert.equal(scheduler.state.deaths[base], deaths);
  }
});

test('compaction renames tasks in progress', () => {
  newScheduler({});
  addWorkers('a', 'b');
  const old = add(Array.from({ length: 100 }, () => [])).segment;
  const kept = add([[], [0], [0], [1, 2]]).segment;
  const user = addUser(kept).segment;
  handle({ type: 'results-unwanted', ids: Array.from({ length: 100 }, (_none, local) => old.base + local) });
  finish(0, kept.base, KIND_VALUE);
  assert.equal(scheduler.compact(), false, 'too little to be worth it');
  assert.equal(scheduler.compact(50), true);
  validateState(scheduler.state);
  assert.ok(old.dead);
  assert.deepEqual([kept.base, user.base, scheduler.state.graph.size], [0, 4, 6]);
  for (const id of [1, 2, 3, 5]) finish(scheduler.state.location[id]!, id);
  assert.equal(scheduler.stateName(5), 'memory');
  assert.equal(scheduler.state.location[5], CALLER);
});

test('the memory of a cluster depends on its current work, not on its past', () => {
  addWorkers('a');
  for (let round = 0; round < 20_000; round++) {
    const graph = toGraph([[]], [0]);
    scheduler.handle({ type: 'graph-added', graph });
    const { base } = scheduler.lastSegment!;
    const [instruction] = scheduler.handle({ type: 'results-unwanted', ids: [base] });
    assert.equal(instruction?.type, 'cancel');
    scheduler.compact();
  }
  validateState(scheduler.state);
  const { state } = scheduler;
  assert.ok(state.graph.segments.length <= 4096);
  assert.ok(state.state.length <= 16 * 1024, `room for ${state.state.length} tasks`);
  assert.ok(state.graph.requested.length <= 16 * 1024);
});

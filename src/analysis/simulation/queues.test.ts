// Compares the simulator's queues and sets with simple implementations.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from '../../base/properties.test.support.js';
import { EventQueue } from './eventQueue.js';
import { Replicas } from './replicas.js';
import { TaskQueues } from './taskQueues.js';

describe('queues of ready tasks', () => {
  it('return the smallest task first, also after additions', () => {
    const operations = fc.array(fc.record({ queue: fc.nat(2), take: fc.boolean(), task: fc.nat(199) }), {
      maxLength: 400,
    });
    fc.assert(
      fc.property(operations, (steps) => {
        const queues = new TaskQueues(3, 200);
        const expected: Set<number>[] = [new Set(), new Set(), new Set()];
        for (const { queue, take, task } of steps) {
          const held = expected[queue]!;
          if (take) {
            const smallest = held.size === 0 ? -1 : Math.min(...held);
            assert.equal(queues.min(queue), smallest);
            if (smallest < 0) continue;
            assert.equal(queues.take(queue), smallest);
            held.delete(smallest);
          } else if (!expected.some((other) => other.has(task))) {
            queues.add(queue, task);
            held.add(task);
          }
          assert.equal(queues.size(queue), held.size);
        }
      }),
    );
  });
});

describe('the queue of events', () => {
  it('returns events by time, then by number', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(20), { maxLength: 300 }), (times) => {
        const queue = new EventQueue();
        for (const [number, time] of times.entries()) queue.add(time, number);
        const expected = times.map((time, number) => ({ time, number }));
        expected.sort((a, b) => a.time - b.time || a.number - b.number);
        for (const { time, number } of expected) {
          assert.equal(queue.nextTime, time);
          assert.equal(queue.take(), number);
        }
        assert.equal(queue.take(), -1);
        assert.equal(queue.nextTime, Number.POSITIVE_INFINITY);
      }),
    );
  });
});

describe('the set of copies', () => {
  it('contains every added pair, and no other', () => {
    const pairs = fc.array(fc.tuple(fc.nat(1000), fc.nat(100)), { maxLength: 2000 });
    fc.assert(
      fc.property(pairs, pairs, (added, asked) => {
        const copies = new Replicas();
        const expected = new Set<string>();
        for (const [task, worker] of added) {
          copies.add(task, worker);
          expected.add(`${task} ${worker}`);
        }
        for (const [task, worker] of [...added, ...asked])
          assert.equal(copies.has(task, worker), expected.has(`${task} ${worker}`));
      }),
    );
  });
});

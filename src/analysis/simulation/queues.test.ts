// Compares the simulator's queues and sets with simple implementations.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from '../../base/properties.test.support.js';
import { EventQueue } from './eventQueue.js';
import { Replicas } from './replicas.js';

describe('a queue of ready tasks', () => {
  it('returns the smallest task first, also after additions', () => {
    const operations = fc.array(fc.record({ take: fc.boolean(), task: fc.nat(199) }), { maxLength: 400 });
    fc.assert(
      fc.property(operations, (steps) => {
        const queue = new EventQueue();
        const held = new Set<number>();
        for (const { take, task } of steps) {
          const smallest = Math.min(...held);
          assert.equal(queue.nextTime, smallest);
          if (take) {
            assert.equal(queue.take(), held.size === 0 ? -1 : smallest);
            held.delete(smallest);
          } else if (!held.has(task)) {
            queue.add(task, task);
            held.add(task);
          }
        }
      }),
    );
  });
});

describe('a queue of events', () => {
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

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../../base/properties.test.support.js';
import { ItemQueue } from './itemQueue.js';

/** `leavePut` and `leaveGet` end the waiting call at this place. */
type Step = {
  readonly call: 'put' | 'get' | 'takeAll' | 'leavePut' | 'leaveGet';
  readonly number: number;
};

const steps = fc.array(
  fc.record<Step>({
    call: fc.constantFrom('put', 'put', 'put', 'get', 'get', 'takeAll', 'leavePut', 'leaveGet'),
    number: fc.integer({ min: 0, max: 3 }),
  }),
  { maxLength: 60 },
);

interface Waiting {
  readonly call: number;
  readonly leave: () => void;
}

/** The waiting calls of the test, in their order. */
class Line {
  readonly calls: Waiting[] = [];

  answered(call: number): void {
    // Only the first waiting call, or one that has not waited, gets an answer.
    if (this.calls.some((one) => one.call === call)) assert.equal(this.calls.shift()?.call, call);
    else assert.equal(this.calls.length, 0);
  }

  leave(at: number): number | undefined {
    const [call] = this.calls.splice(at, 1);
    call?.leave();
    return call?.call;
  }
}

test('a queue keeps the order of items and calls, loses nothing, and is never too full', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 3 }), steps, (maxSize, calls) => {
      const queue = new ItemQueue<number>();
      const [puts, gets] = [new Line(), new Line()];
      const left = new Set<number>();
      const delivered: number[] = [];
      let accepted = 0;
      for (const [call, { call: kind, number }] of calls.entries()) {
        if (kind === 'put') {
          const leave = queue.put(call, maxSize, () => {
            puts.answered(call);
            accepted++;
          });
          if (leave !== undefined) puts.calls.push({ call, leave });
        } else if (kind === 'get') {
          const leave = queue.get(number + 1, (items) => {
            gets.answered(call);
            assert.equal(items.length, number + 1);
            delivered.push(...items);
          });
          if (leave !== undefined) gets.calls.push({ call, leave });
        } else if (kind === 'takeAll') delivered.push(...queue.takeAll());
        else if (kind === 'leaveGet') gets.leave(number);
        else {
          const one = puts.leave(number);
          if (one !== undefined) left.add(one);
        }
        const isFull = maxSize > 0 && queue.size >= maxSize;
        if (!isFull) assert.equal(puts.calls.length, 0);
        if (gets.calls.length > 0) assert.equal(queue.size, 0);
      }
      // Items of calls that leave are in the queue again.
      while (gets.calls.length > 0) gets.leave(0);
      while (puts.calls.length > 0) left.add(puts.leave(0) ?? -1);
      delivered.push(...queue.takeAll());
      const put = [...calls.keys()].filter((call) => calls[call]?.call === 'put' && !left.has(call));
      assert.deepEqual(delivered, put);
      assert.equal(accepted, put.length);
      assert.equal(queue.isUnused, true);
    }),
    { numRuns: 500 },
  );
});

test('a call that was answered cannot leave any more', () => {
  const queue = new ItemQueue<string>();
  const got: string[][] = [];
  const leave = queue.get(1, (items) => got.push(items));
  queue.put('a', 0, () => undefined);
  leave?.();
  assert.deepEqual(got, [['a']]);
  assert.equal(queue.size, 0);
});

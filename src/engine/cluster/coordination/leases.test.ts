import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../../base/properties.test.support.js';
import { Leases } from './sharedLeases.js';

/** A call of the test's callers 0 to 3. `leave` ends the oldest waiting call of the caller. */
type Step = { readonly call: 'acquire' | 'release' | 'leave' | 'releaseAll'; readonly owner: number };

const steps = fc.array(
  fc.record<Step>({
    call: fc.constantFrom('acquire', 'acquire', 'release', 'leave', 'releaseAll'),
    owner: fc.integer({ min: 0, max: 3 }),
  }),
  { maxLength: 60 },
);

test('leases are granted in the order of the calls, at most max at a time, and none is lost', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 3 }), steps, (max, calls) => {
      const leases = new Leases<number>(max);
      /** The model: calls that wait, and the owners of leases. */
      const waiting: { readonly owner: number; readonly number: number; readonly leave: () => void }[] = [];
      const held: number[] = [];
      const granted: number[] = [];
      let number = 0;
      const settle = (): void => {
        while (held.length < max && waiting.length > 0) {
          const next = waiting.shift();
          assert.equal(granted.shift(), next?.number);
          held.push(next?.owner ?? -1);
        }
        assert.equal(granted.length, 0);
        assert.equal(leases.count, held.length);
        assert.equal(leases.isUnused, held.length + waiting.length === 0);
        for (const owner of [0, 1, 2, 3]) assert.equal(leases.has(owner), held.includes(owner));
      };
      for (const { call, owner } of calls) {
        if (call === 'acquire') {
          const own = number++;
          const leave = leases.acquire(owner, () => granted.push(own));
          assert.equal(leave === undefined, granted.length === 1);
          waiting.push({ owner, number: own, leave: leave ?? (() => undefined) });
        } else if (call === 'release') {
          assert.equal(leases.release(owner), held.includes(owner));
          if (held.includes(owner)) held.splice(held.indexOf(owner), 1);
        } else if (call === 'releaseAll') {
          leases.releaseAll(owner);
          for (let at = held.length - 1; at >= 0; at--) if (held[at] === owner) held.splice(at, 1);
        } else {
          const at = waiting.findIndex((one) => one.owner === owner);
          if (at >= 0) waiting.splice(at, 1)[0]?.leave();
        }
        settle();
      }
    }),
    { numRuns: 300 },
  );
});

test('a call that was granted a lease cannot leave any more', () => {
  const leases = new Leases<string>(1);
  leases.acquire('a', () => undefined);
  const leave = leases.acquire('b', () => undefined);
  leases.release('a');
  leave?.();
  assert.equal(leases.has('b'), true);
  assert.equal(leases.count, 1);
});

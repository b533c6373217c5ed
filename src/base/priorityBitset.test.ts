import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PriorityBitset } from './priorityBitset.js';
import fc from './properties.test.support.js';

const CAPACITY = 70_000;

test('a bitset behaves like a sorted set', () => {
  const id = fc.integer({ min: 0, max: CAPACITY - 1 });
  const command = fc.record({ add: fc.boolean(), id });
  fc.assert(
    fc.property(fc.array(command, { maxLength: 200 }), (commands) => {
      const bitset = new PriorityBitset(CAPACITY);
      const model = new Set<number>();
      for (const { add, id } of commands) {
        if (add) {
          bitset.add(id);
          model.add(id);
        } else {
          bitset.delete(id);
          model.delete(id);
        }
        assert.equal(bitset.size, model.size);
        assert.equal(bitset.min(), model.size === 0 ? -1 : Math.min(...model));
        assert.equal(bitset.has(id), model.has(id));
        for (const from of [0, id, id + 1, CAPACITY - 1]) {
          const later = [...model].filter((member) => member >= from);
          assert.equal(bitset.minFrom(from), later.length === 0 ? -1 : Math.min(...later));
        }
      }
      assert.deepEqual(
        [...bitset],
        [...model].sort((a, b) => a - b),
      );
      bitset.clear();
      assert.equal(bitset.min(), -1);
    }),
    { numRuns: 100 },
  );
});

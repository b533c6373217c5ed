import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../base/properties.test.support.js';
import { MinBuckets } from './minBuckets.js';

const SIZE = 40;

test('first() returns the latest id of the smallest key, and after() the id that was set before', () => {
  const keys = fc.oneof(fc.nat(40), fc.nat(2_000), fc.nat(70_000));
  const steps = fc.array(fc.tuple(fc.nat(SIZE - 1), fc.option(keys)), { maxLength: 200, size: 'max' });
  fc.assert(
    fc.property(steps, (changes) => {
      const buckets = new MinBuckets(SIZE, 70_000);
      let model: [id: number, key: number][] = [];
      assert.equal(buckets.first(), -1);
      for (const [id, key] of changes) {
        model = model.filter(([other]) => other !== id);
        if (key === null) buckets.delete(id);
        else {
          buckets.set(id, key);
          model.unshift([id, key]);
        }
        const smallest = Math.min(...model.map(([, other]) => other));
        const expected = model.filter(([, other]) => other === smallest).map(([other]) => other);
        const found: number[] = [];
        for (let next = buckets.first(); next >= 0; next = buckets.after(next)) found.push(next);
        assert.deepEqual(found, expected);
      }
    }),
  );
});

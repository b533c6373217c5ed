import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../base/properties.test.support.js';
import { KeyColumn } from './taskPages.js';

const key = fc.oneof(
  fc.string(),
  fc.string({ unit: 'grapheme' }),
  fc.string({ minLength: 60, maxLength: 90 }),
);

test('keys are read back one by one and in slices while others are added', () => {
  fc.assert(
    fc.property(fc.array(fc.array(key, { maxLength: 40 })), (parts) => {
      const column = new KeyColumn();
      const all: string[] = [];
      for (const part of parts) {
        column.add(part);
        all.push(...part);
        assert.equal(column.length, all.length);
        if (all.length > 0) assert.equal(column.at(all.length - 1), all.at(-1));
        const half = all.length >> 1;
        assert.deepEqual(column.slice(half, all.length), all.slice(half));
      }
      assert.deepEqual(
        all.map((_, index) => column.at(index)),
        all,
      );
      assert.equal(column.at(all.length), '');
    }),
  );
});

test('columns that are read in turn return their own keys', () => {
  const [one, other] = [new KeyColumn(), new KeyColumn()];
  one.add(['a', 'b']);
  other.add(['c', 'ü']);
  assert.deepEqual([one.at(0), other.at(1), one.at(1), other.at(0)], ['a', 'ü', 'b', 'c']);
});

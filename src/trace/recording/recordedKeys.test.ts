import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from '../../base/properties.test.support.js';
import type { TextColumn } from '../formats/textColumns.js';
import { StringTable } from '../stringTable.js';
import { RecordedKeys } from './recordedKeys.js';

/** Returns a column in batches that counts its reads. */
function column(batches: readonly (readonly string[])[]): TextColumn & { reads: number } {
  const firstRows = [0];
  for (const texts of batches) firstRows.push((firstRows.at(-1) ?? 0) + texts.length);
  return {
    firstRows: Int32Array.from(firstRows),
    reads: 0,
    read(batch) {
      this.reads++;
      const texts = (batches[batch] ?? []).map((text) => Buffer.from(text));
      const offsets = new Int32Array(texts.length + 1);
      for (const [i, text] of texts.entries()) offsets[i + 1] = offsets[i]! + text.length;
      const bytes = new Uint8Array(Buffer.concat(texts));
      return { offsets, bytes, view: new DataView(bytes.buffer) };
    },
  };
}

function table(texts: readonly string[]): StringTable {
  const strings = new StringTable();
  for (const text of texts) strings.internString(text);
  return strings;
}

const key = fc.oneof(
  fc.constantFrom('a', 'b', "('sum-1', 2)"),
  fc.string({ unit: 'grapheme', maxLength: 20 }),
);

describe('keys of a recorded trace', () => {
  it('have ids in the order of first appearance, and texts by id', () => {
    const batches = fc.array(fc.array(key, { maxLength: 8 }), { maxLength: 30 });
    fc.assert(
      fc.property(batches, fc.uniqueArray(key, { maxLength: 5 }), fc.boolean(), (parts, others, all) => {
        const rows = parts.flat();
        const keys = new RecordedKeys(column(parts), table(others));
        if (all) keys.decodeAll();
        const distinct = [...new Set(rows)];
        assert.deepEqual(
          [...keys.key],
          rows.map((text) => distinct.indexOf(text)),
        );
        assert.deepEqual(
          Array.from(keys.key, (id) => keys.get(id)),
          rows,
        );
        assert.deepEqual(
          Array.from(keys.others, (id) => keys.get(id)),
          others,
        );
        for (const [i, text] of others.entries())
          if (distinct.includes(text)) assert.equal(keys.others[i], distinct.indexOf(text));
        const added = keys.add('added');
        assert.equal(keys.get(added), 'added');
        assert.ok(added < keys.length);
      }),
    );
  });

  it('are read a bounded number of times in any order of access', () => {
    const parts = Array.from({ length: 40 }, (_, batch) =>
      Array.from({ length: 5 }, (_, i) => `key-${batch}-${i}`),
    );
    const texts = column(parts);
    const keys = new RecordedKeys(texts, table([]));
    for (let i = 0; i < 2000; i++) keys.get((i * 7919) % 200);
    assert.ok(texts.reads <= 3 * parts.length, String(texts.reads));
  });
});

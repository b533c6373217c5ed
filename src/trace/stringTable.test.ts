import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from '../base/properties.test.support.js';
import { StringTable } from './stringTable.js';

describe('StringTable', () => {
  it('assigns one id to every distinct string, in the order of first appearance', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme', maxLength: 12 })), fc.boolean(), (texts, atOnce) => {
        const table = new StringTable();
        const ids = texts.map((text) => table.internString(text));
        const distinct = [...new Set(texts)];
        assert.equal(table.length, distinct.length);
        if (atOnce) table.decodeAll();
        assert.deepEqual(
          ids.map((id) => table.get(id)),
          texts,
        );
        assert.deepEqual(
          ids,
          texts.map((text) => distinct.indexOf(text)),
        );
      }),
    );
  });

  it('distinguishes many strings that differ in one place', () => {
    const table = new StringTable();
    const texts = Array.from(
      { length: 50_000 },
      (_, i) => `('sum-partial-6649f9f2c84885d06a79bc3170981cac', ${i}, 0)`,
    );
    assert.deepEqual(
      texts.map((text) => table.internString(text)),
      [...texts.keys()],
    );
    table.decodeAll();
    assert.equal(table.get(49_999), texts[49_999]);
    assert.equal(table.internString(texts[7] ?? ''), 7);
  });

  it('keeps its strings when it is copied', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ maxLength: 8 })),
        fc.array(fc.string({ maxLength: 8 })),
        (before, after) => {
          const table = new StringTable();
          for (const text of before) table.internString(text);
          const copy = table.copy();
          for (const one of [table, copy]) {
            const ids = [...before, ...after].map((text) => one.internString(text));
            assert.deepEqual(
              ids.map((id) => one.get(id)),
              [...before, ...after],
            );
            assert.equal(one.length, new Set([...before, ...after]).size);
          }
        },
      ),
    );
  });

  it('interns slices of its own bytes while it grows', () => {
    const table = new StringTable();
    const long = 'x'.repeat(20_000);
    const id = table.internString(`${long}y`);
    const { offsets, bytes, view } = table.batch();
    const part = table.intern(bytes, view, offsets[id]!, offsets[id]! + long.length);
    assert.equal(table.get(part), long);
  });
});

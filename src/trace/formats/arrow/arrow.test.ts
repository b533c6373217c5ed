import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { tableFromIPC, Vector } from 'apache-arrow';
import fc from '../../../base/properties.test.support.js';
import { StringTable } from '../../stringTable.js';
import { ArrowStream } from './arrowDecoder.js';
import { ArrowEncoder } from './arrowEncoder.js';
import type { ArrowCodec, ArrowValues } from './arrowMessages.js';

/** Run-length encoding, a codec that shrinks some buffers and enlarges others. */
const codec: ArrowCodec = {
  compress(bytes) {
    const packed: number[] = [];
    for (let i = 0; i < bytes.length; ) {
      let run = 1;
      while (run < 255 && bytes[i + run] === bytes[i]) run++;
      packed.push(run, bytes[i]!);
      i += run;
    }
    return Uint8Array.from(packed);
  },
  decompress(bytes, target) {
    let at = 0;
    for (let i = 0; i + 1 < bytes.length; i += 2) {
      target.fill(bytes[i + 1]!, at, at + bytes[i]!);
      at += bytes[i]!;
    }
    if (at !== target.length) throw new RangeError('wrong length');
  },
};

const FIELDS = [
  { name: 'float', type: 'float64' },
  { name: 'long', type: 'int64' },
  { name: 'int', type: 'int32' },
  { name: 'byte', type: 'uint8' },
  { name: 'text', type: 'utf8' },
  { name: 'word', type: 'dictionary' },
  { name: 'list', type: 'utf8-list' },
] as const;

const text = fc.string({ unit: 'grapheme', maxLength: 6 });
const row = fc.record(
  {
    float: fc.double(),
    long: fc.oneof(fc.constant(-1), fc.maxSafeNat()),
    int: fc.integer({ min: -1 }),
    byte: fc.nat(255),
    text: fc.option(text),
    word: fc.option(fc.constantFrom('a', 'größe', '', '\u{1f600}')),
    list: fc.array(text, { maxLength: 3 }),
  },
  { noNullPrototype: true },
);
type Row = typeof row extends fc.Arbitrary<infer T> ? T : never;
/** Batches of many equal rows compress well. */
const batches = fc.array(
  fc.oneof(
    fc.array(row, { maxLength: 12 }),
    fc.tuple(row, fc.nat(90)).map(([one, count]) => Array.from({ length: count }, () => one)),
  ),
  { maxLength: 5 },
);

class Sink {
  readonly length: number;
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.length = bytes.length;
  }

  read(from: number, to: number): Uint8Array {
    return this.#bytes.subarray(from, to);
  }
}

function encoded(list: readonly (readonly Row[])[], packer?: ArrowCodec): Uint8Array {
  const encoder = new ArrowEncoder(FIELDS, packer);
  const parts = encoder.start();
  const texts: string[] = [];
  for (const rows of list) {
    const codes = rows.map(({ word }) => {
      if (word === null) return -1;
      return texts.includes(word) ? texts.indexOf(word) : texts.push(word) - 1;
    });
    const columns: ArrowValues[] = [
      { type: 'float64', values: Float64Array.from(rows, ({ float }) => float) },
      { type: 'int64', values: Float64Array.from(rows, ({ long }) => long) },
      { type: 'int32', values: Int32Array.from(rows, ({ int }) => int) },
      { type: 'uint8', values: Uint8Array.from(rows, ({ byte }) => byte) },
      { type: 'utf8', values: rows.map((one) => one.text) },
      { type: 'dictionary', values: Int32Array.from(codes), texts: [...texts], generation: 0 },
      { type: 'utf8-list', values: rows.map((one) => one.list) },
    ];
    parts.push(...encoder.batch(rows.length, columns));
  }
  parts.push(...encoder.end());
  return new Uint8Array(Buffer.concat(parts));
}

function decoded(stream: ArrowStream): unknown[] {
  const table = new StringTable();
  const nullable = (ids: Int32Array | undefined, i: number): string | null =>
    ids === undefined || ids[i]! < 0 ? null : table.get(ids[i]!);
  const [float, long, int, byte] = [
    stream.float64('float'),
    stream.int64('long'),
    stream.int32('int'),
    stream.uint8('byte'),
  ];
  const [texts, words, lists] = [
    stream.texts('text', table),
    stream.texts('word', table),
    stream.textLists('list', table),
  ];
  return Array.from({ length: stream.length }, (_, i) => ({
    float: float?.[i],
    long: long?.[i],
    int: int?.[i],
    byte: byte?.[i],
    text: nullable(texts, i),
    word: nullable(words, i),
    list: Array.from(lists?.ids.subarray(lists.offsets[i], lists.offsets[i + 1]) ?? [], (id) =>
      table.get(id),
    ),
  }));
}

const open = (bytes: Uint8Array, checked = true): ArrowStream =>
  new ArrowStream('stream', new Sink(bytes), codec, checked);

describe('an Arrow stream', () => {
  it('returns the written rows, compressed or not', () => {
    fc.assert(
      fc.property(batches, fc.boolean(), fc.boolean(), (list, compressed, checked) => {
        const stream = open(encoded(list, compressed ? codec : undefined), checked);
        assert.deepEqual(stream.damage, []);
        assert.deepEqual(decoded(stream), list.flat());
      }),
    );
  });

  it('is read by apache-arrow', () => {
    fc.assert(
      fc.property(batches, (list) => {
        const table = tableFromIPC(encoded(list));
        const rows = list.flat();
        assert.equal(table.numRows, rows.length);
        for (const [i, { list: words, long, int, ...one }] of rows.entries()) {
          const cell = (name: string): unknown => table.getChild(name)?.get(i);
          for (const [name, value] of Object.entries(one)) assert.deepEqual(cell(name), value);
          assert.equal(Number(cell('long') ?? -1), long);
          assert.equal(cell('int') ?? -1, int);
          const items = cell('list');
          assert.ok(items instanceof Vector);
          assert.deepEqual([...items], words);
        }
      }),
      { numRuns: 40 },
    );
  });

  it('that is truncated at any byte has all complete batches', () => {
    const list = fc.sample(batches, { numRuns: 40, seed: 7 }).filter((one) => one.length > 2)[0] ?? [];
    const bytes = encoded(list, codec);
    let before = 0;
    for (let length = 0; length < bytes.length; length++) {
      const stream = open(bytes.slice(0, length));
      assert.equal(stream.damage.length, 1);
      const [damage] = stream.damage;
      assert.equal((damage?.offset ?? 0) + (damage?.bytes ?? 0), length);
      assert.ok(stream.length >= before);
      // Reading every row is slow, so it is done once for every number of rows.
      if (stream.length !== before || length === 0)
        assert.deepEqual(decoded(stream), list.flat().slice(0, stream.length));
      before = stream.length;
    }
    assert.equal(before, list.flat().length);
  });

  it('with flipped bits is read in part or reported as damaged', () => {
    fc.assert(
      fc.property(
        batches,
        fc.boolean(),
        fc.array(fc.tuple(fc.nat(), fc.nat(7)), { minLength: 1, maxLength: 4 }),
        fc.boolean(),
        (list, compressed, flips, checked) => {
          const bytes = encoded(list, compressed ? codec : undefined);
          for (const [at, bit] of flips) bytes[at % bytes.length]! ^= 1 << bit;
          try {
            decoded(open(bytes, checked));
          } catch (error) {
            assert.ok(error instanceof Error && 'code' in error, String(error));
            assert.equal(error.code, 'ERR_LONGPOLE_TRACE_FORMAT');
          }
        },
      ),
      { numRuns: 200 },
    );
  });

  it('has no rows and reports damage if the bytes are no stream', () => {
    for (const bytes of [
      new Uint8Array(0),
      new Uint8Array(100),
      Uint8Array.from({ length: 500 }, (_, i) => i),
    ]) {
      const stream = open(bytes);
      assert.equal(stream.length, 0);
      assert.equal(stream.damage.length, 1);
    }
  });
});

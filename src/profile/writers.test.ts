import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../base/properties.test.support.js';
import { toPprof } from './pprof.js';
import { STACKS, selfCounts, treeOf } from './samples.test.support.js';
import { toSpeedscope } from './speedscope.js';

/** Reads consecutive bytes. */
class ByteReader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get remaining(): number {
    return this.#bytes.length - this.#at;
  }

  byte(): number {
    return this.bytes(1)[0]!;
  }

  bytes(count: number): Uint8Array {
    assert.ok(count <= this.remaining, 'it ends too early');
    this.#at += count;
    return this.#bytes.subarray(this.#at - count, this.#at);
  }
}

function varint(reader: ByteReader): number {
  let value = 0;
  for (let scale = 1; ; scale *= 128) {
    const byte = reader.byte();
    value += (byte % 128) * scale;
    if (byte < 128) return value;
  }
}

/** Returns the fields of one message: field number → its values, which are numbers or the bytes of delimited fields. */
function decode(bytes: Uint8Array): Map<number, (number | Uint8Array)[]> {
  const reader = new ByteReader(bytes);
  const fields = new Map<number, (number | Uint8Array)[]>();
  while (reader.remaining > 0) {
    const tag = varint(reader);
    const value = tag % 8 === 0 ? varint(reader) : reader.bytes(varint(reader));
    assert.ok(tag % 8 === 0 || tag % 8 === 2, `wire type ${tag % 8}`);
    const field = Math.floor(tag / 8);
    fields.set(field, [...(fields.get(field) ?? []), value]);
  }
  return fields;
}

function messages(fields: Map<number, (number | Uint8Array)[]>, field: number): Uint8Array[] {
  return (fields.get(field) ?? []).filter((value) => value instanceof Uint8Array);
}

function number(fields: Map<number, (number | Uint8Array)[]>, field: number): number {
  const [value = 0] = fields.get(field) ?? [];
  assert.ok(typeof value === 'number');
  return value;
}

function unpack(bytes: Uint8Array | undefined): number[] {
  const reader = new ByteReader(bytes ?? new Uint8Array(0));
  const values: number[] = [];
  while (reader.remaining > 0) values.push(varint(reader));
  return values;
}

/** Returns what pprof would show: stack → samples and nanoseconds. */
function readPprof(bytes: Uint8Array): {
  time: number;
  stacks: Map<string, number>;
  nanoseconds: number;
  strings: string[];
} {
  const profile = decode(bytes);
  const strings = messages(profile, 6).map((text) => new TextDecoder().decode(text));
  const functions = new Map(
    messages(profile, 5).map((message) => {
      const fields = decode(message);
      return [number(fields, 1), strings[number(fields, 2)]];
    }),
  );
  const names = new Map(
    messages(profile, 4).map((message) => {
      const fields = decode(message);
      const [line] = messages(fields, 4).map(decode);
      assert.ok(line !== undefined);
      return [number(fields, 1), functions.get(number(line, 1))];
    }),
  );
  const stacks = new Map<string, number>();
  let nanoseconds = 0;
  for (const message of messages(profile, 2)) {
    const fields = decode(message);
    const stack = unpack(messages(fields, 1)[0])
      .reverse()
      .map((id) => names.get(id))
      .join('>');
    const [count = 0, time = 0] = unpack(messages(fields, 2)[0]);
    stacks.set(stack, (stacks.get(stack) ?? 0) + count);
    nanoseconds += time;
  }
  return { stacks, nanoseconds, strings, time: number(profile, 9) };
}

test('pprof: the bytes contain every stack with its count', () => {
  fc.assert(
    fc.property(STACKS, (stacks) => {
      const tree = treeOf(stacks);
      const read = readPprof(toPprof(tree, { interval: 0.01, start: 1.7e9, duration: 60 }));
      assert.deepEqual(read.stacks, selfCounts(tree));
      assert.equal(read.nanoseconds, tree.count * 1e7);
      assert.equal(read.time, 1.7e18);
      assert.equal(read.strings[0], '');
      assert.equal(new Set(read.strings).size, read.strings.length);
    }),
  );
});

test('pprof: values outside the range of the format are omitted', () => {
  const stacks = [1e300, 3].map((count, i) => ({ names: [`f${i}`], count }));
  for (const interval of [0.01, Number.POSITIVE_INFINITY, Number.NaN]) {
    const read = readPprof(
      toPprof(treeOf(stacks), { interval, start: -5, duration: Number.POSITIVE_INFINITY }),
    );
    assert.deepEqual(read.stacks, new Map(interval === 0.01 ? [['f1', 3]] : []));
    assert.equal(read.time, 0);
  }
});

test('pprof: samples with a known line are counted by line', () => {
  const tree = treeOf([{ names: ['load'], count: 5 }]);
  const [load] = Object.values(tree.children);
  assert.ok(load !== undefined);
  const withLines = { ...tree, children: { [load.identifier]: { ...load, lines: { 3: 2, 4: 1 } } } };
  const profile = decode(toPprof(withLines));
  const counts = messages(profile, 2).map((message) => unpack(messages(decode(message), 2)[0])[0]);
  assert.deepEqual(counts.sort(), [1, 2, 2]);
  assert.equal(messages(profile, 5).length, 1);
  assert.equal(messages(profile, 4).length, 3);
});

test('speedscope: stacks and weights', () => {
  fc.assert(
    fc.property(STACKS, (stacks) => {
      const tree = treeOf(stacks);
      const file = toSpeedscope(new Map([['all', tree]]), { interval: 0.5 });
      const [profile] = file.profiles;
      assert.ok(profile !== undefined);
      const read = new Map(
        profile.samples.map((sample, index) => [
          sample.map((frame) => file.shared.frames[frame]?.name).join('>'),
          (profile.weights[index] ?? 0) / 0.5,
        ]),
      );
      assert.deepEqual(read, selfCounts(tree));
      assert.equal(profile.endValue, tree.count * 0.5);
    }),
  );
});

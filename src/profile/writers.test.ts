import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../base/properties.test.support.js';
import { toPprof } from './pprof.js';
import { decode, messages, readPprof, unpack } from './pprofReader.test.support.js';
import { STACKS, selfCounts, treeOf } from './samples.test.support.js';
import { toSpeedscope } from './speedscope.js';

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

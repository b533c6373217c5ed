import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../base/properties.test.support.js';
import { type CallTree, mergeTrees } from './callTree.js';
import { STACKS, selfCounts, treeOf } from './samples.test.support.js';

const TREES = STACKS.map(treeOf);

test('merging is associative and commutative, and an empty tree changes nothing', () => {
  fc.assert(
    fc.property(TREES, TREES, TREES, (a, b, c) => {
      assert.deepEqual(mergeTrees(mergeTrees(a, b), c), mergeTrees(a, mergeTrees(b, c)));
      assert.deepEqual(mergeTrees(a, b), mergeTrees(b, a));
      assert.deepEqual(mergeTrees(a, treeOf([])), a);
    }),
  );
});

test('merging conserves totals and leaves its arguments alone', () => {
  fc.assert(
    fc.property(TREES, TREES, (a, b) => {
      const before = structuredClone(a);
      const merged = mergeTrees(a, b);
      assert.equal(merged.count, a.count + b.count);
      const self = selfCounts(merged);
      for (const part of [a, b])
        for (const [stack, count] of selfCounts(part)) self.set(stack, (self.get(stack) ?? 0) - count);
      assert.ok([...self.values()].every((rest) => rest === 0));
      assert.deepEqual(a, before);
    }),
  );
});

test('no node has fewer samples than its children together', () => {
  const check = (tree: CallTree): void => {
    const children = Object.values(tree.children);
    assert.ok(children.reduce((sum, child) => sum + child.count, 0) <= tree.count);
    children.forEach(check);
  };
  fc.assert(fc.property(TREES, TREES, (a, b) => check(mergeTrees(a, b))));
});

test('a stack of 100,000 frames can be merged', () => {
  const deep = treeOf([{ names: Array.from({ length: 100_000 }, (_, depth) => `f${depth % 7}`), count: 3 }]);
  assert.equal(mergeTrees(deep, deep).count, 6);
});

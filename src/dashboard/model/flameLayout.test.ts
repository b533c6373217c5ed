import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../base/properties.test.support.js';
import { type CallTree, childOf, emptyTree, type MutableCallTree } from '../../profile/callTree.js';
import { boxAt, boxOfPath, flameLayout, foundSamples, functionSums, pathOf } from './flameLayout.js';

/** Returns the call tree of stacks. Each letter of a stack is a function. */
function treeOf(stacks: readonly string[]): CallTree {
  const root = emptyTree();
  for (const stack of stacks) {
    let node: MutableCallTree = root;
    node.count++;
    for (const name of stack) {
      node = childOf(node, { name, filename: `/${name}.ts`, lineNumber: 7 });
      node.count++;
    }
  }
  return root;
}

const stacks = fc.array(fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 6 }), {
  minLength: 1,
  maxLength: 60,
});

test('boxes lie within their callers, side by side, and every sample is in the box of its function', () => {
  fc.assert(
    fc.property(stacks, (all) => {
      const { rows } = flameLayout(treeOf(all));
      for (const row of rows) {
        for (const [i, box] of row.entries()) {
          const end = box.start + box.node.count;
          if (box.parent !== undefined) {
            assert.ok(box.start >= box.parent.start);
            assert.ok(end <= box.parent.start + box.parent.node.count);
          }
          assert.ok((row[i + 1]?.start ?? end) >= end);
          assert.equal(boxAt(row, box.start), i);
          assert.equal(boxAt(row, end - 0.5), i);
        }
      }
    }),
  );
});

test('own samples of all functions add up to all samples with a function, and recursion counts once', () => {
  fc.assert(
    fc.property(stacks, (all) => {
      const sums = functionSums(flameLayout(treeOf(all)));
      const own = sums.reduce((sum, { self }) => sum + self, 0);
      assert.equal(own, all.filter((stack) => stack !== '').length);
      for (const { name, total, self } of sums) {
        assert.equal(total, all.filter((stack) => stack.includes(name)).length);
        assert.equal(self, all.filter((stack) => stack.endsWith(name)).length);
      }
    }),
  );
});

test('a path leads to the same function of another tree, or to the deepest function that the tree has', () => {
  const layout = flameLayout(treeOf(['abc', 'abc', 'ab', 'b']));
  const box = layout.rows[3]?.[0];
  assert.ok(box !== undefined);
  const later = flameLayout(treeOf(['b', 'b', 'b', 'abc']));
  assert.equal(boxOfPath(later, pathOf(box)).node.count, 1);
  assert.equal(boxOfPath(later, pathOf(box)).depth, 3);
  assert.equal(boxOfPath(flameLayout(treeOf(['ax'])), pathOf(box)).node.description.name, 'a');
});

test('a search finds functions and files, and counts each sample once', () => {
  const layout = flameLayout(treeOf(['aba', 'ba', 'c', 'c']));
  assert.equal(foundSamples(layout, 'A.TS'), 2);
  assert.equal(foundSamples(layout, 'c'), 2);
  assert.equal(foundSamples(layout, ' '), 0);
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from '../base/properties.test.support.js';
import { type CallTree, childOf, emptyTree, type MutableCallTree } from './callTree.js';
import { diffTrees, placesOf, type StackDiff } from './stackDiff.js';

/** Builds a tree from stacks such as `outer/inner` and their numbers of samples. A function may have a line: `outer:3`. */
function treeOf(stacks: Readonly<Record<string, number>>): CallTree {
  const root = emptyTree();
  for (const [stack, count] of Object.entries(stacks)) {
    let node: MutableCallTree = root;
    node.count += count;
    for (const part of stack.split('/')) {
      const [name = '', line = '1'] = part.split(':');
      node = childOf(node, { name, filename: 'a.js', lineNumber: Number(line) });
      node.count += count;
    }
  }
  return root;
}

const lines = (root: StackDiff): string[] =>
  Array.from(
    placesOf(root),
    ({ place, depth }) =>
      `${'  '.repeat(depth)}${place.name} ${place.before}>${place.after} self ${place.selfBefore}>${place.selfAfter}`,
  );

describe('the difference of call trees', () => {
  it('reports the seconds before and after for each place, even if its line moved', () => {
    const before = { tree: treeOf({ 'main:1/fit:10': 4, 'main:1/load:20': 2, 'main:1': 1 }), seconds: 0.5 };
    const after = { tree: treeOf({ 'main:2/fit:14': 20, 'main:2/plot:30': 4 }), seconds: 0.25 };
    assert.deepEqual(lines(diffTrees([before], [after])), [
      'main 3.5>6 self 0.5>0',
      '  fit 2>5 self 2>5',
      '  load 1>0 self 1>0',
      '  plot 0>1 self 0>1',
    ]);
  });

  it('keeps the sums, and is symmetric', () => {
    const stacks = fc.dictionary(
      fc.constantFrom('a', 'a/b', 'a/b/a', 'c', 'c/b', 'a/c'),
      fc.integer({ min: 1, max: 9 }),
    );
    fc.assert(
      fc.property(stacks, stacks, (x, y) => {
        const [a, b] = [
          { tree: treeOf(x), seconds: 1 },
          { tree: treeOf(y), seconds: 1 },
        ];
        const root = diffTrees([a], [b]);
        assert.deepEqual([root.before, root.after], [a.tree.count, b.tree.count]);
        let [selfBefore, selfAfter] = [0, 0];
        for (const { place } of placesOf(root)) {
          selfBefore += place.selfBefore;
          selfAfter += place.selfAfter;
          const inner = place.children.reduce((sum, child) => sum + child.after, place.selfAfter);
          assert.equal(inner, place.after);
        }
        assert.deepEqual([selfBefore, selfAfter], [root.before, root.after]);
        const back = diffTrees([b], [a]);
        assert.deepEqual([back.before, back.after], [root.after, root.before]);
      }),
    );
  });
});

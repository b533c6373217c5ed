import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { layeredLayout } from '../../base/graphLayout/layers.js';
import fc from '../../base/properties.test.support.js';
import { stepInGraph } from './graphSteps.js';

describe('arrow keys in a graph', () => {
  it('follow edges, and step up and down a column', () => {
    // 2 needs 0 and 1, 3 needs 2, and 4 has no edge.
    const edges: [number, number][] = [
      [0, 2],
      [1, 2],
      [2, 3],
    ];
    const layout = layeredLayout(5, edges);
    const go = (node: number, ...keys: string[]): number | undefined =>
      keys.reduce<number | undefined>(
        (at, key) => (at === undefined ? undefined : stepInGraph(layout, edges, at, key)),
        node,
      );
    assert.equal(go(0, 'ArrowRight', 'ArrowRight'), 3);
    assert.equal(go(3, 'ArrowLeft'), 2);
    assert.ok([0, 1].includes(go(2, 'ArrowLeft') ?? -1));
    assert.equal(go(4, 'ArrowRight'), 2);
    assert.equal(go(3, 'ArrowRight'), undefined);
    assert.equal(go(0, 'x'), undefined);
    assert.equal(go(0, 'End'), 3);
    const first = go(3, 'Home') ?? -1;
    assert.deepEqual([first, go(first, 'ArrowDown'), go(first, 'ArrowDown', 'ArrowDown')].sort(), [0, 1, 4]);
  });

  it('can reach every node', () => {
    const graphs = fc
      .integer({ min: 1, max: 30 })
      .chain((count) =>
        fc.tuple(
          fc.constant(count),
          fc.array(fc.tuple(fc.nat(count - 1), fc.nat(count - 1)), { maxLength: 60 }),
        ),
      );
    fc.assert(
      fc.property(graphs, ([count, pairs]) => {
        const edges = pairs.filter(([from, to]) => from < to);
        const layout = layeredLayout(count, edges);
        const seen = new Set<number>();
        const open = [stepInGraph(layout, edges, 0, 'Home') ?? -1];
        for (let node = open.pop(); node !== undefined; node = open.pop()) {
          if (seen.size === seen.add(node).size) continue;
          for (const key of ['ArrowRight', 'ArrowLeft', 'ArrowUp', 'ArrowDown', 'End'])
            open.push(stepInGraph(layout, edges, node, key) ?? node);
        }
        assert.equal(seen.size, count);
      }),
    );
  });
});

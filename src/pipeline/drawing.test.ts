import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from '../base/properties.test.support.js';
import { BOX_HEIGHT, drawBoxes, layout } from './drawing.js';

const drawables = fc
  .array(fc.integer({ min: 20, max: 200 }), { minLength: 1, maxLength: 12 })
  .chain((widths) =>
    fc.record({
      widths: fc.constant(widths),
      edges: fc
        .array(fc.tuple(fc.nat(widths.length - 1), fc.nat(widths.length - 1)), { maxLength: 20 })
        .map((pairs) =>
          pairs.filter(([a, b]) => a !== b).map(([a, b]) => ({ from: Math.min(a, b), to: Math.max(a, b) })),
        ),
    }),
  );

describe('layout', () => {
  it('places dependencies above their dependents, and boxes without overlap', () => {
    fc.assert(
      fc.property(drawables, ({ widths, edges }) => {
        const { nodes, edges: lines, width, height } = layout({ widths, edges });
        for (const [edge, { from, to }] of edges.entries()) {
          assert.ok(nodes[from]!.y < nodes[to]!.y);
          const points = lines[edge]!;
          assert.deepEqual(points[0], { x: nodes[from]!.x, y: nodes[from]!.y + BOX_HEIGHT / 2 });
          assert.deepEqual(points.at(-1), { x: nodes[to]!.x, y: nodes[to]!.y - BOX_HEIGHT / 2 });
        }
        for (const [i, a] of nodes.entries()) {
          assert.ok(a.x - widths[i]! / 2 >= -1e-6 && a.x + widths[i]! / 2 <= width + 1e-6 && a.y < height);
          for (const [j, b] of nodes.entries()) {
            if (i >= j || a.y !== b.y) continue;
            assert.ok(Math.abs(a.x - b.x) >= (widths[i]! + widths[j]!) / 2 - 1e-6, 'boxes do not touch');
          }
        }
      }),
    );
  });

  it('centres a step over its two dependents', () => {
    const { nodes } = layout({
      widths: [80, 80, 80],
      edges: [
        { from: 0, to: 1 },
        { from: 0, to: 2 },
      ],
    });
    assert.ok(Math.abs(nodes[0]!.x - (nodes[1]!.x + nodes[2]!.x) / 2) < 1);
  });
});

describe('drawBoxes', () => {
  it('draws steps and inputs with any names', () => {
    const svg = drawBoxes('A & B', {
      nodes: ['load <1>', 'fit'],
      edges: [{ from: 0, to: 1, label: 'X' }],
    });
    assert.match(svg, /^<svg xmlns="http:\/\/www.w3.org\/2000\/svg"/);
    for (const part of ['<title>A &amp; B</title>', '>load &lt;1&gt;</text>', '>fit</text>', '>X</text>'])
      assert.ok(svg.includes(part), part);
    assert.equal(svg.match(/class="box"/g)?.length, 2);
    assert.equal(svg.match(/class="edge"/g)?.length, 1);
  });

  it('draws an empty graph', () => {
    assert.match(drawBoxes('empty', { nodes: [], edges: [] }), /<\/svg>/);
  });
});

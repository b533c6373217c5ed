import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from '../../base/properties.test.support.js';
import { RADIUS, routedLayout } from './routedLayout.js';

type Edge = [number, number];

/** Returns points along a path of `M x y`, `H x` and `C x1 y1 x2 y2 x y`. */
function pointsOf(path: string): [number, number][] {
  const points: [number, number][] = [];
  let [x, y] = [0, 0];
  for (const [, letter = '', text = ''] of path.matchAll(/([MHC])([^MHC]*)/g)) {
    const numbers = text.trim().split(/\s+/).map(Number);
    if (letter === 'C') {
      const [x1, y1, x2, y2, x3, y3] = numbers;
      for (let t = 0; t <= 1; t += 1 / 32) {
        const [a, b, c, d] = [(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t ** 3];
        points.push([a * x + b * x1! + c * x2! + d * x3!, a * y + b * y1! + c * y2! + d * y3!]);
      }
      [x, y] = [x3!, y3!];
    } else {
      const [toX, toY] = letter === 'H' ? [numbers[0]!, y] : [numbers[0]!, numbers[1]!];
      if (letter === 'H') for (let i = 0; i <= 16; i++) points.push([x + ((toX - x) * i) / 16, y]);
      [x, y] = [toX, toY];
    }
  }
  return points;
}

const graphs = fc.integer({ min: 1, max: 24 }).chain((count) =>
  fc.record({
    labels: fc.array(fc.integer({ min: 20, max: 200 }), { minLength: count, maxLength: count }),
    edges: fc.array(fc.tuple(fc.nat(count - 1), fc.nat(count - 1)), { maxLength: 40 }).map((pairs) =>
      [...new Set(pairs.filter(([a, b]) => a < b).map(String))].map((text): Edge => {
        const [from = 0, to = 0] = text.split(',').map(Number);
        return [from, to];
      }),
    ),
    available: fc.integer({ min: 300, max: 2000 }),
  }),
);

describe('a graph with labels', () => {
  it('has no edge through a label', () => {
    fc.assert(
      fc.property(graphs, ({ labels, edges, available }) => {
        const { x, y, routes, segment } = routedLayout(labels, edges, available);
        for (const route of routes) {
          for (let i = 1; i < route.length; i++) {
            for (const [px, py] of pointsOf(segment(route[i - 1]!, route[i]!))) {
              for (const [node, label] of labels.entries()) {
                const left = x[node]! + RADIUS + 5;
                const within = px > left + 1 && px < left + label - 1 && Math.abs(py - y[node]!) < 5;
                assert.ok(!within, `${route} crosses the label of ${node}`);
              }
            }
          }
        }
      }),
    );
  });

  it('is drawn from left to right if that fits, else from top to bottom if that is narrower', () => {
    const chain = Array.from({ length: 19 }, (_, i): Edge => [i, i + 1]);
    const labels = Array.from({ length: 20 }, () => 120);
    assert.equal(routedLayout(labels, chain, 5000).down, false);
    const narrow = routedLayout(labels, chain, 1000);
    assert.ok(narrow.down && narrow.width < 200);
    const wide = routedLayout(
      labels,
      Array.from({ length: 19 }, (_, i): Edge => [i, 19]),
      200,
    );
    assert.equal(wide.down, false);
  });

  it('routes the long edges of a node through the same waypoints', () => {
    const { routes } = routedLayout(
      [50, 50, 50, 50],
      [
        [0, 1],
        [1, 2],
        [2, 3],
        [0, 2],
        [0, 3],
      ],
      2000,
    );
    assert.deepEqual(routes.slice(3), [
      [0, 4, 2],
      [0, 4, 5, 3],
    ]);
  });

  it('with a cycle contains all its nodes', () => {
    const { x, y, width, height } = routedLayout(
      [50, 50, 50],
      [
        [0, 1],
        [1, 2],
        [2, 0],
      ],
      500,
    );
    for (let node = 0; node < 3; node++)
      assert.ok(x[node]! > 0 && x[node]! < width && y[node]! > 0 && y[node]! < height);
  });
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Pipeline } from 'longpole/trace';
import { adjustedRandIndex } from './agreement.js';
import { blobs, clusters, countOf, joined, moments, nearest, normalized } from './points.js';
import { kMeans, makeBlobs, normalize, selfOrganisingMap } from './steps.js';

const CENTERS = [
  [-6, -6],
  [0, 0],
  [9, 1],
];

describe('points', () => {
  test('blobs lie around their centres and are reproducible', () => {
    const points = blobs(CENTERS, 3000, 1000, 2000);
    assert.deepEqual(points, blobs(CENTERS, 3000, 1000, 2000));
    assert.notDeepEqual(points.data.slice(0, 2), blobs(CENTERS, 3000, 0, 1000).data.slice(0, 2));
    const { count, sum, squares } = moments(points);
    const mean = sum / count;
    assert.equal(count, 2000);
    assert.ok(Math.abs(mean) < 0.1, `mean ${mean} of the second blob, at (0, 0)`);
    assert.ok(Math.abs(squares / count - mean * mean - 1) < 0.15, 'variance 1');
  });

  test('are normalized over all chunks', () => {
    const chunks = [blobs(CENTERS, 900, 0, 500), blobs(CENTERS, 900, 500, 900)];
    const parts = chunks.map(moments);
    const { count, sum, squares } = moments(joined(chunks.map((chunk) => normalized(chunk, parts))));
    assert.equal(count, 1800);
    assert.ok(Math.abs(sum / count) < 1e-12 && Math.abs(squares / count - 1) < 1e-12);
  });

  test('belong to the nearest centre', () => {
    const centers = { columns: 2, data: Float64Array.of(0, 0, 10, 0) };
    const points = { columns: 2, data: Float64Array.of(1, 1, 9, -1, 4.9, 0) };
    assert.deepEqual(nearest(points, centers), Int32Array.of(0, 1, 0));
    const { counts, sums, inertia } = clusters(points, centers);
    assert.deepEqual([...counts, ...sums], [2, 1, 5.9, 1, 9, -1]);
    assert.ok(Math.abs(inertia - (2 + 2 + 4.9 ** 2)) < 1e-12);
  });
});

describe('the adjusted Rand index', () => {
  test('is 1 for equal groups with other labels, about 0 for unrelated groups', () => {
    const a = Int32Array.of(0, 0, 1, 1, 2, 2);
    assert.equal(adjustedRandIndex(a, Int32Array.of(2, 2, 0, 0, 1, 1)), 1);
    assert.equal(
      adjustedRandIndex(
        a,
        a.map(() => 0),
      ),
      0,
    );
    const many = Int32Array.from({ length: 9000 }, (_, i) => i % 3);
    const unrelated = Int32Array.from({ length: 9000 }, (_, i) => Math.floor(i / 3) % 3);
    assert.ok(Math.abs(adjustedRandIndex(many, unrelated)) < 0.01);
  });

  test('equals the value of an example that was computed by hand', () => {
    // Three pairs together in both, 4 in the first, 7 in the second, of 15: (3 - 28/15) / (5.5 - 28/15).
    const value = adjustedRandIndex(Int32Array.of(0, 0, 0, 1, 1, 2), Int32Array.of(0, 0, 0, 0, 1, 1));
    const [together, first, second] = [3, 4, 7];
    const expected = (first * second) / 15;
    assert.ok(Math.abs(value - (together - expected) / ((first + second) / 2 - expected)) < 1e-12);
  });
});

describe('the pipeline', () => {
  test('finds the original blobs, by k-means and by the map', { timeout: 120_000 }, async () => {
    const source = makeBlobs({ samples: 20_000, chunk: 1000, centers: CENTERS });
    const means = kMeans({ clusters: 3, maxIterations: 100 });
    const map = selfOrganisingMap({ nodes: 3, epochs: 20 });
    const pipeline = new Pipeline('small')
      .add(normalize, { X: source })
      .add(means.fitPredict, { X: normalize })
      .add(map.fitPredict, { X: normalize });
    const results = await pipeline.run();
    for (const name of ['KMeans.fitPredict', 'SOM.fitPredict']) {
      const found = results.get(name);
      assert.ok(Array.isArray(found) && found.every((part) => part instanceof Int32Array));
      const groups = Int32Array.from(found.flatMap((part) => [...part]));
      const index = adjustedRandIndex(groups, source.truth());
      assert.ok(index >= 0.9, `${name}: adjusted Rand index ${index}`);
    }
  });

  test('k-means ends with each centre in the middle of its cluster', { timeout: 120_000 }, async () => {
    const source = makeBlobs({ samples: 3000, chunk: 1000, centers: CENTERS });
    const { fit } = kMeans({ clusters: 3, maxIterations: 100 });
    const centers = (await new Pipeline('centers').add(fit, { X: source }).run()).get('fit');
    assert.ok(typeof centers === 'object' && centers !== null && 'data' in centers);
    const { data } = centers;
    assert.ok(data instanceof Float64Array);
    const points = blobs(CENTERS, 3000, 0, 1000);
    const first = clusters(points, { columns: 2, data });
    const own = first.counts.indexOf(Math.max(...first.counts));
    assert.equal(countOf({ columns: 2, data }), 3);
    assert.ok(
      Math.hypot(data[2 * own]! + 6, data[2 * own + 1]! + 6) < 0.2,
      'the first blob lies at (-6, -6)',
    );
  });
});

// Compares the number of results held at once with that of Dask's order, for ten families of graphs. Dask's numbers are
// recorded: test/fixtures/order/order-graphs.json has complete graphs, dask-peaks.json sizes and seeds of generated graphs.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { order } from './order.js';
import { peakHeld } from './order.test.support.js';
import { type Dependencies, edgesOf, familyGraph, numberings } from './ordering/families.test.support.js';

const fixtures = new URL('../../test/fixtures/order/', import.meta.url);
const read = (name: string): string => readFileSync(new URL(name, fixtures), 'utf8');
const graphs: Record<string, { graph: Dependencies; daskPeakHeld: number }> = JSON.parse(
  read('order-graphs.json'),
);
const recorded: { peaks: [family: string, parameters: number[], daskPeak: number][] } = JSON.parse(
  read('dask-peaks.json'),
);

/** Returns the peak of Longpole's order for each numbering of the keys. */
function peaks(graph: Dependencies): [numbering: string, peak: number][] {
  return Object.entries(numberings).map(([name, keysOf]) => {
    const { size, dependencies, dependents } = edgesOf(graph, keysOf(graph));
    const requested = new Uint8Array(size);
    const sequence = order(size, dependencies, dependents, requested);
    assert.equal(sequence.length, size);
    return [name, peakHeld(sequence, dependencies, dependents, requested)];
  });
}

const generated: Record<string, [string, number[]]> = {
  'tree-2': ['tree', [2, 512]],
  'tree-16': ['tree', [16, 1024]],
  'map-reduce-4-stages': ['mapReduce', [4, 256]],
  'shuffle-24': ['shuffle', [24]],
  'matmul-8': ['matmul', [8]],
  'stencil-64x12': ['stencil', [64, 12]],
  'tsqr-40': ['tsqr', [40]],
  'std-200': ['std', [200]],
  'anomaly-12x20': ['anomaly', [12, 20]],
};

test('the generators return the recorded graphs', () => {
  for (const [name, [family, parameters]] of Object.entries(generated)) {
    assert.deepEqual(familyGraph(family, parameters), graphs[name]?.graph, name);
  }
});

test('no recorded graph holds more results than with the order of Dask, and the sum of the peaks is 4 % smaller', () => {
  let ours = 0;
  let dask = 0;
  for (const [name, { graph, daskPeakHeld }] of Object.entries(graphs)) {
    const [[, first] = ['', 0], ...others] = peaks(graph);
    ours += first;
    dask += daskPeakHeld;
    assert.ok(first <= daskPeakHeld, `${name}: ${first}, Dask ${daskPeakHeld}`);
    for (const [numbering, peak] of others) {
      assert.ok(peak <= daskPeakHeld, `${name} ${numbering}: ${peak}, Dask ${daskPeakHeld}`);
    }
  }
  assert.ok(ours <= 0.96 * dask, `${ours}, Dask ${dask}`);
});

for (const family of new Set(recorded.peaks.map(([name]) => name))) {
  test(`graphs of the family ${family} hold at most as many results as with the order of Dask`, () => {
    for (const [name, parameters, daskPeak] of recorded.peaks) {
      if (name !== family) continue;
      for (const [numbering, peak] of peaks(familyGraph(family, parameters))) {
        assert.ok(peak <= daskPeak, `${family}(${parameters}) ${numbering}: ${peak}, Dask ${daskPeak}`);
      }
    }
  });
}

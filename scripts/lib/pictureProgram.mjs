// Programs with content for every page of the dashboard. Graphs and data are the same on every run.

/**
 * Computes arrays, a tree of sums, and waits; one task fails.
 *
 * @param {import('longpole').Client} client
 * @param {typeof import('longpole')} longpole
 * @param {number} rounds how long a `fit` takes
 */
export async function work(client, { delayed, span }, rounds = 3) {
  const { load, normalize, fit, fetchPage, sum } = functions(delayed);
  const held = await span('load', () =>
    client.persist(Array.from({ length: 48 }, (_, i) => normalize(load(i)))),
  );
  const fits = await span('fit', () => client.persist(held.map((values) => fit(values, rounds))));
  const pages = await span('fetch', () => client.persist(Array.from({ length: 60 }, (_, i) => fetchPage(i))));
  await span('sum', () => client.compute([sum(fits), sum(pages)]));
}

/** Computes the same without keeping results in between: memory is released early. */
export async function workInPasses(client, { delayed }) {
  const { load, normalize, fit, sum } = functions(delayed);
  for (let first = 0; first < 48; first += 12) {
    const part = Array.from({ length: 12 }, (_, i) => fit(normalize(load(first + i)), 3));
    await client.compute(sum(part));
  }
}

function functions(delayed) {
  const load = delayed(function load(seed) {
    const values = new Float64Array(400_000);
    for (let i = 0, x = seed + 1; i < values.length; i++) {
      x = (x * 16807) % 2147483647;
      values[i] = x / 2147483647;
    }
    return values;
  });
  const normalize = delayed(function normalize(values) {
    const mean = values.reduce((sum, x) => sum + x, 0) / values.length;
    return values.map((x) => x - mean);
  });
  const fit = delayed(function fit(values, rounds) {
    function error(k) {
      let sum = 0;
      for (let i = 0; i < values.length; i++) sum += Math.sin(values[i] * k);
      return sum;
    }
    return Math.min(...Array.from({ length: rounds }, (_, k) => error(k)));
  });
  const fetchPage = delayed(async function fetchPage(i) {
    await new Promise((done) => setTimeout(done, 20 + (i % 5) * 10));
    return i;
  });
  const sum = delayed(function sum(values) {
    return values.reduce((total, x) => total + x, 0);
  });
  return { load, normalize, fit, fetchPage, sum };
}

/** @param {typeof import('longpole')} longpole */
export async function fail(client, { delayed }) {
  const parse = delayed(function parse(text) {
    return JSON.parse(text);
  });
  await client.compute(parse('{ "page": 17, }')).catch(() => undefined);
}

/** Returns the pipeline of docs/profile-a-pipeline.md. It is drawn, not run. */
export function pipelineOfGuide({ Pipeline }) {
  const step = (name) => Object.defineProperty(({ X }) => X, 'name', { value: name });
  const [normalize, kmeans, som] = ['Normalize', 'KMeans.fitPredict', 'SOM.fitPredict'].map(step);
  return new Pipeline('A KMeans and SOM Pipeline')
    .add(normalize, { X: { name: 'makeBlobs', load: () => [] } })
    .add(kmeans, { X: normalize })
    .add(som, { X: normalize })
    .add(step('persist KMeans'), { X: kmeans })
    .add(step('persist SOM'), { X: som });
}

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { inflateSync } from 'node:zlib';
import { sampledLevels } from '../trace/localMetrics.js';
import { decodeReport } from '../trace/recording/reportBytes.js';
import { type ClusterMemory, MemorySampler, setDefaultMemorySource } from './memorySampler.js';

const MIB = 2 ** 20;

/** A cluster with memory that grows by a MiB per request. `requested` resolves at the n-th request. */
class FakeCluster {
  #requests = 0;
  readonly #waiting = new Map<number, () => void>();

  memory(): ClusterMemory {
    const process = ++this.#requests * MIB;
    this.#waiting.get(this.#requests)?.();
    const [managed, unmanaged, spilled] = [2 * process, 3 * process, 4 * process];
    const [optimistic, unmanaged_old, unmanaged_recent] = [5 * process, 6 * process, 7 * process];
    return { process, managed, unmanaged, spilled, optimistic, unmanaged_old, unmanaged_recent };
  }

  requested(count: number): Promise<void> {
    if (this.#requests >= count) return Promise.resolve();
    // The sampler's timer alone does not keep a program alive.
    const alive = setInterval(() => undefined, 2 ** 30);
    return new Promise((resolve) =>
      this.#waiting.set(count, () => {
        clearInterval(alive);
        resolve();
      }),
    );
  }
}

test('samples from the beginning to the end of the block', async () => {
  const client = new FakeCluster();
  const sampler = new MemorySampler();
  {
    await using _ = sampler.sample('load', { client, interval: 0.01 });
    await client.requested(4);
  }
  const points = sampler.samples.get('load') ?? [];
  assert.ok(points.length >= 5);
  assert.deepEqual(
    points.map(({ bytes }) => bytes / MIB),
    points.map((_point, index) => index + 1),
  );
  assert.ok(points.every(({ time }, index) => index === 0 || time >= (points[index - 1]?.time ?? 0)));
});

test('samples all four measures at the same time, and without labels', async () => {
  const client = new FakeCluster();
  const sampler = new MemorySampler();
  {
    await using _managed = sampler.sample(undefined, { client, measure: 'managed', interval: 3600 });
    await using _unmanaged = sampler.sample(undefined, { client, measure: 'unmanaged', interval: 3600 });
    await using _spilled = sampler.sample(undefined, { client, measure: 'spilled', interval: 3600 });
    await client.requested(3);
  }
  assert.deepEqual([...sampler.samples.keys()], ['sample 1', 'sample 2', 'sample 3']);
  assert.deepEqual(
    [...sampler.samples.values()].map(([first]) => (first?.bytes ?? 0) / MIB),
    [2, 6, 12],
  );
});

test('a block that throws keeps its samples and its error', async () => {
  const client = new FakeCluster();
  const sampler = new MemorySampler();
  const failing = async (): Promise<void> => {
    await using _ = sampler.sample('failing', { client });
    throw new RangeError('no');
  };
  await assert.rejects(failing(), RangeError);
  assert.equal(sampler.samples.get('failing')?.length, 2);
});

test('an error of the client is thrown when the block ends', async () => {
  const sampler = new MemorySampler();
  const lost = { memory: () => Promise.reject(new RangeError('lost')) };
  const sampling = sampler.sample('lost', { client: lost, interval: 0.01 });
  await assert.rejects(async () => sampling[Symbol.asyncDispose](), RangeError);
  assert.deepEqual(sampler.samples.get('lost'), []);
});

test('the table aligns times, and repeats values between samples, but not after the last', async () => {
  const sampler = new MemorySampler();
  const client = new FakeCluster();
  for (const label of ['first', 'second']) {
    await using _ = sampler.sample(label, { client, interval: 3600 });
    await client.requested(label === 'first' ? 1 : 3);
  }
  const table = sampler.toTable();
  assert.deepEqual(table.columns, ['time', 'first', 'second']);
  assert.deepEqual(
    table.rows.map((row) => [row['first'], row['second']]),
    [
      [MIB, null],
      [2 * MIB, null],
      [null, 3 * MIB],
      [null, 4 * MIB],
    ],
  );
  const [first, second] = [sampler.samples.get('first') ?? [], sampler.samples.get('second') ?? []];
  const times = [...first, ...second].map(({ time }) => time - first[0]!.time);
  assert.deepEqual(
    table.rows.map((row) => row['time']),
    times,
  );
  const [start] = sampler.toTable({ align: true }).rows;
  assert.deepEqual(start, { time: 0, first: MIB, second: 3 * MIB });
});

/** Returns the samples in a page by label. */
function samplesIn(html: string): Record<string, number[]> {
  const data = /<script id="longpole-trace"[^>]*>([A-Za-z0-9+/=]*)<\/script>/.exec(html)?.[1] ?? '';
  const { trace } = decodeReport(inflateSync(Buffer.from(data, 'base64')));
  return Object.fromEntries(
    sampledLevels(trace).map(({ label, points }) => [label, points.map(({ bytes }) => bytes)]),
  );
}

test('plots as SVG and as a page', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'longpole-memory-'));
  try {
    const client = new FakeCluster();
    const sampler = new MemorySampler();
    {
      await using _ = sampler.sample('a <label> & more', { client });
    }
    const svg = sampler.plot({ align: true, filename: join(folder, 'plot.svg') });
    assert.equal(readFileSync(join(folder, 'plot.svg'), 'utf8'), svg);
    assert.match(svg, /^<svg xmlns/);
    assert.match(svg, /a &lt;label&gt; &amp; more, at most 2 MiB/);
    const page = sampler.plot({ filename: join(folder, 'plot.html') });
    assert.equal(readFileSync(join(folder, 'plot.html'), 'utf8'), page);
    assert.match(page, /^<!doctype html>/);
    const points = sampler.samples.get('a <label> & more') ?? [];
    assert.deepEqual(samplesIn(page), { 'a <label> & more': points.map(({ bytes }) => bytes) });
    assert.match(new MemorySampler().plot(), /<\/svg>/);
    const missing = join(folder, 'missing', 'plot.svg');
    assert.throws(() => sampler.plot({ filename: missing }), { code: 'ERR_LONGPOLE_PAGE_FILE' });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('without the option client, samples the most recently connected client, or this process', async () => {
  const sampler = new MemorySampler();
  const refused = { code: 'ERR_LONGPOLE_INVALID_ARGUMENT' };
  assert.throws(() => sampler.sample('managed', { measure: 'managed' }), refused);
  {
    await using _ = sampler.sample('process');
  }
  assert.ok((sampler.samples.get('process')?.[0]?.bytes ?? 0) > MIB);
  setDefaultMemorySource(() => new FakeCluster());
  {
    await using _ = sampler.sample('spilled', { measure: 'spilled' });
  }
  setDefaultMemorySource(() => undefined);
  assert.equal(sampler.samples.get('spilled')?.[0]?.bytes, 4 * MIB);
  assert.throws(() => sampler.sample('x', { interval: 0 }), refused);
  assert.throws(() => sampler.sample(''), refused);
});

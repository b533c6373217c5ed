// Recorded rows of a bridge to a real cluster: the trace agrees with Dask's counts, also on machines without Python.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { profileTree, simulate } from 'longpole/analysis';
import { openTrace, TraceWriter } from 'longpole/trace';
import { frameReader } from '#internal/dask/bridgeProcess.js';
import { ClusterMirror } from '#internal/dask/clusterMirror.js';
import { LiveTrace } from '#internal/trace/live/liveTrace.js';
import { repositoryPath } from '../support/repository.js';
import { assertCounted, assertPlausible, assertStraggler, type Counted } from './counted.js';

const folder = mkdtempSync(join(tmpdir(), 'longpole-dask-'));
after(() => rmSync(folder, { recursive: true }));

const fixture = (name: string): Buffer => readFileSync(repositoryPath(`test/fixtures/dask/${name}`));
const counted: Counted = JSON.parse(fixture('counted.json').toString());
const frames = gunzipSync(fixture('cluster.frames.gz'));

const live = new LiveTrace();
const writer = TraceWriter.create(join(folder, 'dask.trace'));
const mirror = new ClusterMirror([live, writer]);
for (const row of frameReader()(frames)) mirror.take(row);
writer.close();

describe('a trace from the recorded rows of a bridge to Dask', () => {
  for (const [name, trace] of [
    ['live', live.snapshot()],
    ['recorded', openTrace(writer.directory)],
  ] as const) {
    it(`agrees with Dask's counts (${name})`, () => assertCounted(trace, counted));

    it(`has times in order, a critical path without gaps, and the straggler (${name})`, () => {
      assertPlausible(trace);
      assertStraggler(trace);
    });
  }

  it('contains spans, memory, resources, metrics and profiles', () => {
    const trace = openTrace(writer.directory);
    const { tasks, strings } = trace;
    const spanOf = (prefix: string): string =>
      strings.get(tasks.span[tasks.prefix.findIndex((id) => strings.get(id) === prefix)]!);
    assert.equal(spanOf('join'), 'Alice/load');
    assert.equal(spanOf('slow'), 'default');
    assert.ok(trace.memory.process.every((bytes) => bytes > 1e6));
    assert.ok(trace.resources.figures.get('num_fds')?.some((count) => count > 0));
    const cpu = trace.totals.metrics.find(
      ({ prefix, activity }) => prefix === 'spin' && activity === 'thread-cpu',
    );
    const [, seconds] = counted.totals['spin compute'] ?? [0, 0];
    assert.ok(cpu !== undefined && cpu.value > 0.5 * seconds && cpu.value <= seconds);
    // The profiler takes a sample every 10 ms while tasks compute.
    const sampled = profileTree(trace, { key: 'slow' }).count * 0.01;
    const [, slow] = counted.totals['slow compute'] ?? [0, 0];
    assert.ok(Math.abs(sampled - slow) < 0.25 * slow, `${sampled} s of ${slow} s`);
  });

  it('contains the error of the failed task', () => {
    const { events, strings } = live.snapshot();
    const texts = Array.from(
      events.text,
      (id, row) => `${strings.get(events.topic[row]!)} ${strings.get(id)}`,
    );
    assert.ok(texts.some((text) => /^task-erred fail-.*ValueError\('boom 3'\)/.test(text)));
  });

  it('can be simulated with other numbers of workers', () => {
    const trace = live.snapshot();
    const [one, two, four] = [1, 2, 4].map((workers) => simulate(trace, { workers }).makespan);
    assert.ok(one! > two! && two! >= four!);
  });
});

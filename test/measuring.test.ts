// Measurements of a cluster through the public API: metrics, spans, profiles and memory, on threads and on processes.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { type Client, connect, MemorySampler, performanceReport, span } from 'longpole';
import { profiledPrefixes, profileTree } from 'longpole/analysis';
import { openTrace, type Trace } from 'longpole/trace';
import { measuredWith } from './support/measuredRuns.js';
import { measured } from './support/measuredTasks.js';
import { repositoryPath } from './support/repository.js';

const { spin, spinUntilOpen, holdUntilOpen, wait, read, fail, numbers, total } = measured;

/**
 * Returns the sums of the metrics by keys such as `execute,read,I/O,seconds`, once a condition holds. Each worker reports
 * its metrics separately.
 */
async function metricsOnce(
  client: Client,
  isSo: (metrics: ReadonlyMap<string, number>) => boolean,
): Promise<Map<string, number>> {
  for (;;) {
    const metrics = await client.runOnScheduler(
      ({ scheduler }) =>
        new Map(Array.from(scheduler.cumulativeWorkerMetrics, ([key, value]) => [key.join(), value])),
    );
    if (isSo(metrics)) return metrics;
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

/** Runs tasks until the CPU time of one is measured. An isolate may take a while to load its CPU clock. */
async function spinMeasured(client: Client): Promise<void> {
  do await client.compute(spin(0.02));
  while (!(await metricsOnce(client, () => true)).has('execute,spin,thread-cpu,seconds'));
}

/** Returns the sums of the metrics once all wanted keys are among them. */
function metricsWith(client: Client, ...wanted: readonly string[]): Promise<Map<string, number>> {
  return metricsOnce(client, (metrics) => wanted.every((key) => metrics.has(key)));
}

/** Records two tasks. Returns the number of their samples in the stopped recording. */
async function samplesOfRecording(client: Client, directory: string): Promise<number> {
  // The samples of these tasks arrive with those of the recorded ones.
  await client.compute([spin(0.2), spin(0.2)]);
  const stop = client.record(directory);
  await client.compute([spin(0.6), spin(0.6)]);
  const stopped = stop();
  const before = openTrace(directory);
  assert.equal(before.damage, undefined);
  assert.equal(before.tasks.length, 2);
  await stopped;
  const after = openTrace(directory);
  assert.equal(after.damage, undefined);
  assert.equal(after.tasks.length, 2);
  for (const task of after.samples.task) assert.ok(task < 0 || after.tasks.id.includes(task), `task ${task}`);
  const measured = (trace: Trace) =>
    Array.from(trace.metrics.value).reduce((sum, value) => sum + Math.abs(value), 0);
  assert.ok(measured(after) >= measured(before));
  await client.compute(spin(0.01));
  assert.equal(stop(), stopped, 'a second call returns the same promise');
  assert.equal(openTrace(directory).tasks.length, 2);
  return profileTree(after, { key: 'spin' }).count;
}

for (const processes of [false, true]) {
  describe(processes ? 'processes' : 'threads', () => {
    const start = (): Promise<Client> =>
      connect({ workers: 2, processes, profile: { interval: 0.002, cycleInterval: 0.1 } });

    test('the scheduler and the workers have equal metrics of tasks by prefix', async () => {
      await using client = await start();
      const results = await client.compute([read(1000), read(24)]);
      assert.deepEqual(results, [1000, 24]);
      await spinMeasured(client);
      await assert.rejects(client.compute(fail()), { code: 'ERR_LONGPOLE_TASK' });
      const bytes = 'execute,read,S3 Infrequent Access,bytes';
      await metricsWith(client, 'execute,fail,failed,seconds');
      // The two tasks may have run on different workers.
      const metrics = await metricsOnce(client, (all) => (all.get(bytes) ?? 0) >= 1024);
      const spun = ['thread-cpu', 'thread-noncpu', 'gc'].map(
        (of) => metrics.get(`execute,spin,${of},seconds`) ?? 0,
      );
      assert.ok(spun.reduce((all, one) => all + one, 0) >= 0.02, String(spun));
      assert.ok((metrics.get('execute,read,I/O,seconds') ?? 0) > 0);
      assert.equal(metrics.get(bytes), 1024);
      const digests = await client.run(
        ({ worker }: { worker: { digestsTotal: ReadonlyMap<readonly string[], number> } }) =>
          Array.from(worker.digestsTotal, ([key, value]) => [key.join(), value] as const),
      );
      const sum = Object.values(digests)
        .flat()
        .filter(([key]) => key === 'execute,default,read,S3 Infrequent Access,bytes')
        .reduce((all, [, value]) => all + value, 0);
      assert.equal(sum, 1024);
    });

    test('spans have tasks, code, metrics and idle time', async () => {
      await using client = await start();
      const loaded = span('Alice', () => span('load', () => [numbers(1000), numbers(2000)]));
      const outside = total(...loaded);
      assert.equal(await client.compute(outside), 3000);
      const found = await client.runOnScheduler(async ({ scheduler: { spans } }) => {
        let load = spans.get(['Alice', 'load']);
        while (load === undefined || !load.done || load.cumulativeWorkerMetrics.size < 2) {
          await new Promise((resolve) => setTimeout(resolve, 2));
          load = spans.get(['Alice', 'load']);
        }
        return { load, alice: spans.get(['Alice']), default: spans.get(['default']), ids: spans.ids };
      });
      assert.deepEqual(found.ids.toSorted(), ['Alice', 'Alice/load', 'default']);
      assert.equal(found.load.tasks, 2);
      assert.equal(found.load.states.memory, 2);
      assert.ok(found.load.nbytes >= 24_000);
      assert.equal(found.alice?.tasks, 2);
      assert.equal(found.default?.tasks, 1);
      assert.match(found.load.code.join('\n'), /measuring\.test\.[jt]s:\d+ {2}.*span\('load'/);
      const metrics = [...found.load.cumulativeWorkerMetrics].filter(([key]) => key.at(-1) === 'seconds');
      const isIdle = ([key]: (typeof metrics)[number]): boolean => key.includes('idle');
      const seconds = metrics.reduce((sum, one) => sum + (isIdle(one) ? 0 : one[1]), 0);
      const idle = metrics.find(isIdle)?.[1] ?? Number.NaN;
      // The scheduler may see the last completion, which ends the span, before the worker has measured its own overhead.
      // If the system preempts the worker in between, the measured seconds exceed the thread-seconds of the span.
      assert.ok(Math.abs(idle - Math.max(0, found.load.activeCpuSeconds - seconds)) < 1e-9);
    });

    test('the seconds of a run add up to its duration multiplied by the threads', async () => {
      await using client = await start();
      await client.compute(Array.from({ length: 8 }, () => spin(0.02)));
      await client.compute(Array.from({ length: 4 }, () => wait(0.02)));
      const shows = ['execute,wait,thread-noncpu,seconds', 'execute,spin,thread-cpu,seconds'];
      const { seconds, idle, inTasks, duration, offered } = await measuredWith(
        client,
        undefined,
        shows,
        1e-9,
      );
      assert.ok(Math.abs(inTasks - duration) < 1e-9, `${inTasks} of ${duration} s in tasks`);
      // The scheduler may see the last completion, which ends the span, before the worker has measured its own overhead.
      // If the system preempts the worker in between, the measured seconds exceed the thread-seconds of the span.
      assert.ok(Math.abs(seconds - Math.max(offered, seconds - idle)) < 1e-9, `${seconds} of ${offered} s`);
    });

    test('the profile contains the functions of a running task under its prefix', async () => {
      await using client = await start();
      const gate = new Int32Array(new SharedArrayBuffer(4));
      const running = processes ? client.submit(spin, 1e6) : client.submit(spinUntilOpen, gate);
      const prefix = processes ? 'spin' : 'spinUntilOpen';
      // Earlier samples may show the thread while it loads the module. Later samples may show `(runtime)`, if the
      // sample was taken between two instructions of the task.
      const samplesIn = async () => {
        const tree = await client.profile({ key: prefix });
        return Object.values(tree.children).find(({ description }) => description.name === prefix);
      };
      // Code that was optimised before profiling began has no name until the thread handles a second request, which
      // discards that code. If the main thread is preempted between both requests, samples lack the inner function.
      const inner = (node: typeof outer) =>
        Object.values(node?.children ?? {}).find(({ description }) => description.name === 'burn');
      let outer = await samplesIn();
      while ((inner(outer)?.count ?? 0) < 10) {
        await new Promise((resolve) => setTimeout(resolve, 2));
        outer = await samplesIn();
      }
      assert.equal(running.status, 'pending');
      assert.match(outer?.description.filename ?? '', /test\/support\/measuredTasks\.ts$/);
      assert.match(inner(outer)?.description.filename ?? '', /test\/support\/measuredTasks\.ts$/);
      assert.equal((await client.profile({ key: 'other' })).count, 0);
      assert.equal((await client.profile({ stop: 1 })).count, 0);
      const trees = await Promise.all(
        client.cluster.workers.map((workers) => client.profile({ key: prefix, workers })),
      );
      assert.equal(trees.filter(({ count }) => count > 0).length, 1);
      Atomics.store(gate, 0, 1);
      running.cancel();
    });

    test('the live trace, a recorded directory and a report contain the profile', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'longpole-profile-'));
      try {
        const directory = join(folder, 'run.trace');
        const filename = join(folder, 'report.html');
        const client = await start();
        client.record(directory);
        let tree = await client.profile({ key: 'spin' });
        await performanceReport({ client, filename }, async () => {
          while (tree.count < 20) {
            await client.compute([spin(0.2), spin(0.2)]);
            tree = await client.profile({ key: 'spin' });
          }
        });
        const reported = tree.count;
        // Another cycle may have ended meanwhile, so the tree and the trace are read in one turn of the event loop.
        tree = await client.profile({ key: 'spin' });
        const live = client.trace;
        assert.deepEqual(profileTree(live, { key: 'spin' }), tree);
        assert.ok(profiledPrefixes(live).some(({ prefix }) => prefix === 'spin'));
        const task = live.samples.task.find((id) => id >= 0) ?? -1;
        assert.ok(live.tasks.id.includes(task), 'the sample names a task of the trace');
        await client.close();
        const inReport = profileTree(openTrace(filename), { key: 'spin' });
        assert.ok(inReport.count >= reported, `${inReport.count} of ${reported}`);
        const recorded = openTrace(directory);
        assert.equal(recorded.damage, undefined);
        const whole = profileTree(recorded, { key: 'spin' });
        assert.ok(whole.count >= tree.count, `${whole.count} of ${tree.count}`);
        for (const [name, { count }] of Object.entries(tree.children))
          assert.ok((whole.children[name]?.count ?? 0) >= count, name);
      } finally {
        rmSync(folder, { recursive: true });
      }
    });

    test('a stopped recording has the samples of its own time, also the last ones, and is complete at once', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'longpole-stopped-'));
      try {
        // A cycle takes an hour, so only the end of the recording can have requested the samples.
        const profile = { interval: 0.002, cycleInterval: 3600 };
        await using client = await connect({ workers: 2, processes, profile });
        // A thread is sampled only after it has been busy for a while, and a thread without a core has no samples.
        // The test makes recordings until one has samples.
        for (let round = 0, samples = 0; samples === 0; round++)
          samples = await samplesOfRecording(client, join(folder, `${round}.trace`));
      } finally {
        rmSync(folder, { recursive: true });
      }
    });

    test('a MemorySampler samples the memory of the cluster while it computes', async () => {
      await using client = await start();
      const sampler = new MemorySampler();
      const future = client.submit(numbers, 1_000_000);
      await future.result();
      {
        await using _ = sampler.sample('managed', { measure: 'managed', interval: 0.02, client });
        while ((sampler.samples.get('managed')?.at(-1)?.bytes ?? 0) < 8e6)
          await new Promise((resolve) => setTimeout(resolve, 2));
      }
      assert.ok(client.memory().process > 0);
      // The reference keeps the result until here, because an unreachable future releases its result.
      future.release();
    });
  });
}

test('a MemorySampler sees the memory of a thread while the task that holds it runs', async () => {
  await using client = await connect({ workers: 2 });
  const sampler = new MemorySampler();
  const gate = new Int32Array(new SharedArrayBuffer(4));
  const first = client.memory();
  assert.ok(first.process > 0, 'there is a value before the first heartbeat');
  // Heartbeats may have seen less memory while the other worker started.
  assert.ok(first.optimistic > 0 && first.optimistic <= first.process, JSON.stringify(first));
  {
    await using _process = sampler.sample('process', { interval: 0.01, client });
    await using _recent = sampler.sample('recent', { measure: 'unmanaged_recent', interval: 0.01, client });
    const held = client.submit(holdUntilOpen, gate, 400e6);
    const latest = (label: string): number => sampler.samples.get(label)?.at(-1)?.bytes ?? 0;
    while (latest('process') < 400e6 || latest('recent') < 300e6)
      await new Promise((resolve) => setTimeout(resolve, 2));
    Atomics.store(gate, 0, 1);
    Atomics.notify(gate, 0);
    assert.equal(await held.result(), 400e6);
  }
  const { rows } = sampler.toTable();
  assert.equal(rows[0]?.['time'], 0, 'times count from the first sample');
});

test('the profile of a TypeScript module has the line numbers of its source', async () => {
  const folder = mkdtempSync(join(repositoryPath('dist-test'), 'lines-'));
  try {
    const file = join(folder, 'lines.ts');
    const lines = [
      "import { tasks } from 'longpole';",
      'interface Sums { readonly cheap: number; readonly dear: number }',
      'export const { sums } = tasks(import.meta.url, {',
      '  sums(seconds: number): Sums {',
      '    const end = performance.now() + seconds * 1000;',
      '    let cheap = 0;',
      '    let dear = 0;',
      '    while (performance.now() < end) {',
      '      cheap += 1;',
      '      for (let step = 0; step < 100_000; step++)',
      '        dear += Math.sqrt(step) * Math.sin(step);',
      '    }',
      '    return { cheap, dear };',
      '  },',
      '});',
    ];
    writeFileSync(file, lines.join('\n'));
    const script = join(folder, 'main.ts');
    writeFileSync(
      script,
      `import { connect } from 'longpole';
       import { sums } from './lines.ts';
       const client = await connect({ workers: 1, profile: { interval: 0.002, cycleInterval: 0.1 } });
       // V8 may hide the task, so that its samples have no line, until Longpole makes V8 compile it again.
       const withLine = (node) => Object.values(node?.lines ?? {}).reduce((sum, count) => sum + count, 0);
       let node;
       while (withLine(node) < 20) {
         await client.compute(sums(0.3));
         const { children } = await client.profile({ key: 'sums' });
         [node] = Object.values(children).filter(({ description }) => description.name === 'sums');
       }
       console.log(JSON.stringify({ ...node.description, lines: node.lines }));
       await client.close();`,
    );
    const { stdout } = await promisify(execFile)(process.execPath, ['--import', 'tsx', script]);
    const node: { filename: string; lineNumber: number; lines: Record<string, number> } = JSON.parse(stdout);
    assert.equal(node.filename, file);
    assert.equal(node.lineNumber, 4);
    // tsx compiles the module to one line. All samples are in the function, and most in its loops.
    const counts = Object.entries(node.lines).map(([line, count]) => ({ line: Number(line), count }));
    for (const { line } of counts) assert.ok(line >= 4 && line <= 14, stdout);
    const [hottest] = counts.sort((a, b) => b.count - a.count);
    assert.ok(hottest !== undefined && hottest.line >= 8 && hottest.line <= 11, stdout);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('a cluster without a live trace has metrics and a profile', async () => {
  const profile = { interval: 0.002, cycleInterval: 0.1 };
  await using client = await connect({ workers: 1, record: false, profile });
  assert.throws(() => client.trace, { code: 'ERR_LONGPOLE_INVALID_ARGUMENT' });
  do await client.compute(spin(0.1));
  while ((await client.profile({ key: 'spin', workers: client.cluster.workers })).count === 0);
  assert.equal((await client.profile({ key: 'spin', workers: 'unknown' })).count, 0);
  const metrics = await metricsWith(client, 'execute,spin,thread-cpu,seconds');
  assert.ok((metrics.get('execute,spin,thread-cpu,seconds') ?? 0) > 0);
});

test('client.profile() writes JSON, HTML, speedscope and pprof files', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'longpole-profile-'));
  try {
    await using client = await connect({ workers: 1, profile: { interval: 0.001, cycleInterval: 0.1 } });
    const file = (name: string): string => join(folder, name);
    // The first samples may show the thread outside the function of the task.
    const isSeen = async () => {
      const { children } = await client.profile({ key: 'spin' });
      return Object.values(children).some(({ description }) => description.name === 'spin');
    };
    while (!(await isSeen())) await client.compute(spin(0.2));
    const tree = await client.profile({ filename: file('profile.json') });
    assert.ok(tree.count > 0);
    assert.deepEqual(JSON.parse(readFileSync(file('profile.json'), 'utf8')), tree);
    await client.profile({ filename: file('profile.html') });
    assert.ok(profileTree(openTrace(file('profile.html')), { key: 'spin' }).count > 0);
    const [row] = client.getTaskStream({ filename: file('stream.html') });
    assert.equal(openTrace(file('stream.html')).tasks.keyOf(0), row?.key);
    await client.profile({ filename: file('a.speedscope.json') });
    assert.match(readFileSync(file('a.speedscope.json'), 'utf8'), /speedscope\.app/);
    await client.profile({ filename: file('a.pb') });
    assert.ok(readFileSync(file('a.pb')).includes('spin'));
    const scheduler = await client.profile({ scheduler: true });
    assert.equal(scheduler.identifier, 'root');
  } finally {
    rmSync(folder, { recursive: true });
  }
});

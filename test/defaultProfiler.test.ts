// registerDefaultProfiler on real clusters: the event files and their analysis.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { type Client, connect, delayed, LongpoleError } from 'longpole';
import { TraceAnalyser } from 'longpole/analysis';
import {
  type DefaultProfiler,
  EventProfiler,
  MultiEventDatabase,
  Pipeline,
  registerDefaultProfiler,
} from 'longpole/trace';

const LIMIT = { timeout: 300_000 };
const folder = mkdtempSync(join(tmpdir(), 'longpole-profiler-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const square = delayed((x: number) => x * x, { name: 'square' });
const total = delayed((values: readonly number[]) => values.reduce((a, b) => a + b, 0), { name: 'total' });

/** Computes on the cluster until the monitor has sampled the host and both workers. */
async function workUntilSampled(client: Client, profiler: DefaultProfiler): Promise<void> {
  const seen = new Set<unknown>();
  const stop = client.observe({
    resources: ({ worker, heap }) => {
      // A starting isolate has no heap size.
      if (!Number.isNaN(heap)) seen.add(worker);
    },
  });
  while (seen.size < 3)
    assert.equal(await client.compute(total([1, 2, 3].map((x) => square(x)))), 14, profiler.traceFile);
  stop();
}

describe('registerDefaultProfiler', () => {
  for (const processes of [false, true]) {
    it(
      `records a cluster of ${processes ? 'processes' : 'threads'} in the files of DASF`,
      LIMIT,
      async () => {
        const client = await connect({ workers: 2, processes });
        const name = processes ? 'processes' : 'threads';
        const profiler = registerDefaultProfiler(client, { name, addTimeSuffix: false, directory: folder });
        assert.equal(profiler.traceFile, join(folder, `${name}-TracePlugin-${hostname()}.msgpack`));
        assert.equal(profiler.resourceFile, join(folder, `${name}-ResourceMonitor-${hostname()}.msgpack`));
        await workUntilSampled(client, profiler);
        // Closing the cluster completes the files without a call of profiler.close().
        await client.close();
        const databases = [profiler.resourceFile, profiler.traceFile].map((file) => new EventProfiler(file));
        const analyser = new TraceAnalyser(new MultiEventDatabase(databases));
        const counts = new Map<unknown, number>();
        for (const row of analyser.perFunctionBottleneck().rows) {
          const { Function: fn, 'Num Tasks (chunks)': count } = row;
          counts.set(fn, (counts.get(fn) ?? 0) + Number(count));
        }
        assert.deepEqual([...counts.keys()].sort(), ['square', 'total']);
        assert.equal(counts.get('square'), 3 * (counts.get('total') ?? 0));
        const samples = [...databases[0]!.getTraces()];
        const origins = new Set(samples.map(({ threadId }) => threadId));
        assert.deepEqual(origins, new Set([null, `worker-${hostname()}-0`, `worker-${hostname()}-1`]));
        for (const { args } of samples) {
          const { memory, heap, event_loop_delay: delay } = args;
          assert.ok(memory === null || Number(memory) > 0, 'no ended process has a size');
          assert.ok(heap === null || Number(heap) > 1e5);
          assert.ok(delay === null || Number(delay) >= 0);
        }
        for (const origin of origins) {
          const own = samples.filter(({ threadId }) => threadId === origin);
          assert.ok(
            Math.max(...own.map(({ args: { memory } }) => Number(memory))) > 1e7,
            `${origin} has used more than 10 MB`,
          );
        }
        assert.ok(samples.some(({ threadId, args: { heap } }) => threadId !== null && heap !== null));
        profiler.close();
        profiler.close();
      },
    );
  }

  for (const processes of [false, true]) {
    const kind = processes ? 'processes' : 'threads';
    it(
      `records the shape of each result, and the memory of its worker after it, on ${kind}`,
      LIMIT,
      async () => {
        const client = await connect({ workers: 1, processes, profile: false });
        const name = `shapes-${kind}`;
        const log = (): void => undefined;
        const profiler = registerDefaultProfiler(client, {
          name,
          addTimeSuffix: false,
          directory: folder,
          log,
        });
        const make = delayed(
          (what: string): unknown =>
            ({
              typed: new Float32Array(5000),
              large: new Float64Array(100_000),
              nested: [
                [1, 2],
                [3, 4],
                [5, 6],
              ],
              object: { shape: [10, 2], data: new Float64Array(20) },
              none: 'text',
            })[what],
          { name: 'make' },
        );
        const kinds = ['typed', 'large', 'nested', 'object', 'none'];
        await client.compute(kinds.map((what) => make.withOptions({ key: what })(what)));
        await client.close();
        const events = [...new EventProfiler(profiler.traceFile).getTraces()];
        const shapes = events.flatMap(({ name: what, args }) =>
          what === 'Compute' ? [[args['key'], args['shape'], args['dtype']] as const] : [],
        );
        assert.deepEqual(
          new Map(shapes.map(([key, shape, dtype]) => [key, [shape, dtype]])),
          new Map<unknown, unknown>([
            ['typed', [[5000], 'float32']],
            ['large', [[100_000], 'float64']],
            ['nested', [[3, 2], 'unknown']],
            ['object', [[10, 2], 'unknown']],
            ['none', [[], 'unknown']],
          ]),
        );
        for (const [at, event] of events.entries()) {
          if (event.name !== 'Compute') continue;
          const { name: next, args, timestamp } = events[at + 1]!;
          assert.deepEqual(
            [next, args['key'], timestamp],
            ['Managed Memory', event.args['key'], event.timestamp],
          );
          assert.ok(Number(args['tasks']) >= 1);
        }
      },
    );
  }

  it('adds the time to the name, and accepts a pipeline with a client', LIMIT, async () => {
    await using client = await connect({ workers: 1 });
    const lines: string[] = [];
    const log = (line: string): number => lines.push(line);
    const pipeline = new Pipeline('timed', { client, log }).add(square, { x: 4 });
    using profiler = registerDefaultProfiler(pipeline, { directory: folder });
    assert.match(profiler.traceFile, /\/default-\d{10}-TracePlugin-/);
    assert.match(lines[0]!, /^Registered worker plugin: default-\d{10}-TracePlugin$/);
    assert.match(lines[1]!, /^Registered resource plugin: default-\d{10}-ResourceMonitor$/);
    assert.equal(lines.length, 2);
    assert.equal((await pipeline.run()).get('square'), 16);
    profiler.close();
    const names = Array.from(new EventProfiler(profiler.traceFile).getTraces(), ({ name }) => name);
    assert.ok(names.includes('Compute'));
  });

  it('leaves two files without events if it is closed at once', LIMIT, async () => {
    await using client = await connect({ workers: 1, profile: false });
    const options = { name: 'short', addTimeSuffix: false, directory: folder, log: () => undefined };
    const profiler = registerDefaultProfiler(client, options);
    profiler.close();
    const databases = [profiler.resourceFile, profiler.traceFile].map((file) => new EventProfiler(file));
    const analyser = new TraceAnalyser(new MultiEventDatabase(databases));
    assert.deepEqual(
      databases.map((database) => [...database.getTraces()].length),
      [0, 0],
    );
    assert.equal(analyser.perFunctionBottleneck().rows.length, 0);
  });

  it('refuses at once a file that it cannot write', LIMIT, async () => {
    await using client = await connect({ workers: 1, profile: false });
    const taken = join(folder, `taken-ResourceMonitor-${hostname()}.msgpack`);
    mkdirSync(taken);
    assert.throws(
      () => registerDefaultProfiler(client, { name: 'taken', addTimeSuffix: false, directory: folder }),
      (error: unknown) =>
        error instanceof LongpoleError &&
        error.code === 'ERR_LONGPOLE_TRACE_FILE' &&
        error.message.includes(taken),
    );
  });

  it('refuses a pipeline without a client, and names that are paths', LIMIT, async () => {
    const invalid = (error: unknown): boolean =>
      error instanceof LongpoleError && error.code === 'ERR_LONGPOLE_INVALID_ARGUMENT';
    assert.throws(() => registerDefaultProfiler(new Pipeline('alone')), invalid);
    await using client = await connect({ workers: 1 });
    assert.throws(() => registerDefaultProfiler(client, { name: '../x' }), invalid);
  });
});

/** Imitates NVIDIA's library with a tool attached: appends every call to the file that NVTX_RECORD names. */
const RECORDER = `
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static void record(const char *what, const char *message) {
  char line[512];
  int length = snprintf(line, sizeof line, "%s%s\\n", what, message);
  int file = open(getenv("NVTX_RECORD"), O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (write(file, line, length) < 0) abort();
  close(file);
}
int nvtxRangePushA(const char *message) { record("+", message); return 0; }
int nvtxRangePop(void) { record("-", ""); return 0; }
`;

const compiler = ['cc', 'gcc', 'clang'].find((name) => spawnSync(name, ['--version']).status === 0);

/** Runs the profiler in a separate program, because a process searches for the library only once. */
function nvtxProgram(processes: boolean, env: NodeJS.ProcessEnv): string {
  const program = join(folder, 'nvtx.mjs');
  const [longpole, trace] = ['longpole', 'longpole/trace'].map((name) => import.meta.resolve(name));
  writeFileSync(
    program,
    `import { connect, delayed } from '${longpole}';
import { registerDefaultProfiler } from '${trace}';
const client = await connect({ workers: 1, processes: ${processes} });
for (let i = 0; i < 2; i++) registerDefaultProfiler(client, { directory: '${folder}', enableNvtx: true }).close();
const twice = delayed((x) => 2 * x, { name: 'twice' });
const later = delayed(async (x) => x + 1, { name: 'later' });
const fails = delayed(() => { throw new Error('no'); }, { name: 'fails' });
console.log(await client.compute(later.withOptions({ key: 'later-1' })(twice.withOptions({ key: 'twice-1' })(4))));
await client.compute(fails.withOptions({ key: 'fails-1' })()).catch(() => undefined);
await client.close();
`,
  );
  const result = spawnSync(process.execPath, [program], {
    encoding: 'utf8',
    env: { ...process.env, ...env },
  });
  assert.equal(result.stdout, '9\n', result.stderr);
  return result.stderr;
}

describe('enableNvtx', { skip: process.platform === 'linux' ? false : 'needs Linux' }, () => {
  for (const processes of [false, true]) {
    const skip = compiler ? false : 'needs a C compiler';
    it(`marks tasks on worker ${processes ? 'processes' : 'threads'}`, { ...LIMIT, skip }, () => {
      const [source, library, record] = ['nvtx.c', 'nvtx.so', `marks-${processes}`].map((name) =>
        join(folder, name),
      );
      writeFileSync(source!, RECORDER);
      execFileSync(compiler ?? '', ['-shared', '-fPIC', '-o', library!, source!]);
      const errors = nvtxProgram(processes, { LONGPOLE_NVTX_LIBRARY: library, NVTX_RECORD: record });
      assert.doesNotMatch(errors, /NVTX/);
      assert.equal(readFileSync(record!, 'utf8'), '+twice-1\n-\n+later-1\n-\n+fails-1\n-\n');
    });
  }

  const present = [
    '/usr/lib/x86_64-linux-gnu/libnvToolsExt.so.1',
    '/usr/local/cuda/lib64/libnvToolsExt.so.1',
  ];
  const skip = present.some((path) => existsSync(path)) ? 'this machine has an NVTX library' : false;
  it('warns once that there is no library, and records without it', { ...LIMIT, skip }, () => {
    const errors = nvtxProgram(false, { LONGPOLE_NVTX_LIBRARY: undefined });
    assert.equal(errors.match(/There is no NVTX library/g)?.length, 1, errors);
  });
});

// Profiles for other programs: the files of `client.profile` and of `longpole export` contain the samples of the
// statistical profiler.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { connect } from 'longpole';
import { profileTree } from 'longpole/analysis';
import { openTrace, type Trace } from 'longpole/trace';
import { cumulative, readPprof } from '#internal/profile/pprofReader.test.support.js';
import { measured } from './support/measuredTasks.js';
import { repositoryPath } from './support/repository.js';

const { spin } = measured;
const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'longpole-exports-'));
const path = (name: string): string => join(folder, name);
/** Number of samples of all tasks in the files of client.profile. */
let counted = 0;
let trace: Trace;

interface Speedscope {
  readonly shared: { readonly frames: readonly { name: string; file?: string; line?: number }[] };
  readonly profiles: readonly {
    readonly type: string;
    readonly name: string;
    readonly startValue: number;
    readonly endValue: number;
    readonly samples?: readonly (readonly number[])[];
    readonly weights?: readonly number[];
  }[];
}

function speedscope(file: string): Speedscope {
  const text = readFileSync(path(file), 'utf8');
  return JSON.parse(text);
}

/** Returns the seconds per stack of all sampled profiles. A stack is the text of its function names. */
function stacksOf({ shared: { frames }, profiles }: Speedscope): Map<string, number> {
  const sums = new Map<string, number>();
  for (const { samples = [], weights = [] } of profiles) {
    assert.equal(samples.length, weights.length);
    for (const [index, stack] of samples.entries()) {
      const text = stack.map((frame) => frames[frame]?.name ?? assert.fail()).join(' > ');
      sums.set(text, (sums.get(text) ?? 0) + weights[index]!);
    }
  }
  return sums;
}

function isSpinning([stack]: [string, number]): boolean {
  return stack.startsWith('spin');
}

/** Returns the seconds of the samples whose outermost function is `spin`. */
function secondsSpun({ samples, frames, strings }: Trace): number {
  const outermost = (frame: number): number =>
    frames.parent[frame]! < 0 ? frame : outermost(frames.parent[frame]!);
  let seconds = 0;
  for (const [row, frame] of samples.frame.entries()) {
    const name = frame < 0 ? -1 : frames.functionName[outermost(frame)]!;
    if (name >= 0 && strings.get(name) === 'spin') seconds += samples.count[row]! * samples.interval[row]!;
  }
  return seconds;
}

interface Tree {
  readonly count: number;
  readonly description: { readonly name: string };
  readonly children: Readonly<Record<string, Tree>>;
}

const treeIn = (file: string): Tree => JSON.parse(readFileSync(path(file), 'utf8'));

/** Returns the number of samples that have the function on their stack. */
function samplesOf(name: string, { count, description, children }: Tree): number {
  if (description.name === name) return count;
  return Object.values(children).reduce((sum, child) => sum + samplesOf(name, child), 0);
}

const secondsIn = (stacks: Map<string, number>): number =>
  [...stacks].filter(isSpinning).reduce((sum, [, seconds]) => sum + seconds, 0);

/** Returns the samples with `spin` on their stack. */
function samplesSpun(bytes: Uint8Array): number {
  const { stacks, strings } = readPprof(bytes);
  assert.ok(strings.some((text) => text.endsWith('measuredTasks.ts')));
  return cumulative(stacks, 'spin');
}

before(async () => {
  await using client = await connect({ workers: 2, profile: { interval: 0.002, cycleInterval: 0.1 } });
  const stop = client.record(path('run.trace'));
  for (const worker of Object.keys(client.schedulerInfo().workers)) {
    const sampled = async () => (await client.profile({ key: 'spin', workers: [worker] })).count;
    while ((await sampled()) < 50) await client.submit(spin, 0.3, { workers: [worker] }).result();
  }
  // Files that are written later contain these samples, and possibly more.
  await client.profile({ filename: path('first.json') });
  await client.profile({ filename: path('profile.html') });
  await client.profile({ filename: path('profile.pb') });
  await client.profile({ filename: path('profile.pb.gz') });
  await client.profile({ filename: path('profile.speedscope.json') });
  counted = (await client.profile({ filename: path('profile.json') })).count;
  await stop();
  trace = openTrace(path('run.trace'));
});

after(() => rmSync(folder, { recursive: true }));

describe('client.profile writes', () => {
  test('a page, a tree and speedscope files with the same samples', () => {
    const page = openTrace(path('profile.html'));
    assert.ok(profileTree(page, { key: 'spin' }).count >= 100);
    assert.equal(treeIn('profile.json').count, counted);
    const seconds = [...stacksOf(speedscope('profile.speedscope.json')).values()].reduce((a, b) => a + b, 0);
    assert.ok(seconds > 0 && seconds <= counted * 0.002 * (1 + 1e-9));
  });

  test('pprof files, compressed and uncompressed', () => {
    const files = [readFileSync(path('profile.pb')), gunzipSync(readFileSync(path('profile.pb.gz')))];
    for (const samples of files.map(samplesSpun)) {
      assert.ok(samples >= samplesOf('spin', treeIn('first.json')));
      assert.ok(samples <= samplesOf('spin', treeIn('profile.json')));
    }
  });
});

describe('longpole export of a recorded run', () => {
  const exported = async (to: string, name: string): Promise<void> => {
    const cli = repositoryPath('dist/bundle/main.js');
    await run(process.execPath, [cli, 'export', path('run.trace'), '--to', to, '-o', path(name)]);
  };

  test('writes speedscope files with the samples of each thread over time, and with the task stream', async () => {
    await exported('speedscope', 'run.speedscope.json');
    const file = speedscope('run.speedscope.json');
    const sampled = file.profiles.filter(({ type }) => type === 'sampled');
    assert.deepEqual(
      sampled.map(({ name }) => name),
      ['worker-0, samples', 'worker-1, samples', ...sampled.slice(2).map(({ name }) => name)],
    );
    assert.equal(file.profiles.filter(({ type }) => type === 'evented').length, 2);
    const expected = secondsSpun(trace);
    assert.ok(expected > 0);
    assert.ok(Math.abs(secondsIn(stacksOf(file)) - expected) < 1e-6, `${expected} s`);
    for (const { weights = [], startValue, endValue } of sampled) {
      const sum = weights.reduce((a, b) => a + b, 0);
      assert.ok(weights.every((weight) => weight >= 0));
      assert.ok(Math.abs(sum - (endValue - startValue)) < 1e-6);
    }
    const spun = file.shared.frames.find(({ name, file: source }) => name === 'spin' && source !== undefined);
    assert.match(spun?.file ?? '', /measuredTasks\.ts$/);
    assert.ok((spun?.line ?? 0) > 0);
  });

  test('writes pprof files with samples', async () => {
    await exported('pprof', 'run.pb.gz');
    const bytes = gunzipSync(readFileSync(path('run.pb.gz')));
    assert.ok(samplesSpun(bytes) > 0);
    assert.ok(bytes.includes('burn'));
  });
});

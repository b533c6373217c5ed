// `longpole simulate` and `longpole diff`: exit codes, output and pages.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { exportTrace } from 'longpole/trace';
import { contending } from '#internal/analysis/findings/workloads.test.support.js';
import { syntheticTrace } from '#internal/trace/syntheticTrace.test.support.js';
import { longpoleIn } from './support/longpoleCommands.js';

const folder = mkdtempSync(join(tmpdir(), 'longpole-what-if-'));

process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

const run = longpoleIn(folder);
const longpole = (...args: string[]) => run(args, { env: { COLUMNS: '80' } });

/** Writes a Chrome trace of 40 loads and 40 fits on two threads. `fit` multiplies the durations of the fits. */
function record(name: string, fit: number): string {
  const events = [];
  const free = [0, 0];
  for (let i = 0; i < 80; i++) {
    const tid = i % 2;
    const [prefix, times] = i % 4 < 2 ? ['load', 1] : ['fit', fit];
    const dur = (900_000 + ((i * 37) % 21) * 10_000) * Number(times);
    events.push({ ph: 'X', name: prefix, cat: 'task', pid: 1, tid, ts: free[tid], dur });
    free[tid] = (free[tid] ?? 0) + dur;
  }
  const file = join(folder, name);
  writeFileSync(file, JSON.stringify({ traceEvents: events }));
  return file;
}

const before = record('before.json', 1);
const slower = record('slower.json', 1.5);

describe('longpole simulate', () => {
  it('prints the makespan for each number of workers, in 80 columns', async () => {
    const { code, stdout, stderr } = await longpole('simulate', before, '--workers', '1,2,4');
    assert.equal(code, 0, stderr);
    assert.match(stdout, /Workers +\(s\)/);
    assert.match(stdout, /Beyond \d+ workers/);
    for (const line of stdout.split('\n')) assert.ok(line.length <= 80, line);
  });

  it('says that a lock bounds the makespan, in text and JSON', async () => {
    exportTrace(syntheticTrace(contending(5)), { to: 'html', output: join(folder, 'locked.html') });
    const { stdout } = await longpole('simulate', 'locked.html');
    assert.match(
      stdout,
      /\nNo number of workers makes it faster than 5 s:\nfor this time, tasks wait for Lock 'x' while others hold it\.\n$/,
    );
    const json = await longpole('simulate', 'locked.html', '--json');
    assert.deepEqual(JSON.parse(json.stdout).lock, { object: "Lock 'x'", seconds: 5 });
    const free = await longpole('simulate', before);
    assert.doesNotMatch(free.stdout, /No number of workers/);
  });

  it('prints JSON, with all options for the simulation', async () => {
    const conditions = [
      '--faster',
      'fit=2',
      '--faster',
      'load=2',
      '--bandwidth',
      '10Gbit',
      '--memory-limit',
      '4GB',
    ];
    const { code, stdout, stderr } = await longpole(
      'simulate',
      before,
      '--json',
      '--workers',
      '2',
      ...conditions,
    );
    assert.equal(code, 0, stderr);
    const { rows }: { rows: { workers: number; makespan: number; low: number; high: number }[] } =
      JSON.parse(stdout);
    assert.equal(rows.length, 1);
    assert.ok(Math.abs(rows[0]!.makespan - 20) < 1, stdout);
    assert.ok(rows[0]!.low < 20 && rows[0]!.high > 20);
  });

  it('ends with 2 on invalid options', async () => {
    for (const args of [
      ['--workers', '0'],
      ['--faster', 'fit'],
      ['--faster', 'nope=2'],
      ['--bandwidth', 'much'],
      ['--scheduler-overhead', 'much'],
      ['--scheduler-overhead', ''],
      ['--split', 'fit=10000000'],
    ]) {
      const { code, stderr } = await longpole('simulate', before, ...args);
      assert.equal(code, 2, args.join(' '));
      assert.notEqual(stderr, '');
    }
  });
});

describe('longpole diff', () => {
  it('prints which prefix became slower', async () => {
    const { code, stdout, stderr } = await longpole('diff', before, slower);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /prefix +fit +slower/);
    assert.match(stdout, /prefix +load +noise/);
  });

  it('ends with 1 if the run is slower than --fail-over allows, and with 2 on invalid input', async () => {
    const failed = await longpole('diff', before, slower, '--fail-over', '5%');
    assert.equal(failed.code, 1);
    assert.match(failed.stdout, /Slower than allowed/);
    assert.equal((await longpole('diff', before, slower, '--fail-over', '50%')).code, 0);
    assert.equal((await longpole('diff', slower, before, '--fail-over', '0.05')).code, 0);
    assert.equal((await longpole('diff', before, 'missing.json')).code, 2);
    assert.equal((await longpole('diff', before, slower, '--fail-over', 'some')).code, 2);
    const large = await longpole('diff', before, slower, '--fail-over', '5');
    assert.equal(large.code, 2);
    assert.match(large.stderr, /'5' would be 500 %\. Write 5% or 0\.05/);
  });

  it('writes its result as a self-contained page with --page', async () => {
    const { code, stderr } = await longpole('diff', before, slower, '--page', 'diff.html');
    assert.equal(code, 0, stderr);
    assert.match(stderr, /diff\.html/);
    const html = readFileSync(join(folder, 'diff.html'), 'utf8');
    assert.match(html, /<script id="longpole-diff"[^>]*>[\w+/=]{100,}</);
    assert.doesNotMatch(html, /<(script|link|img)\b[^>]+(src|href)=/);
    const nowhere = await longpole('diff', before, slower, '--page', 'diff.html/page.html');
    assert.deepEqual([nowhere.code, nowhere.stdout], [2, '']);
    assert.match(nowhere.stderr, /cannot be written: a file has the name of a folder/);
  });

  it('accepts several runs of each side, and prints JSON', async () => {
    const runs = [1.49, 1.5, 1.51].map((times, i) => record(`slower-${i}.json`, times));
    const befores = [0.99, 1, 1.01].map((times, i) => record(`before-${i}.json`, times));
    const { code, stdout } = await longpole(
      'diff',
      befores.join(','),
      runs.join(','),
      '--json',
      '--fail-over',
      '5%',
    );
    assert.equal(code, 1);
    const { failed, rows }: { failed: boolean; rows: { name: string; p: number | null }[] } =
      JSON.parse(stdout);
    assert.equal(failed, true);
    assert.equal(rows.find(({ name }) => name === 'makespan')?.p, 0.1);
  });
});

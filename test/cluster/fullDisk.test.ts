// A disk that is full when results are spilled. A limit on the size of files simulates a full disk without a special file
// system: a write then fails with EFBIG instead of ENOSPC.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { packageUrl, withFolder } from '../support/programs.js';
import { KINDS } from './support.js';

const TIMEOUT_MS = 300_000;

interface Report {
  /** `time` in milliseconds. */
  readonly warnings: readonly { readonly code: string; readonly message: string; readonly time: number }[];
  readonly errors: readonly { readonly code: string; readonly key: string; readonly message: string }[];
  readonly kept: number;
  readonly whole: number;
  readonly deaths: number;
  readonly paused: boolean;
  readonly afterwards: number;
}

/**
 * Returns a program that makes 70 arrays of 8 MB, which do not all fit into memory, and prints a `Report`. The memory
 * limit is large compared with an array, so that the memory of a running task does not end its worker.
 */
function program(processes: boolean, options: string): string {
  return `
    import { connect } from '${packageUrl('index')}';
    const warnings = [];
    process.on('warning', ({ code, message }) => warnings.push({ code, message, time: performance.now() }));
    const client = await connect({ workers: 2, processes: ${processes}, memoryLimit: ${processes ? 300e6 : 200e6}, localDirectory: process.argv[2], ${options} });
    let deaths = 0;
    let paused = false;
    client.observe({
      workerRemoved: () => void deaths++,
      event: ({ topic }) => {
        if (topic === 'worker-restarted') deaths++;
        if (topic === 'worker-paused') paused = true;
      },
    });
    const fill = (length, value) => new Float64Array(length).fill(value);
    const futures = client.map(fill, Array(70).fill(1e6), Array.from({ length: 70 }, (_, index) => index));
    const reasons = await Promise.all(futures.map((future) => future.exception()));
    const errors = reasons.filter((reason) => reason !== undefined).map(({ code, key, message }) => ({ code, key, message }));
    let whole = 0;
    for (const [index, future] of futures.entries()) {
      if (reasons[index] !== undefined) continue;
      const value = await future.result();
      if (value.length === 1e6 && value[0] === index && value[999_999] === index) whole++;
      future.release();
    }
    const kept = reasons.length - errors.length;
    const afterwards = await client.submit((value) => value.length, client.submit(fill, 1e6, 1)).result();
    console.log(JSON.stringify({ warnings, errors, kept, whole, deaths, paused, afterwards }));
    await client.close();
  `;
}

/** Runs a program that can write 1 KiB into each file: its cluster starts, but cannot spill results. */
async function runOnFullDisk(folder: string, source: string): Promise<Report> {
  const file = join(folder, 'program.mjs');
  writeFileSync(file, source);
  const limited = 'trap "" XFSZ; ulimit -f 1; exec "$0" "$@"';
  const child = spawn('bash', ['-c', limited, process.execPath, file, folder], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (text: Buffer) => {
    output.stdout += String(text);
  });
  child.stderr.on('data', (text: Buffer) => {
    output.stderr += String(text);
  });
  const [code] = await once(child, 'close');
  assert.equal(code, 0, output.stderr);
  const report: Report = JSON.parse(output.stdout.trim().split('\n').at(-1) ?? '');
  return report;
}

for (const kind of KINDS) {
  const processes = kind === 'processes';
  test(
    `${kind}: a full disk fails the tasks whose results do not fit into memory, and ends no worker`,
    { timeout: TIMEOUT_MS },
    () =>
      withFolder(async (folder) => {
        const report = await runOnFullDisk(folder, program(processes, ''));
        assert.equal(report.deaths, 0);
        assert.ok(report.paused);
        assert.deepEqual(
          new Set(report.warnings.map(({ code }) => code)),
          new Set(['LONGPOLE_SPILL_FAILED']),
        );
        // The cluster repeats the warning after a minute, which a slow machine may take.
        for (const [index, { time }] of report.warnings.entries())
          assert.ok(
            time - (report.warnings[index - 1]?.time ?? Number.NEGATIVE_INFINITY) > 30_000,
            `${time} ms`,
          );
        for (const { message } of [report.warnings[0]!, report.errors[0]!]) {
          assert.match(message, /\d MB of results cannot be spilled to \S+: EFBIG/);
          assert.ok(message.includes(folder), message);
          assert.match(message, /[\d.]+ MB of [\d.]+ MB are free there\..*localDirectory/);
        }
        assert.ok(report.errors.length > 0 && report.kept > 0, JSON.stringify(report));
        for (const { code, message } of report.errors) {
          assert.equal(code, 'ERR_LONGPOLE_DISK_FULL');
          assert.equal(
            message,
            report.errors[0]!.message,
            'all tasks of the computation have the same error',
          );
        }
        const { key, message } = report.errors[0]!;
        assert.ok(message.includes(`Task '${key}' (function fill)`), message);
        assert.match(message, /The memory limit of a worker is \d+ MB/);
        assert.equal(report.whole, report.kept);
        assert.equal(report.afterwards, 1e6);
      }),
  );
}

test(
  'tasks whose results do not fit into memory fail with the memory limit if spilling is off',
  { timeout: TIMEOUT_MS },
  () =>
    withFolder(async (folder) => {
      const report = await runOnFullDisk(folder, program(false, 'memory: { target: false, spill: false }'));
      assert.equal(report.deaths, 0);
      assert.deepEqual(report.warnings, []);
      assert.equal(report.errors[0]?.code, 'ERR_LONGPOLE_MEMORY_LIMIT');
      assert.match(report.errors[0].message, /^Task '.*limit of a worker is 200 MB.*spilling is off/);
      assert.equal(report.whole, report.kept);
      assert.equal(report.afterwards, 1e6);
    }),
);

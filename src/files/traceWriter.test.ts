import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { playScript } from '../trace/live/clusterScript.test.support.js';
import { openTrace } from './openTrace.js';
import { TraceWriter } from './traceWriter.js';

const folder = mkdtempSync(join(tmpdir(), 'longpole-trace-'));
after(() => rmSync(folder, { recursive: true, force: true }));

test('a recording has the tasks of a program that blocks its event loop', ({ mock }) => {
  for (const [step, least] of [
    [0, 0],
    [2001, 40],
  ] as const) {
    let now = 0;
    mock.method(performance, 'now', () => {
      now += step;
      return now;
    });
    const directory = join(folder, `${step}.trace`);
    const writer = TraceWriter.create(directory, { interval: 1 });
    playScript(writer, { seed: 4, sizes: [40] });
    const { length } = openTrace(directory).tasks;
    assert.ok(
      least === 0 ? length === 0 : length >= least,
      `${length} tasks with ${step} ms between two events`,
    );
    writer.close();
  }
});

test('a recording whose end cannot be written in a second file has its failure in meta.json', () => {
  const directory = join(folder, 'full.trace');
  const writer = TraceWriter.create(directory);
  playScript(writer, { seed: 4, sizes: [40] });
  // A full disk has no room for a new file either.
  mkdirSync(join(directory, 'meta.json.new'));
  assert.throws(() => writer.close(), { code: 'ERR_LONGPOLE_TRACE_FILE' });
  const { damage, tasks } = openTrace(directory);
  assert.ok(tasks.length >= 40);
  assert.match(damage?.reason ?? '', /meta\.json cannot be written/);
});

test('a recording that cannot open all its files leaves none, so that the next one may have its name', {
  skip: process.platform !== 'linux' && 'limits the number of files with the ulimit of Linux',
}, () => {
  const directory = join(folder, 'limited.trace');
  const program = `
    import { closeSync, openSync } from 'node:fs';
    import { TraceWriter } from ${JSON.stringify(new URL('./traceWriter.js', import.meta.url).href)};
    const files = [];
    try {
      for (;;) files.push(openSync('/dev/null'));
    } catch {}
    // Room for meta.json and the first tables.
    for (const file of files.splice(-3)) closeSync(file);
    try {
      TraceWriter.create(${JSON.stringify(directory)});
    } catch ({ code }) {
      console.log(code);
    }
  `;
  const limited = ['-c', 'ulimit -n 64; exec "$0" --input-type=module -e "$1"', process.execPath, program];
  const { stdout, stderr } = spawnSync('sh', limited, { encoding: 'utf8' });
  assert.equal(stdout, 'ERR_LONGPOLE_TRACE_FILE\n', stderr);
  assert.deepEqual(readdirSync(directory), []);
});

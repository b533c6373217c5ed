// What `longpole run` and `longpole analyze` say about tasks that had not ended when a signal ended the program.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { programTimes } from 'longpole/analysis';
import { openTrace } from 'longpole/trace';
import { packageUrl, withFolder } from './support/programs.js';
import { repositoryPath } from './support/repository.js';
import { runCommand } from './support/runCommand.js';

const INDEX = JSON.stringify(packageUrl('index'));

/** Runs a task to its end, and is ended while the first `concurrentTasks` of three others run. */
const PROGRAM = `
import { connect, Event } from ${INDEX};
const concurrentTasks = Number(process.argv[2]);
const client = await connect({ workers: 1, concurrentTasks });
await client.submit(function quick() { return 1; }).result();
client.map(async function endless(i) {
  const { Event } = await import(${INDEX});
  await new Event('begun ' + i).set();
  await new Promise(() => undefined);
}, [1, 2, 3]);
for (let i = 1; i <= concurrentTasks; i++) await new Event('begun ' + i).wait();
setInterval(() => undefined, 1000);
process.kill(process.pid, 'SIGTERM');
`;

for (const [ran, others] of [
  [1, ', 2 had not started (2 endless)'],
  [3, ''],
] as const) {
  test(`the summary and the analyses say that ${ran} of 3 tasks ran when a signal ended the program, and when that was`, () =>
    withFolder(async (cwd) => {
      writeFileSync(join(cwd, 'main.mjs'), PROGRAM);
      const longpole = (...args: string[]) =>
        runCommand(process.execPath, [repositoryPath('dist/bundle/main.js'), ...args], { cwd });
      const { code, stderr } = await longpole('run', '--trace', 't.trace', 'main.mjs', String(ran));
      assert.equal(code, 143, stderr);
      const cutOff = `3 tasks had not ended when the program ended: ${ran} ran`;
      const text = stderr.replaceAll(/\s+/g, ' ');
      assert.ok(text.includes(`cut off ${cutOff} (endless-`), text);
      assert.ok(text.includes(`)${others}. workers`), text);
      assert.ok(text.includes('Only of the tasks that ended.'), text);
      assert.doesNotMatch(text, /No number of workers|what if/);
      const times = programTimes(openTrace(join(cwd, 't.trace')));
      // Its tasks may have run until the end.
      assert.ok(times !== undefined && times.before > 0 && times.after === 0);
      const analysed = await longpole('analyze', 't.trace');
      assert.ok(analysed.stdout.startsWith(cutOff), analysed.stdout);
      const simulated = await longpole('simulate', 't.trace');
      assert.ok(simulated.stdout.includes(`${cutOff} (`), simulated.stdout);
    }));
}

/** Each of two tasks holds a lock and waits for that of the other, until a signal ends the program. */
const DEADLOCK = `
import { connect } from ${INDEX};
const client = await connect({ workers: 2 });
client.map(async function transfer(from, to) {
  const { Event, Lock } = await import(${INDEX});
  await new Lock(from).acquire();
  await new Event(from).set();
  await new Event(to).wait();
  await new Lock(to).acquire();
}, ['accounts', 'orders'], ['orders', 'accounts']);
const waiting = async () => (await client.dump()).shared.filter(({ what, waits }) => what === 'Lock' && waits.length > 0);
while ((await waiting()).length < 2) continue;
setInterval(() => undefined, 1000);
process.kill(process.pid, 'SIGINT');
`;

test('the summary names the locks for which tasks waited when a signal ended the program', () =>
  withFolder(async (cwd) => {
    writeFileSync(join(cwd, 'main.mjs'), DEADLOCK);
    const args = [repositoryPath('dist/bundle/main.js'), 'run', '--no-dashboard', 'main.mjs'];
    const { stderr } = await runCommand(process.execPath, args, { cwd });
    const text = stderr.replaceAll(/\s+/g, ' ');
    assert.match(
      text,
      / Calls waited for Lock '\w+': held by transfer-\w+; waits: acquire of transfer-\w+ for /,
    );
    for (const lock of ['accounts', 'orders']) assert.ok(text.includes(` for Lock '${lock}': held by`), text);
  }));

/** Ends while its cluster closes, e.g. because an error of the closing cluster ends the program. */
const CLOSING = `
import { connect, LocalCluster } from ${INDEX};
const cluster = await LocalCluster.start({ workers: 1 });
const client = await connect(cluster);
await client.submit(function quick() { return 1; }).result();
client.submit(function endless() { return new Promise(() => undefined); });
setImmediate(() => {
  void cluster.close();
  process.exit(3);
});
`;

test('the summary says only once which tasks had not ended, if the program ends while its cluster closes', () =>
  withFolder(async (cwd) => {
    writeFileSync(join(cwd, 'main.mjs'), CLOSING);
    const { code, stderr } = await runCommand(
      process.execPath,
      [repositoryPath('dist/bundle/main.js'), 'run', '--no-dashboard', 'main.mjs'],
      { cwd },
    );
    assert.equal(code, 3, stderr);
    assert.match(stderr, /\ncut off {4}1 task had not ended when the cluster closed: 1 endless\.\n/);
    assert.doesNotMatch(stderr, /when the program ended/);
  }));

/** Is ended while a task runs and another one waits for its worker. */
const LOCAL = `
import { compute, delayed } from ${INDEX};
const begun = new Int32Array(new SharedArrayBuffer(4));
const endless = delayed(async function endless(begun) {
  Atomics.store(begun, 0, 1);
  Atomics.notify(begun, 0);
  await new Promise(() => undefined);
});
void compute([1, 2].map(() => endless(begun)), { numWorkers: 1 });
await Atomics.waitAsync(begun, 0, 0).value;
process.kill(process.pid, 'SIGTERM');
`;

test('the summary names the tasks of a local scheduler that had not ended when a signal ended the program', () =>
  withFolder(async (cwd) => {
    writeFileSync(join(cwd, 'main.mjs'), LOCAL);
    const args = [repositoryPath('dist/bundle/main.js'), 'run', '--no-dashboard', 'main.mjs'];
    const { stderr } = await runCommand(process.execPath, args, { cwd });
    const text = stderr.replaceAll(/\s+/g, ' ');
    assert.ok(text.includes('cut off 2 tasks had not ended when the program ended: 2 endless.'), text);
  }));

/** Computes without returning to its event loop, and is ended when the trace has rows of tasks. */
const BLOCKED = `
import { statSync } from 'node:fs';
import { getSync } from ${JSON.stringify(packageUrl('local'))};
const size = () => statSync('t.trace/tasks.arrows').size;
const empty = size();
const cell = new Int32Array(new SharedArrayBuffer(4));
const step = () => {
  if (size() > empty) process.kill(process.pid, 'SIGINT');
  Atomics.wait(cell, 0, 0, 10);
};
const graph = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => ['step-' + i, [step]]));
getSync(graph, Object.keys(graph));
`;

test('the summary has the tasks of getSync that had ended when Ctrl+C ended the program, and the number of the others', () =>
  withFolder(async (cwd) => {
    writeFileSync(join(cwd, 'main.mjs'), BLOCKED);
    const args = [
      repositoryPath('dist/bundle/main.js'),
      'run',
      '--no-dashboard',
      '--trace',
      't.trace',
      'main.mjs',
    ];
    const { stderr } = await runCommand(process.execPath, args, { cwd });
    const [, done, others] =
      /ended by SIGINT\ntasks {6}([\d,]+) done in 1 computation.*?\ncut off {4}([\d,]+) tasks had not ended where the recording breaks off\.\n/s.exec(
        stderr,
      ) ?? [];
    const number = (text = 'NaN'): number => Number(text.replaceAll(',', ''));
    assert.equal(number(done) + number(others), 20_000, stderr);
    assert.doesNotMatch(stderr, /No number of workers|what if/);
  }));

// Events of the inspector interrupt any JavaScript of the main thread.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Ended, packageUrl, runProgram, withFolder } from './support/programs.js';
import { repositoryPath } from './support/repository.js';
import { runCommand } from './support/runCommand.js';

/**
 * Answers of a thread call `process.nextTick`, while the main thread does nothing but turns and ticks. The program ends
 * with 1 if the ticks of former turns did not run.
 */
const PROGRAM = `
  import { Worker } from 'node:worker_threads';
  import { announceThread, inspectThread } from ${JSON.stringify(repositoryPath('dist/engine/profiler/threadInspector.js'))};
  announceThread('thread', () => false);
  new Worker('setInterval(() => {}, 1000)', { eval: true, name: 'thread' });
  let [answers, ticked, missed] = [0, 0, 0];
  inspectThread('thread', (channel) => {
    const ask = () => channel.send('Runtime.evaluate', { expression: '1' }, () => {
      process.nextTick(() => {});
      if (++answers === 5000) process.reallyExit(0);
      ask();
    });
    for (let i = 0; i < 4; i++) ask();
  });
  const turn = (number) => {
    if (ticked < number - 1 && ++missed > 1000) process.reallyExit(1);
    process.nextTick(() => (ticked = number));
    setImmediate(turn, number + 1);
  };
  turn(1);
`;

test('answers of a thread that call nextTick do not stop the queue of ticks', async () => {
  const { code, stderr } = await runCommand(process.execPath, ['--input-type=module', '-e', PROGRAM]);
  assert.equal(code, 0, stderr);
});

/** Runs a program whose cluster has a profiler. Returns what the program printed as errors. */
const profiled = (folder: string, nodeArguments: readonly string[]): Promise<Ended> =>
  runProgram(
    folder,
    `import { connect, delayed } from '${packageUrl('index')}';
    const warned = new Int32Array(new SharedArrayBuffer(4));
    process.on('warning', ({ code }) => code === 'LONGPOLE_NO_PROFILE' && Atomics.store(warned, 0, 1));
    // A profiler starts when a thread has been busy for a while.
    const spin = delayed(function spin(warned) {
      while (Atomics.load(warned, 0) === 0);
    });
    const client = await connect({ workers: 1, profile: { interval: 0.001, cycleInterval: 0.05 } });
    await client.compute(spin(warned));
    await client.close();`,
    { nodeArguments },
  );

function onlyWarned({ code, stderr }: Ended, other: string): void {
  assert.equal(code, 0);
  assert.match(stderr, new RegExp(`LONGPOLE_NO_PROFILE.*Longpole takes no profile.*\`${other}\``));
  assert.doesNotMatch(stderr, /consoleProfile/);
}

test('beside --cpu-prof a cluster takes no profile, and only a warning says so', async () => {
  await withFolder(async (folder) =>
    onlyWarned(await profiled(folder, ['--cpu-prof', `--cpu-prof-dir=${folder}`]), '--cpu-prof'),
  );
});

test('while Node measures coverage, a cluster takes no profile, and only a warning says so', async () => {
  await withFolder(async (folder) => {
    process.env['NODE_V8_COVERAGE'] = join(folder, 'coverage');
    const ended = profiled(folder, []);
    delete process.env['NODE_V8_COVERAGE'];
    onlyWarned(await ended, 'NODE_V8_COVERAGE');
  });
});

test('without the permission to use the inspector, a cluster takes no profile', async () => {
  const program = `
    import { connect } from '${packageUrl('index')}';
    const client = await connect({ workers: 1 });
    // The profiler of the program's thread starts when it has been busy for a while.
    while (performance.eventLoopUtilization().active < 300) await client.submit(() => 1).result();
    console.log((await client.profile()).count);
    await client.close();`;
  const flag = process.allowedNodeEnvironmentFlags.has('--permission')
    ? '--permission'
    : '--experimental-permission';
  const nodeArguments = [flag, '--allow-fs-read=*', '--allow-fs-write=*', '--allow-worker', '--no-warnings'];
  const { code, stdout, stderr } = await withFolder((folder) =>
    runProgram(folder, program, { nodeArguments }),
  );
  assert.deepEqual([code, stdout], [0, '0\n'], stderr);
});

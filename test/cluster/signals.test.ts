// A signal ends a program that has a cluster. The program removes its folder, closes its trace and exits by the signal.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openTrace } from 'longpole/trace';
import { packageUrl, runProgram, withFolder } from '../support/programs.js';
import { KINDS } from './support.js';

const PROGRAM = `
import { connect, LocalCluster } from '${packageUrl('index')}';
const [folder, kind, signal] = process.argv.slice(2);
const cluster = await LocalCluster.start({
  workers: 1, processes: kind === 'processes', dashboard: false, localDirectory: folder + '/workers',
});
const client = await connect(cluster);
client.record(folder + '/run.trace');
await client.submit((value) => value + 1, 1).result();
setInterval(() => {}, 1000);
process.kill(process.pid, signal);
`;

for (const kind of KINDS) {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    test(`${kind}: ${signal} removes the program's folder and closes its trace`, () =>
      withFolder(async (folder) => {
        const ended = await runProgram(folder, PROGRAM, { arguments: [folder, kind, signal] });
        assert.equal(ended.signal, signal, ended.stderr);
        assert.deepEqual(readdirSync(join(folder, 'workers')), []);
        const trace = openTrace(join(folder, 'run.trace'));
        assert.equal(trace.damage, undefined);
        assert.equal(trace.tasks.length, 1);
      }));
  }
}

const HANDLES = `
import { readdirSync } from 'node:fs';
import { connect, LocalCluster } from '${packageUrl('index')}';
const folder = process.argv[2] + '/workers';
const cluster = await LocalCluster.start({ workers: 1, dashboard: false, localDirectory: folder });
const client = await connect(cluster);
process.once('SIGHUP', async () => {
  console.log(readdirSync(folder).length, await client.submit((value) => value + 1, 1).result());
  process.exit(7);
});
setInterval(() => {}, 1000);
process.kill(process.pid, 'SIGHUP');
`;

test('a signal that the program handles does not close its cluster, and the folder is removed at the exit', () =>
  withFolder(async (folder) => {
    const { code, stdout, stderr } = await runProgram(folder, HANDLES, { arguments: [folder] });
    assert.deepEqual([code, stdout], [7, '1 2\n'], stderr);
    assert.deepEqual(readdirSync(join(folder, 'workers')), []);
  }));

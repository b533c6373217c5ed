// Preloaded module that holds back every worker thread of its process until the file in LONGPOLE_TEST_GATE exists. A
// thread that is held back creates the same file with the suffix `.waiting`.
import { existsSync, writeFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

const gate = process.env['LONGPOLE_TEST_GATE'];
if (!isMainThread && gate !== undefined) {
  const pause = new Int32Array(new SharedArrayBuffer(4));
  writeFileSync(`${gate}.waiting`, '');
  while (!existsSync(gate)) Atomics.wait(pause, 0, 0, 2);
}

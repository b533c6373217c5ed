// Runs several test files in this process, one after the other. Node and the shared modules are loaded once; loading
// takes longer than most unit tests.
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { endedFiles, FILE_END } from './testEvents.mjs';

/** Functions that close what the files share. Node calls its own `after` hooks behind the first file. */
const closing = [];
globalThis[Symbol.for('longpole:afterFiles')] = (close) => void closing.push(close);

for (const [index, file] of process.argv.slice(2).entries()) {
  try {
    await import(pathToFileURL(file).href);
  } catch (error) {
    test('the file is imported', () => {
      throw error;
    });
  }
  // Tests run in the order of their registration. When this one ends, all tests of the file have ended.
  await test(FILE_END, () => undefined);
  // Node >= 24 passes events on later. They must be on the disk before the next file, which may end this process.
  while (endedFiles() <= index) await setImmediate();
}
for (const close of closing) await close();

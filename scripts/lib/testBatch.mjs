// Runs the test files in its arguments in this process, one after the other. Node and the modules that the files share
// are loaded once: most unit tests need less time than that.
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { FILE_END } from './testEvents.mjs';

for (const file of process.argv.slice(2)) {
  try {
    await import(pathToFileURL(file).href);
  } catch (error) {
    test('the file is imported', () => {
      throw error;
    });
  }
  // Tests run in the order of their registration: when this one ends, all tests of the file have ended.
  await test(FILE_END, () => undefined);
}

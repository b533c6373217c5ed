import assert from 'node:assert/strict';
import { test } from 'node:test';
import { flushAtExit, nothingToFlush } from './exitFlush.js';

test('computations one after the other leave no listeners for signals while a recording is open', (context) => {
  const recording = (): void => undefined;
  context.after(() => nothingToFlush(recording));
  const before = process.listenerCount('SIGINT');
  flushAtExit(recording, false);
  for (let computation = 0; computation < 3; computation++) {
    const run = (): void => undefined;
    flushAtExit(run);
    assert.equal(process.listenerCount('SIGINT'), before + 1);
    nothingToFlush(run);
    assert.equal(process.listenerCount('SIGINT'), before);
  }
});

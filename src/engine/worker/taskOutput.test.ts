import assert from 'node:assert/strict';
import { it } from 'node:test';
import { watchOutput } from './taskOutput.js';

it('a character whose bytes are written one by one is recorded as this character', () => {
  const recorded: string[] = [];
  watchOutput(({ text }) => recorded.push(text));
  for (const byte of Buffer.from('tür\n')) process.stderr.write(Uint8Array.of(byte));
  for (const stream of [process.stdout, process.stderr]) Reflect.deleteProperty(stream, 'write');
  assert.deepEqual(recorded, ['tür']);
});

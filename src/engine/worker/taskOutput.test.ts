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

it('a text in hexadecimal digits or Base64 is recorded as it is printed', () => {
  const recorded: string[] = [];
  watchOutput(({ text }) => recorded.push(text));
  const hex = Buffer.from('tür\n').toString('hex');
  process.stdout.write(hex.slice(0, 4), 'hex');
  process.stdout.write(hex.slice(4), 'hex');
  process.stderr.write(Buffer.from('zu\n').toString('base64'), 'base64');
  process.stderr.write('auf\n', 'utf8');
  for (const stream of [process.stdout, process.stderr]) Reflect.deleteProperty(stream, 'write');
  assert.deepEqual(recorded, ['tür', 'zu', 'auf']);
});

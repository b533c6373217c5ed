import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Progress } from './progress.js';

test('a bar appears after a second of work, is drawn at most ten times a second, and is removed', () => {
  let time = 0;
  const written: string[] = [];
  const progress = new Progress('reading', {
    enabled: true,
    now: () => time,
    write: (text) => written.push(text),
  });
  progress.part(0.1);
  time = 1500;
  progress.part(0.255);
  time = 1550;
  progress.part(0.3);
  time = 1700;
  progress.bytes(12_345_678);
  progress.end();
  progress.end();
  assert.deepEqual(written, [
    `\r\u001b[Kreading [${'#'.repeat(10)}${' '.repeat(30)}] 25%`,
    '\r\u001b[Kreading 12.3 MB',
    '\r\u001b[K',
  ]);
});

test('nothing is written for short work, or without a terminal', () => {
  let time = 0;
  const written: string[] = [];
  const write = (text: string) => written.push(text);
  const short = new Progress('x', { enabled: true, now: () => time, write });
  short.part(0.5);
  short.end();
  const piped = new Progress('x', { enabled: false, now: () => time, write });
  time = 5000;
  piped.part(0.5);
  piped.end();
  assert.deepEqual(written, []);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Progress, requested } from './progress.js';

test('a bar appears after a second of work, is drawn at most ten times a second, and is removed', () => {
  let time = 0;
  const written: string[] = [];
  const progress = new Progress('reading', {
    enabled: true,
    lines: false,
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

test('where stderr is no terminal, each update is a line, at most one per second', () => {
  let time = 0;
  const written: string[] = [];
  const options = { lines: true, now: () => time, write: (text: string) => written.push(text) };
  const progress = new Progress('analysing', { ...options, ...requested(true) });
  for (; time < 2500; time += 500) progress.part(time / 4000);
  progress.end();
  assert.deepEqual(written, [
    `analysing [${' '.repeat(40)}] 0%\n`,
    `analysing [${'#'.repeat(10)}${' '.repeat(30)}] 25%\n`,
    `analysing [${'#'.repeat(20)}${' '.repeat(20)}] 50%\n`,
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

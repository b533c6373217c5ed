import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { writePieces } from './writePieces.js';

const folder = mkdtempSync(join(tmpdir(), 'longpole-replace-'));
after(() => rmSync(folder, { recursive: true }));

test('a file that replaces a private one stays private', () => {
  const file = join(folder, 'private.json');
  writeFileSync(file, 'earlier');
  chmodSync(file, 0o600);
  writePieces(file, ['later']);
  assert.deepEqual([readFileSync(file, 'utf8'), statSync(file).mode & 0o777], ['later', 0o600]);
});

test('a file may have the longest name that the system allows', () => {
  for (const name of ['x'.repeat(255), 'é'.repeat(127)]) {
    writePieces(join(folder, name), ['content']);
    assert.ok(readdirSync(folder).includes(name));
  }
});

test('files with the same long beginning may be written at the same time', () => {
  const beginning = join(folder, 'x'.repeat(100));
  const [first, second] = [`${beginning}a`, `${beginning}b`];
  function* pieces(): Generator<string> {
    yield 'one ';
    writePieces(second, ['other']);
    yield 'two';
  }
  writePieces(first, pieces());
  assert.deepEqual([readFileSync(first, 'utf8'), readFileSync(second, 'utf8')], ['one two', 'other']);
});

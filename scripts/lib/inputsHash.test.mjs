import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { hashOf } from './inputsHash.mjs';

test('the hash of files changes with each content and name, and not with times, tests and other files', () => {
  const root = mkdtempSync(join(tmpdir(), 'longpole-hash-'));
  try {
    const write = (path, text) => writeFileSync(join(root, path), text);
    mkdirSync(join(root, 'src/deep'), { recursive: true });
    write('lock.json', '{}');
    write('src/a.ts', 'a');
    write('src/deep/b.ts', 'b');
    write('other.ts', 'c');
    const hash = () => hashOf(root, ['src', 'lock.json', 'installed.json']);
    const seen = [hash()];
    utimesSync(join(root, 'src/a.ts'), 0, 0);
    write('other.ts', 'd');
    write('src/a.test.ts', 'e');
    assert.equal(hash(), seen[0]);
    for (const change of [
      () => write('src/deep/b.ts', 'c'),
      () => write('lock.json', '[]'),
      () => write('installed.json', '[]'),
      () => write('src/empty.ts', ''),
      () => renameSync(join(root, 'src/empty.ts'), join(root, 'src/deep/empty.ts')),
      () => rmSync(join(root, 'src/a.ts')),
    ]) {
      change();
      seen.push(hash());
    }
    assert.equal(new Set(seen).size, seen.length);
  } finally {
    rmSync(root, { recursive: true });
  }
});

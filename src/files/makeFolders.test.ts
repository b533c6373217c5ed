import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { makeFolders } from './writePieces.js';

const folder = mkdtempSync(join(tmpdir(), 'longpole-folders-'));
after(() => rmSync(folder, { recursive: true }));

test('folders are made with their missing parents, and may exist already', () => {
  const path = join(folder, 'a/b/c');
  makeFolders(path, 0o700);
  makeFolders(path);
  assert.equal(statSync(path).mode & 0o777, 0o700);
});

test('a folder that cannot be made is an error of the system, without delay', {
  skip: process.platform !== 'linux',
}, () => {
  writeFileSync(join(folder, 'file'), '');
  for (const path of [
    join(folder, 'file'),
    join(folder, 'file/below'),
    '/proc/nothing',
    '/proc/nothing/below',
  ])
    assert.throws(() => makeFolders(path), /E(EXIST|NOTDIR|NOENT)/, path);
});

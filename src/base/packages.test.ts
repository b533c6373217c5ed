import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

test('a bundled program, which does not find the packages, gets an error that says to keep Longpole outside', () => {
  const folder = mkdtempSync(join(tmpdir(), 'longpole-bundle-'));
  try {
    for (const file of ['packages.js', 'errors.js', 'isError.js', 'visibleText.js'])
      copyFileSync(new URL(file, import.meta.url), join(folder, file));
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    const program = join(folder, 'program.js');
    writeFileSync(
      program,
      `import { loadPackage } from './packages.js';
      try { loadPackage('acorn'); } catch (error) { console.log(error.code, error.message); }`,
    );
    const printed = execFileSync(process.execPath, [program], { encoding: 'utf8' });
    assert.match(
      printed,
      /^ERR_LONGPOLE_INSTALLATION The package 'acorn' .*packages\.js.*--external:longpole/,
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});

// A program that was bundled together with Longpole, so that Longpole cannot find the packages that it loads later.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { withFolder } from './support/programs.js';
import { repositoryPath } from './support/repository.js';

test('a bundled program without the packages gets an error that names the bundler option --external:longpole', () =>
  withFolder(async (folder) => {
    cpSync(repositoryPath('dist/base'), folder, { recursive: true });
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
  }));

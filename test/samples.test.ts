// Every code sample of the documentation does what its page says; test/support/samples.ts has the rules. Names and files that
// a page takes for granted, such as a `client`, are in test/samples/.
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { repositoryPath } from './support/repository.js';
import { runCommand } from './support/runCommand.js';
import { SampleRoot } from './support/sampleFolder.js';
import { SamplePage } from './support/samplePage.js';

const temporary = mkdtempSync(join(tmpdir(), 'longpole-samples-'));
const root = new SampleRoot(temporary);
after(() => {
  root.close();
  rmSync(temporary, { recursive: true, force: true });
});

function pagesIn(folder: string): string[] {
  const paths = readdirSync(repositoryPath(folder), { recursive: true, encoding: 'utf8' });
  return paths
    .filter((path) => path.endsWith('.md'))
    .map((path) => `${folder}/${path}`)
    .sort();
}

const pages = ['README.md', 'CONTRIBUTING.md', 'bench/README.md', ...pagesIn('examples'), ...pagesIn('docs')]
  .map((path) => new SamplePage(root, path))
  .filter(({ hasCode }) => hasCode);

test('every sample in TypeScript has correct types', async () => {
  // One compiler checks the modules of all pages.
  await Promise.allSettled(pages.map((page) => page.written));
  const compilerOptions = {
    target: 'ES2023',
    module: 'NodeNext',
    lib: ['ES2023', 'ESNext.Disposable'],
    types: ['node'],
    strict: true,
    skipLibCheck: true,
    allowJs: true,
    noEmit: true,
  };
  const config = { compilerOptions, include: ['*/modules/*.ts'] };
  writeFileSync(join(temporary, 'tsconfig.json'), JSON.stringify(config));
  const tsc = repositoryPath('node_modules/typescript/bin/tsc');
  const { code, stdout } = await runCommand(process.execPath, [tsc, '-p', temporary]);
  assert.equal(code, 0, stdout);
});

for (const page of pages) {
  test(`the samples of ${page.path} do what the page shows`, async (t) => {
    for (const reason of await page.check()) t.diagnostic(reason);
  });
}

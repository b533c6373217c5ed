// Builds everything that is shipped and tested: the TypeScript projects (one per environment), the bundle of the
// package, then the browser pages, each bundled to one HTML file. There is no `--watch`, because a build without changes
// takes about a second: the compiler and the hash of what is bundled skip what they have done.
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { hashOf } from './lib/inputsHash.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const PAGES = ['dashboard', 'diff'];
/** What the bundle and the pages are made of. The compiled modules are made of the same. */
const INPUTS = [
  'src',
  'scripts',
  'package.json',
  // What npm has installed.
  'node_modules/.package-lock.json',
  ...['base', 'browser', 'node', 'pure'].map((name) => `tsconfig.${name}.json`),
];
const OUTPUTS = ['bundle/main.js', 'worker/bundle', ...PAGES.map((page) => `dashboard/${page}.html`)];
/** Has the hash of the inputs of the last complete build. The package contains no files with this ending. */
const BUILT = `${root}dist/bundled.tsbuildinfo`;

const run = (script, args, environment = {}) =>
  execFileSync(process.execPath, [script, ...args], {
    cwd: root,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'inherit', 'inherit'],
  });

function isBuilt(inputs) {
  if (!OUTPUTS.every((path) => existsSync(`${root}dist/${path}`))) return false;
  return existsSync(BUILT) && readFileSync(BUILT, 'utf8') === inputs;
}

function bundle() {
  run('scripts/bundle.mjs', []);
  chmodSync(`${root}dist/bundle/main.js`, 0o755);
  for (const page of PAGES) {
    run(
      'node_modules/vite/bin/vite.js',
      ['build', '--config', 'src/dashboard/vite.config.mjs', '--logLevel', 'warn'],
      { LONGPOLE_PAGE: page },
    );
  }
}

run('node_modules/typescript/bin/tsc', ['-b']);
const inputs = hashOf(root, INPUTS);
if (!isBuilt(inputs)) {
  rmSync(BUILT, { force: true });
  bundle();
  writeFileSync(BUILT, inputs);
}

// Builds everything that is shipped and tested: the TypeScript projects (one per environment), the bundle of the
// package, then the browser pages, each bundled to one HTML file. There is no `--watch`, because an incremental build
// takes about a second.
import { execFileSync } from 'node:child_process';
import { chmodSync } from 'node:fs';

const root = new URL('..', import.meta.url);
const run = (script, args, environment = {}) =>
  execFileSync(process.execPath, [script, ...args], {
    cwd: root,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'inherit', 'inherit'],
  });

run('node_modules/typescript/bin/tsc', ['-b']);
run('scripts/bundle.mjs', []);
chmodSync(new URL('dist/bundle/main.js', root), 0o755);
for (const page of ['dashboard', 'diff']) {
  run(
    'node_modules/vite/bin/vite.js',
    ['build', '--config', 'src/dashboard/vite.config.mjs', '--logLevel', 'warn'],
    { LONGPOLE_PAGE: page },
  );
}

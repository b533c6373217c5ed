// Builds everything that is shipped and tested: the TypeScript projects (one per environment), then the browser
// pages, each bundled to one HTML file. There is no `--watch`, because an incremental build takes about a second.
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync } from 'node:fs';

const root = new URL('..', import.meta.url);
const run = (script, args, environment = {}) =>
  execFileSync(process.execPath, [script, ...args], {
    cwd: root,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'inherit', 'inherit'],
  });

run('node_modules/typescript/bin/tsc', ['-b']);
const cli = new URL('dist/cli/main.js', root);
if (existsSync(cli)) chmodSync(cli, 0o755);
for (const page of ['dashboard', 'diff']) {
  run(
    'node_modules/vite/bin/vite.js',
    ['build', '--config', 'src/dashboard/vite.config.mjs', '--logLevel', 'warn'],
    { LONGPOLE_PAGE: page },
  );
}

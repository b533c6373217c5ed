// Commands that shell samples find in their PATH instead of those of the machine. `npm` checks that a script exists. `jq`
// checks that its input is JSON. `npx longpole` is `longpole`; for another
// program, `npx` checks that the file of its last argument exists. `view` is `longpole view` until it prints
// its link.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { repositoryPath } from './repository.js';

const [name, ...args] = process.argv.slice(2);
const CLI = repositoryPath('dist/bundle/main.js');

function npm([command, script]: readonly string[]): number {
  const manifest: { name: string; scripts: Record<string, string> } = JSON.parse(
    readFileSync(repositoryPath('package.json'), 'utf8'),
  );
  if (command === 'ci') return 0;
  if (command === 'test' || command === 'run') return (script ?? command) in manifest.scripts ? 0 : 1;
  return command === 'install' && script === manifest.name ? 0 : 1;
}

function npx([program, ...options]: readonly string[]): number {
  if (program !== 'longpole') return existsSync(options.at(-1) ?? '') ? 0 : 1;
  return spawnSync(process.execPath, [CLI, ...options], { stdio: 'inherit' }).status ?? 1;
}

function view(options: readonly string[]): void {
  const child = spawn(process.execPath, [CLI, 'view', '--no-open', '--port', '0', ...options], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    process.stdout.write(text);
    if (text.includes('http://')) child.kill('SIGINT');
  });
  child.once('exit', (code) => {
    process.exitCode = code ?? 1;
  });
}

if (name === 'npm') process.exitCode = npm(args);
else if (name === 'jq') JSON.parse(readFileSync(0, 'utf8'));
else if (name === 'npx') process.exitCode = npx(args);
else view(args);

// Writes the outputs of `longpole … --help` into docs/command-line.md. Run this script after a build when an option has
// changed.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const file = new URL('../docs/command-line.md', import.meta.url);
const cli = fileURLToPath(new URL('../dist/bundle/main.js', import.meta.url));
const FENCE = /^```text\n\$ longpole (.*)\n[\s\S]*?^```$/gm;

function helpOf(words) {
  const environment = { ...process.env, COLUMNS: '100', NO_COLOR: '1' };
  return execFileSync(process.execPath, [cli, ...words.split(' ')], {
    encoding: 'utf8',
    env: environment,
  }).trimEnd();
}

const text = readFileSync(file, 'utf8');
writeFileSync(
  file,
  text.replace(FENCE, (_, words) => `\`\`\`text\n$ longpole ${words}\n${helpOf(words)}\n\`\`\``),
);

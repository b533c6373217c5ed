#!/usr/bin/env node
// The `longpole` command. Each command has a file of its own; this one only knows their names.
import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { addDemo } from './demo.js';

/** Exit code of wrong usage. 1 is for a program or a check that failed. */
const WRONG_USAGE = 2;

const program = new Command('longpole')
  .description('Runs task graphs on every core and finds what a parallel computation is waiting for.')
  .version(readVersion(), '-v, --version', 'print the version')
  .helpOption('-h, --help', 'print this text')
  .enablePositionalOptions()
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : WRONG_USAGE));
addDemo(program);
await program.parseAsync();

function readVersion(): string {
  const { version }: { version: string } = JSON.parse(
    readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
  );
  return version;
}

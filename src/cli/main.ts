#!/usr/bin/env node
// The `longpole` command. Each command has a file of its own, loaded when it is named: together they load most of Longpole.
import { Command } from 'commander';
import { ownVersion } from './ownVersion.js';
import { WRONG_USAGE } from './terminal.js';

type AddCommand = (program: Command) => void;

/** In the order of the help. */
const COMMANDS: ReadonlyMap<string, () => Promise<AddCommand>> = new Map([
  ['run', async () => (await import('./run.js')).addRun],
  ['view', async () => (await import('./view.js')).addView],
  ['analyze', async () => (await import('./analyze.js')).addAnalyze],
  ['export', async () => (await import('./export.js')).addExport],
  ['diff', async () => (await import('./diff.js')).addDiff],
  ['simulate', async () => (await import('./simulate.js')).addSimulate],
  ['dask', async () => (await import('./dask.js')).addDask],
  ['demo', async () => (await import('./demo.js')).addDemo],
]);

const program = new Command('longpole')
  .description('Runs task graphs on every core and finds what a parallel computation is waiting for.')
  .version(ownVersion(), '-v, --version', 'print the version')
  .helpOption('-h, --help', 'print this text')
  .enablePositionalOptions()
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : WRONG_USAGE));

// The program's own options stand before the command and end it, so a command is the first argument or there is none.
const named = COMMANDS.get(process.argv[2] ?? '');
for (const load of named === undefined ? COMMANDS.values() : [named]) (await load())(program);
await program.parseAsync();

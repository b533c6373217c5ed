#!/usr/bin/env node
// The `longpole` command. Only the module of the named command is loaded, because all together load most of Longpole.
import { Command } from 'commander';
import { packageVersion } from '../api/packageVersion.js';
import { visibleText } from '../base/visibleText.js';
import { WRONG_USAGE } from './terminal.js';

type AddCommand = (program: Command) => void;

/** Commands in the order of the help. */
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

const VERSION_OPTIONS = ['-v', '--version'];

function longpole(): Command {
  return new Command('longpole')
    .description('Runs task graphs on every core and finds what a parallel computation waits for.')
    .version(packageVersion(), VERSION_OPTIONS.join(', '), 'print the version')
    .helpOption('-h, --help', 'print this text')
    .configureOutput({
      outputError: (text, write) => write(visibleText(text.replace(/^error: /, 'longpole: '))),
    })
    .enablePositionalOptions()
    .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : WRONG_USAGE));
}

/** Makes a command and its own commands name their help after an error of usage. */
function adviseHelp(command: Command, parent: string): void {
  const path = `${parent} ${command.name()}`;
  command.showHelpAfterError(`See ${path} --help.`);
  for (const inner of command.commands) adviseHelp(inner, path);
}

/** Runs the command of `process.argv`. The file of the bundle calls and awaits it, see scripts/bundle.mjs. */
export async function start(): Promise<void> {
  const program = longpole();
  // --version and --help are the only options before a command, so a command is always the first argument.
  const first = process.argv[2] ?? '';
  const named = COMMANDS.get(first);
  // Only the help, and the message about an unknown command, name all commands.
  const all = VERSION_OPTIONS.includes(first) ? [] : COMMANDS.values();
  for (const load of named === undefined ? all : [named]) (await load())(program);
  if (named === undefined && first !== '')
    program.showHelpAfterError(`The commands are ${[...COMMANDS.keys()].join(', ')}: see longpole --help.`);
  for (const command of program.commands) adviseHelp(command, 'longpole');
  await program.parseAsync();
}

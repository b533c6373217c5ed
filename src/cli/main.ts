#!/usr/bin/env node
// The `longpole` command. Each command has a file of its own; this one only knows their names.
import { Command } from 'commander';
import { addAnalyze } from './analyze.js';
import { addDask } from './dask.js';
import { addDemo } from './demo.js';
import { addDiff } from './diff.js';
import { addExport } from './export.js';
import { ownVersion } from './ownVersion.js';
import { addRun } from './run.js';
import { addSimulate } from './simulate.js';
import { WRONG_USAGE } from './terminal.js';
import { addView } from './view.js';

const program = new Command('longpole')
  .description('Runs task graphs on every core and finds what a parallel computation is waiting for.')
  .version(ownVersion(), '-v, --version', 'print the version')
  .helpOption('-h, --help', 'print this text')
  .enablePositionalOptions()
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : WRONG_USAGE));
addRun(program);
addView(program);
addAnalyze(program);
addExport(program);
addDiff(program);
addSimulate(program);
addDask(program);
addDemo(program);
await program.parseAsync();

import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { runScript } from './runScript.js';

/** The program of `examples/parse-sources`, which is part of the package and parses its options itself. */
const PROGRAM = fileURLToPath(new URL('../examples/parse-sources/main.js', import.meta.url));

/** `longpole demo`: runs a program with a real input that every installation has. */
export function addDemo(program: Command): void {
  program
    .command('demo')
    .description('parse every JavaScript file of node_modules in parallel, and show what every core did')
    .argument('[options...]', 'see longpole demo --help')
    .helpOption(false)
    .allowUnknownOption()
    .passThroughOptions()
    .action(async (args: readonly string[]) => {
      process.exitCode = (await runScript(PROGRAM, args, { nodeArguments: ['--enable-source-maps'] })).code;
    });
}

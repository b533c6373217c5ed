// `longpole view`: the pages of the dashboard over a recorded trace.
import { basename } from 'node:path';
import type { Command } from 'commander';
import { viewTrace } from '../api/trace.js';
import { openBrowser } from './openBrowser.js';
import { type InputOptions, maxUnpackedOption, openInput } from './openInput.js';
import { CommandError, failingLater, interrupted, print, runCommand, WRONG_USAGE } from './terminal.js';

interface Options extends InputOptions {
  readonly port?: number;
  readonly host?: string;
  readonly token?: string;
  readonly open: boolean;
}

export function addView(program: Command): void {
  program
    .command('view')
    .description('look at a recorded trace in a browser')
    .argument(
      '<trace...>',
      'a trace directory, a report, Chrome Trace JSON, or event files of DASF, which are read as one trace',
    )
    .option('-p, --port <number>', 'listen at this port (default: 8787, or any that is free)', Number)
    .option('--host <address>', 'listen at this address; others than 127.0.0.1 ask for a token')
    .option('--token <secret>', 'ask for this token; 16 letters, digits, - or _ at least')
    .option('--no-open', 'only print the link')
    .addOption(maxUnpackedOption)
    .addHelpText('after', '\nCtrl-C ends it.')
    .action((files: readonly string[], options: Options) => runCommand(() => runView(files, options)));
}

async function runView(files: readonly string[], { open, maxUnpacked, ...options }: Options): Promise<void> {
  const [opened, another] = openInput(files, { maxUnpacked });
  if (opened === undefined || another !== undefined)
    throw new CommandError('These are several traces: look at them one by one.', WRONG_USAGE);
  const title = opened.files.map((file) => basename(file)).join(' + ');
  const server = await failingLater(WRONG_USAGE, viewTrace(opened.trace, { ...options, title }));
  server.keepAlive();
  // Who reads the link may end it at once.
  const end = interrupted();
  await print(`${server.link}\n`);
  if (open && process.stdout.isTTY) openBrowser(server.link);
  await end;
  await server.close('longpole view was ended.');
}

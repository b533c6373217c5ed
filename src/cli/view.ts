// `longpole view`: serves the dashboard of a recorded trace.
import { basename } from 'node:path';
import type { Command } from 'commander';
import { viewTrace } from '../api/viewTrace.js';
import { openBrowser, type PageOptions, withPageOptions } from './openBrowser.js';
import { type InputOptions, ONE_TRACE, openInput, withInputOptions } from './openInput.js';
import { CommandError, failingLater, interrupted, print, runCommand, WRONG_USAGE } from './terminal.js';

type Options = InputOptions & PageOptions;

export function addView(program: Command): void {
  withInputOptions(
    withPageOptions(
      program
        .command('view')
        .description('serve the dashboard of a recorded trace')
        .argument('<trace...>', ONE_TRACE),
    ),
  ).action((files: readonly string[], options: Options) => runCommand(() => runView(files, options)));
}

async function runView(
  files: readonly string[],
  { open, maxUnpacked, progress, ...options }: Options,
): Promise<void> {
  const [opened, another] = openInput(files, { maxUnpacked, progress });
  if (opened === undefined || another !== undefined)
    throw new CommandError('The files are several traces. View them one by one.', WRONG_USAGE);
  const title = opened.files.map((file) => basename(file)).join(' + ');
  const server = await failingLater(WRONG_USAGE, viewTrace(opened.trace, { ...options, title }));
  server.keepAlive();
  // The reader of the link may send a signal at once.
  const end = interrupted();
  await print(`${server.link}\n`);
  if (open && process.stdout.isTTY) openBrowser(server.link);
  await end;
  await server.close('longpole view was ended.');
}

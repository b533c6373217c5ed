// `longpole view`: serves the dashboard of a recorded trace.
import { basename, resolve } from 'node:path';
import type { Command } from 'commander';
import { viewTrace } from '../api/viewTrace.js';
import { openBrowser, type PageOptions, withPageOptions } from './openBrowser.js';
import { type InputOptions, ONE_TRACE, openOne, withInputOptions } from './openInput.js';
import { failingLater, interrupted, print, runCommand, WRONG_USAGE } from './terminal.js';

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
  const opened = openOne(files, { maxUnpacked, progress });
  const title = opened.files.map((file) => basename(resolve(file))).join(' + ');
  const server = await failingLater(WRONG_USAGE, viewTrace(opened.trace, { ...options, title }));
  server.keepAlive();
  // The reader of the link may send a signal at once.
  const end = interrupted();
  await print(`${server.link}\n`);
  if (open && process.stdout.isTTY) openBrowser(server.link);
  await end;
  await server.close('longpole view was ended.');
}

// Options of commands that serve a dashboard, and opening its link in the user's browser.
import { spawn } from 'node:child_process';
import { type Command, InvalidArgumentError } from 'commander';
import { note } from './terminal.js';

export interface PageOptions {
  readonly port?: number;
  readonly host?: string;
  readonly token?: string;
  readonly open: boolean;
}

/** Adds the options of PageOptions to a command, which serves until Ctrl-C. */
export function withPageOptions(command: Command): Command {
  return command
    .option('-p, --port <number>', 'port of the dashboard (default: 8787, or a free port)', parsePort)
    .option('--host <address>', 'address of the dashboard (default: 127.0.0.1); others require a token')
    .option('--token <secret>', 'token that viewers need, of at least 16 letters, digits, - or _')
    .option('--no-open', 'only print the link')
    .addHelpText('after', '\nPress Ctrl-C to end the command.');
}

function parsePort(text: string): number {
  if (/^\d+$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new InvalidArgumentError('Pass a whole number from 0 to 65535.');
}

/** Opens a link. Without a browser, prints a note; the caller has printed the link. */
export function openBrowser(link: string): void {
  const [command, ...args] =
    process.platform === 'darwin'
      ? ['open', link]
      : process.platform === 'win32'
        ? ['explorer.exe', link]
        : ['xdg-open', link];
  const child = spawn(command ?? '', args, { detached: true, stdio: 'ignore' });
  child.on('error', () => note('longpole: no browser was found. Open the link in a browser.'));
  child.unref();
}

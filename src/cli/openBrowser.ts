// Opens a link in the user's browser.
import { spawn } from 'node:child_process';
import { note } from './terminal.js';

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

// The command `longpole dask` in tests.
import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { afterEach } from 'node:test';
import { repositoryPath } from '../support/repository.js';
import { CONNECT_SECONDS } from './nodeCluster.js';

/** Registers a hook; call it at the top of a test file. @param folder for the files of the commands */
export function useLongpoleDask(folder: string) {
  /** Processes that a failed test can leave behind, and that would keep plugins on the shared cluster. */
  const started: ChildProcess[] = [];
  afterEach(() => {
    for (const child of started.splice(0)) child.kill('SIGKILL');
  });
  return {
    started,
    longpoleDask(command: string, args: readonly string[], python: string, detached = false): ChildProcess {
      const program = [repositoryPath('dist/bundle/main.js'), 'dask', command, ...args];
      const child = spawn(
        process.execPath,
        [...program, '--python', python, '--timeout', String(CONNECT_SECONDS)],
        { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'], detached },
      );
      started.push(child);
      return child;
    },
  };
}

/** Waits until the output of a process matches the pattern. Returns the output so far. */
export async function outputWith(stream: Readable, pattern: RegExp): Promise<string> {
  let text = '';
  for await (const chunk of stream.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
    text += chunk;
    if (pattern.test(text)) return text;
  }
  throw new Error(`The process ended with the output: ${text}`);
}

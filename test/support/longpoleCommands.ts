// Runs commands of `longpole` in one process, which loads them once. Tests of what a process does start
// `dist/bundle/main.js` instead: its end, its signals, its input, and output without `process.stdout`.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { after } from 'node:test';
import type { CommandRequest } from './commandProcess.js';
import { repositoryPath } from './repository.js';
import type { CommandResult } from './runCommand.js';

/** Runs a command in another folder than the usual one, and with more variables of the environment. */
export type RunLongpole = (
  args: readonly string[],
  options?: Partial<Omit<CommandRequest, 'args'>>,
) => Promise<CommandResult>;

/**
 * Returns a function that runs a command, usually in `folder`, after the commands before it. The process ends after the tests, if
 * every command has closed what it opened.
 */
export function longpoleIn(folder: string): RunLongpole {
  let child: ChildProcess | undefined;
  const waiting: { resolve(result: CommandResult): void; reject(error: Error): void }[] = [];
  after(async () => {
    if (child === undefined || !child.connected) return;
    const ended = once(child, 'exit');
    child.disconnect();
    await ended;
  });

  function start(): ChildProcess {
    const started = fork(repositoryPath('dist-test/test/support/commandProcess.js'), {
      execArgv: [],
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    started.on('message', (result: CommandResult) => waiting.shift()?.resolve(result));
    started.once('exit', (code, signal) => {
      for (const { reject } of waiting)
        reject(new Error(`The process of the commands ended: ${code ?? signal}`));
    });
    return started;
  }

  return (args, { cwd = folder, env = {} } = {}) => {
    child ??= start();
    const request: CommandRequest = { args, cwd, env };
    child.send(request);
    return new Promise((resolve, reject) => waiting.push({ resolve, reject }));
  };
}

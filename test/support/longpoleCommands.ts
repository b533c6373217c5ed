// Runs commands of `longpole` in one process, which loads them once. Tests of what a process does start
// `dist/bundle/main.js` instead: its end, its signals, its input, and output without `process.stdout`.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { after } from 'node:test';
import type { CommandRequest } from './commandProcess.js';
import { repositoryPath } from './repository.js';
import type { CommandResult } from './runCommand.js';

export type RunLongpole = (args: readonly string[], env?: NodeJS.ProcessEnv) => Promise<CommandResult>;

/**
 * Returns a function that runs a command in a folder, after the commands before it. The process ends after the tests, if
 * every command has closed what it opened.
 */
export function longpoleIn(cwd: string): RunLongpole {
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
      cwd,
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

  return (args, env = {}) => {
    child ??= start();
    const request: CommandRequest = { args, env };
    child.send(request);
    return new Promise((resolve, reject) => waiting.push({ resolve, reject }));
  };
}

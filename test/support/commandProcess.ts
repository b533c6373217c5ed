// A process that runs commands of `longpole`, one after the other. Each runs the built command anew; only the files that the
// command imports stay loaded. Reports the exit code and what each prints.
import { pathToFileURL } from 'node:url';
import { inspect } from 'node:util';
import { repositoryPath } from './repository.js';
import type { CommandResult } from './runCommand.js';

export interface CommandRequest {
  readonly args: readonly string[];
  readonly cwd: string;
  /** Variables that the command gets in addition to those of this process. */
  readonly env: NodeJS.ProcessEnv;
}

class Exit {
  readonly code: number;

  constructor(code: number) {
    this.code = code;
  }
}

const COMMAND = pathToFileURL(repositoryPath('dist/bundle/main.js')).href;
const printed = { stdout: '', stderr: '' };
const environment = { ...process.env };
let commands = 0;

/** Collects what is written. Node's types give `write` three forms. */
function collect(name: 'stdout' | 'stderr'): void {
  process[name].write = (chunk: string | Uint8Array, ...rest: unknown[]): boolean => {
    printed[name] += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString('utf8');
    const done = rest.at(-1);
    if (typeof done === 'function') done();
    return true;
  };
}

async function run({ args, cwd, env }: CommandRequest): Promise<CommandResult> {
  Object.assign(printed, { stdout: '', stderr: '' });
  process.argv.splice(2, Number.POSITIVE_INFINITY, ...args);
  process.chdir(cwd);
  process.env = { ...environment, ...env };
  process.exitCode = undefined;
  const code = await exitCode();
  // A command in a process of its own need not remove its listeners.
  for (const stream of [process.stdout, process.stderr]) stream.removeAllListeners('error');
  return { code, ...printed };
}

async function exitCode(): Promise<number> {
  try {
    await import(`${COMMAND}?${++commands}`);
    return Number(process.exitCode ?? 0);
  } catch (error) {
    if (error instanceof Exit) return error.code;
    printed.stderr += inspect(error);
    return 1;
  }
}

for (const name of ['stdout', 'stderr'] as const) collect(name);
process.exit = (code) => {
  throw new Exit(Number(code ?? process.exitCode ?? 0));
};
let running: Promise<void> = Promise.resolve();
process.on('message', (request: CommandRequest) => {
  running = running.then(async () => {
    process.send?.(await run(request));
  });
});

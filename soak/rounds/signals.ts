// Programs that a signal ends at any moment, also while their cluster starts or closes. No process remains, and no file
// after the next program has started a cluster. Their recordings are readable.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { LocalCluster, LongpoleError } from 'longpole';
import { openTrace } from 'longpole/trace';
import { dumpAndKill, type Program, startNode } from '../../test/support/programs.js';
import type { Round, RoundContext } from '../round.js';

const PROGRAMS = 12;
const AT_ONCE = 3;
const VICTIM = fileURLToPath(new URL('../victim.js', import.meta.url));
/** Signals; a program without one ends by itself. */
const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGKILL', undefined] as const;
const MOST_MS = 3000;
/** Time limit for a program's end after the signal, in milliseconds. */
const LIMIT_MS = 60_000;

async function oneProgram(context: RoundContext, index: number): Promise<void> {
  const random = context.random.fork();
  const kind = random.pick(['threads', 'processes']);
  const signal = random.pick(SIGNALS);
  const delay = random.below(MOST_MS);
  const trace = join(context.folder, `${index}.trace`);
  const program = startNode([VICTIM, kind, trace, ...(signal === undefined ? ['5'] : [])]);
  context.count('clusters');
  const ended = new Promise<boolean>((resolve) => program.child.once('close', () => resolve(true)));
  if (signal !== undefined) {
    await pause(delay);
    program.child.kill(signal);
    context.count('kills');
  }
  const what = `program ${index} on ${kind}, ${signal ?? 'no signal'} after ${delay} ms`;
  await context.timed('end', () => endOf(context, program, ended, what));
  if (signal === undefined && program.child.exitCode !== 0)
    context.fail(new Error(`${what} ended with ${program.child.exitCode}: ${program.output.stderr}`));
  readTrace(context, trace, what);
}

async function endOf(
  context: RoundContext,
  program: Program,
  ended: Promise<boolean>,
  what: string,
): Promise<void> {
  const isEnded = await Promise.race([ended, pause(LIMIT_MS, false, { ref: false })]);
  if (!isEnded) context.fail(new Error(`${what} does not end. ${await dumpAndKill(program)}`));
}

/** Opens the recording. It may be incomplete if recording had just begun, which must give an error with a code. */
function readTrace(context: RoundContext, trace: string, what: string): void {
  if (!existsSync(trace)) return;
  try {
    openTrace(trace);
  } catch (error) {
    if (!(error instanceof LongpoleError)) context.fail(new Error(`the trace of ${what}`, { cause: error }));
  }
}

async function run(context: RoundContext): Promise<void> {
  for (let index = 0; index < PROGRAMS; index += AT_ONCE) {
    context.doing(`programs ${index} to ${index + AT_ONCE - 1}`);
    await Promise.all(Array.from({ length: AT_ONCE }, (_, i) => oneProgram(context, index + i)));
  }
  context.doing('removes the files of killed programs');
  await (await LocalCluster.start({ workers: 1 })).close();
}

export const signals: Round = {
  name: 'signals',
  checks: 'Programs that a signal ends leave a readable trace, no process and no file.',
  stressed: true,
  run,
};

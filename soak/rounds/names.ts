// Keys, functions, spans and messages with names that would control or flood a terminal. All texts of a real run, in
// tables, errors and on the command line, must be safe and short.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { connect, type Delayed, delayed, LongpoleError, span } from 'longpole';
import { QUESTIONS } from 'longpole/analysis';
import { repositoryPath } from '../../test/support/repository.js';
import { runCommand } from '../../test/support/runCommand.js';
import { UNSAFE } from '../../test/support/unsafeText.js';
import type { Random } from '../random.js';
import type { Round, RoundContext } from '../round.js';
import { v } from '../valueTasks.js';

const RUNS = 4;
const TASKS = 30;
/** Largest length of one table or message in characters. */
const MOST_TEXT = 200_000;
const PIECES = [
  '\u001b]0;T\u0007',
  '\u001b[2J',
  '\u009b31m',
  '\u202e',
  '\u2066',
  '\ud800',
  '\udc00',
  '\r',
  '\n',
  '\t',
  '\0',
  '\u00ad',
  '\ufeff',
  '</script><script>',
  '%s',
  '__proto__',
  "('x', 1)",
  '-',
  'ä€𝄞',
  'x'.repeat(100_000),
  ' ',
  ',"\'`\\',
];

function hostileName(random: Random): string {
  return Array.from({ length: 1 + random.below(4) }, () => random.pick(PIECES)).join('');
}

function checkText(what: string, text: string): void {
  // A tab in a message of several lines is allowed as indentation.
  const found = UNSAFE.exec(text.replaceAll('\t', ' '));
  const around = JSON.stringify(text.slice(Math.max(0, (found?.index ?? 0) - 60), (found?.index ?? 0) + 20));
  assert.ok(found === null, `${what} has a character that is not safe: ${around}`);
  assert.ok(text.length < MOST_TEXT, `${what} has ${text.length} characters`);
}

async function checkCommand(context: RoundContext, args: readonly string[]): Promise<void> {
  const cli = repositoryPath('dist/bundle/main.js');
  await context.timed(`${args[0]}`, async () => {
    const { code, stdout, stderr } = await runCommand(process.execPath, [cli, ...args]);
    assert.ok(code === 0 || code === 1, `${args.join(' ')} ended with ${code}: ${stderr}`);
    checkText(args.join(' '), stdout + stderr);
  });
}

/** Computes with hostile names, records the run, and checks the text of every error. */
async function compute(random: Random, directory: string): Promise<void> {
  await using client = await connect({ workers: 2, processes: random.chance(0.3) }, { setAsDefault: false });
  const stop = client.record(directory);
  const named = Array.from({ length: TASKS }, (_, index): Delayed<unknown> | Promise<unknown> => {
    const name = hostileName(random);
    const key = `${name}${index}`;
    const ways = [
      () => span(name, () => client.submit(v.echo, name, { key }).result()),
      () => client.submit(v.fail, name, { key }).result(),
      () => client.compute(delayed((x: number): number => x + 1, { name })(index)),
    ];
    return random.pick(ways)();
  });
  for (const end of await Promise.allSettled(named)) {
    if (end.status === 'fulfilled') continue;
    assert.ok(end.reason instanceof LongpoleError, String(end.reason));
    checkText('an error', end.reason.message);
    checkText('an error as text', String(end.reason));
  }
  for (const { name, run } of QUESTIONS) checkText(name, run(client.trace).toString());
  await stop();
}

async function run(context: RoundContext): Promise<void> {
  for (let index = 0; index < RUNS; index++) {
    const random = context.random.fork();
    const directories = [0, 1].map((half) => join(context.folder, `${index}-${half}.trace`));
    for (const directory of directories) {
      context.doing(`run ${index} into ${directory}`);
      await compute(random, directory);
      context.count('clusters');
      context.count('inputs', TASKS);
    }
    const [one = '', other = ''] = directories;
    context.doing(`commands on ${one}`);
    for (const args of [
      ['analyze', one],
      ['simulate', one],
      ['diff', one, other],
    ])
      await checkCommand(context, args).catch((error: unknown) => context.fail(error));
  }
}

export const names: Round = {
  name: 'names',
  checks: 'Names that would control or flood a terminal are shown in a safe and short form.',
  run,
};

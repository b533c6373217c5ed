// Runs the property tests with other seeds. The gate runs the same few hundred cases each time.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryPath } from '../../test/support/repository.js';
import { runCommand } from '../../test/support/runCommand.js';
import type { Round, RoundContext } from '../round.js';

/** Module that every file with properties imports. */
const SUPPORT = /properties\.test\.support\.js/;
/** File with the largest search space, of which the gate runs only a fraction. */
const DEEPEST = 'engine/scheduler/clusterScheduler.test.js';
const DEEP_RUNS = 5;
/** Multiple of the gate's runs of properties that take long. */
const RUNS = 6;
const LAST_LINES = 40;

function filesWithProperties(root: string): string[] {
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.js') && SUPPORT.test(readFileSync(join(root, file), 'utf8')))
    .sort();
}

async function check(context: RoundContext, root: string, file: string): Promise<void> {
  const seed = context.random.word();
  const name = file.replace(/\.test\.js$/, '');
  context.doing(`${name}, LONGPOLE_SEED=${seed}`);
  const environment = { ...process.env, LONGPOLE_SEED: String(seed), LONGPOLE_RUNS: String(RUNS) };
  const { code, stdout, stderr } = await runCommand(process.execPath, [join(root, file)], {
    env: environment,
  });
  context.count('inputs');
  if (code === 0) return;
  const end = (stdout + stderr).trimEnd().split('\n').slice(-LAST_LINES).join('\n');
  context.fail(
    new assert.AssertionError({
      message: `LONGPOLE_SEED=${seed} LONGPOLE_RUNS=${RUNS} npm test -- ${name} fails:\n${end}`,
    }),
  );
}

async function run(context: RoundContext): Promise<void> {
  const root = repositoryPath('dist');
  const files = filesWithProperties(root);
  assert.ok(files.includes(DEEPEST), `${DEEPEST} has properties`);
  for (const file of files) await check(context, root, file);
  for (let index = 0; index < DEEP_RUNS; index++) await check(context, root, DEEPEST);
}

export const properties: Round = {
  name: 'properties',
  checks: "The properties of the unit tests hold for other seeds than the gate's.",
  limit: 900,
  run,
};

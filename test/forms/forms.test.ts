// Every public function, called in the forms that users of Dask and of Node would try. Each form works or throws
// ERR_LONGPOLE_INVALID_ARGUMENT with the name of the argument. No argument is ignored silently.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import * as longpole from 'longpole';
import { type Client, connect, LongpoleError } from 'longpole';
import * as analysis from 'longpole/analysis';
import * as diagnostics from 'longpole/diagnostics';
import * as local from 'longpole/local';
import * as trace from 'longpole/trace';
import * as runForms from './runForms.js';
import * as traceForms from './traceForms.js';

const folder = mkdtempSync(join(tmpdir(), 'longpole-forms-'));
let client: Client;

before(async () => {
  client = await connect({ workers: 1, profile: false });
});

after(async () => {
  await client.close();
  rmSync(folder, { recursive: true, force: true });
});

const TABLES = { ...runForms, ...traceForms };

for (const [name, forms] of Object.entries(TABLES))
  test(`${name.toLowerCase()}: every form of a call works or throws an error that names the wrong argument`, async () => {
    for (const [form, call, expected] of forms) {
      const outcome = await outcomeOf(() => call(client, folder));
      if (!(expected instanceof RegExp)) assert.deepEqual(outcome, { value: expected }, form);
      else assert.match(messageOf(form, outcome), expected, form);
    }
  });

type Outcome = { readonly value: unknown } | { readonly error: unknown };

async function outcomeOf(call: () => unknown): Promise<Outcome> {
  try {
    return { value: await call() };
  } catch (error) {
    return { error };
  }
}

function messageOf(form: string, outcome: Outcome): string {
  if ('value' in outcome) assert.fail(`${form} was accepted`);
  const { error } = outcome;
  assert.ok(error instanceof LongpoleError, `${form}: ${String(error)}`);
  assert.equal(error.code, 'ERR_LONGPOLE_INVALID_ARGUMENT', form);
  return error.message;
}

/** Exports that need no form: classes of values, constants, and helpers without options. */
const PLAIN: ReadonlySet<string> = new Set([
  ...[
    'AsCompleted',
    'KilledWorkerError',
    'LongpoleError',
    'TaskError',
    'Future',
    'config',
    'keySplit',
    'literal',
  ],
  ...['threadProf', 'processProf', 'hostFacts', 'nbytes', 'terminateSharedPools'],
  ...['CompleteEvent', 'DurationBeginEvent', 'DurationEndEvent', 'InstantEvent', 'PhaseEvent'],
  ...['EventPhases', 'InstantEventScope', 'MultiEventDatabase', 'DURATION_BUCKETS', 'bucketStart'],
  ...['DaskObservation', 'EXPORTERS', 'observeProgram', 'QUESTIONS', 'Table', 'findingsTable'],
  ...[
    'computationCount',
    'cutOffTexts',
    'failedTasks',
    'failedTaskCount',
    'lostRunCount',
    'repeatedCount',
    'programTimes',
    'recordsTransfers',
    'spilledResults',
    'nothingFoundIn',
    'isWorthNaming',
    'notSimulated',
    'profiledPrefixes',
    'samplingInterval',
    'scaling',
    'skippedTasks',
    'speedups',
    'workerShares',
  ],
]);

test('every public function has a form in one of the tables', () => {
  const forms = Object.values(TABLES).flat();
  const words = new Set(forms.flatMap(([form, call]) => `${form} ${String(call)}`.match(/\w+/g) ?? []));
  const exported = [longpole, local, diagnostics, trace, analysis].flatMap((entry) => Object.keys(entry));
  assert.deepEqual(
    exported.filter((name) => !PLAIN.has(name) && !words.has(name)),
    [],
  );
});

// Tests the scheduler of a cluster against a simulated one; see clusterLife.test.support.ts.
import { test } from 'node:test';
import fc, { runs } from '../../base/properties.test.support.js';
import { CALM, type GraphSpec, Life, type Trouble } from './clusterLife.test.support.js';
import type { FakeClusterOptions } from './fakeCluster.test.support.js';

/** Seed of the random cases, e.g. `LONGPOLE_SEED=7 npm test -- clusterScheduler`. */
const SEED = Number(process.env['LONGPOLE_SEED'] ?? 1);

const specArbitrary: fc.Arbitrary<GraphSpec> = fc.record({
  lists: fc.array(fc.array(fc.nat({ max: 1000 }), { maxLength: 4, size: 'max' }), {
    minLength: 1,
    maxLength: 25,
    size: 'max',
  }),
  kinds: fc.array(fc.nat({ max: 999 }), { minLength: 25, maxLength: 25 }),
  imports: fc.array(fc.nat({ max: 1000 }), { maxLength: 3 }),
  extra: fc.array(fc.nat({ max: 1000 }), { maxLength: 3 }),
  priority: fc.constantFrom(0, 0, 0, 1, -1, 5),
  workers: fc.constantFrom(null, null, null, ['a'], ['b', 'c'], ['missing'], ['missing', 'a']),
  gpus: fc.constantFrom(0, 0, 0, 0, 1, 2),
  retries: fc.nat({ max: 2 }),
  isData: fc.boolean(),
});

const optionsArbitrary: fc.Arbitrary<FakeClusterOptions> = fc.record({
  maxTasks: fc.constantFrom(1, 3, 4096),
  concurrentTasks: fc.constantFrom(1, 1, 4),
  allowedFailures: fc.constantFrom(1, 3, 20),
  keepsStoreCopies: fc.boolean(),
  gathersLate: fc.boolean(),
  stealsAtOnce: fc.boolean(),
});

function live(life: Life, choices: readonly number[]): void {
  for (const choice of choices) life.step(choice);
  life.finish();
  life.check();
}

const choicesArbitrary = fc.array(fc.nat({ max: 1 << 20 }), { maxLength: 400, size: 'max' });
const specsArbitrary = fc.array(specArbitrary, { minLength: 1, maxLength: 8, size: 'max' });
const workersArbitrary = fc.integer({ min: 1, max: 4 });

const LOSSES: Trouble = { ...CALM, losses: true };
const RETRIES: Trouble = { ...CALM, throws: true, again: true };
const ALL: Trouble = { throws: true, losses: true, cancels: true, secedes: true, again: true };

const TROUBLES: readonly [string, Trouble, number][] = [
  ['in peace', CALM, 50],
  ['with tasks that fail', { ...CALM, throws: true }, 50],
  ['with results that are not needed any more', { ...CALM, cancels: true }, 50],
  ['with workers and results that are lost', LOSSES, 80],
  ['with tasks that secede', { ...CALM, secedes: true }, 50],
  ['with tasks that fail and are retried', RETRIES, 80],
  ['with all of it', ALL, 150],
];

for (const [name, trouble, numRuns] of TROUBLES) {
  test(`random graphs ${name} give what a plain evaluation gives, and leave nothing behind`, () => {
    fc.assert(
      fc.property(
        optionsArbitrary,
        specsArbitrary,
        workersArbitrary,
        choicesArbitrary,
        (options, specs, workers, choices) => {
          const life = new Life(options, specs, workers, trouble);
          live(life, choices);
          if (trouble === CALM) life.checkEffort();
          life.end();
        },
      ),
      { numRuns: runs(numRuns), seed: SEED, includeErrorInReport: true },
    );
  });
}

test('a task that never ends keeps only its dependents waiting', () => {
  fc.assert(
    fc.property(
      optionsArbitrary,
      specsArbitrary,
      workersArbitrary,
      choicesArbitrary,
      (options, specs, workers, choices) => {
        const life = new Life(options, specs, workers, CALM);
        for (const choice of choices) life.step(choice);
        life.checkBesideEndless(choices.length);
      },
    ),
    { numRuns: runs(50), seed: SEED, includeErrorInReport: true },
  );
});

/** Lives in which a worker once lacked the input of a task. */
const LACKING: readonly [string, Trouble, number, string][] = [
  ['a task runs where its input was computed while it was sought elsewhere', LOSSES, 3121505759, '60'],
  [
    'a retried task that ran before its cancellation leaves its inputs to other tasks',
    RETRIES,
    -1449174748,
    '181',
  ],
  ['an input that is sent again and was lost meanwhile stays for other tasks', ALL, 136540131, '112'],
];

for (const [name, trouble, seed, path] of LACKING) {
  test(name, () => {
    fc.assert(
      fc.property(
        optionsArbitrary,
        specsArbitrary,
        workersArbitrary,
        choicesArbitrary,
        (options, specs, workers, choices) => live(new Life(options, specs, workers, trouble), choices),
      ),
      { seed, path },
    );
  });
}

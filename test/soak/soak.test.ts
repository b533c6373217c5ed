// The soak, tested with rounds that fail, pass, hang, exit, or leave files and processes behind.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { RoundResult } from '../../soak/launch.js';
import { Random, seedOf } from '../../soak/random.js';
import { passed, soak } from '../../soak/soak.js';
import { formatFailures, formatOperations, formatTable } from '../../soak/table.js';
import { ROUNDS } from './fakeRounds.js';

const module = new URL('fakeRounds.js', import.meta.url).href;

async function soaked(
  names: readonly string[],
  more: { seconds?: number; signal?: AbortSignal; print?: (text: string) => void } = {},
): Promise<RoundResult[]> {
  return soak({
    rounds: ROUNDS.filter(({ name }) => names.includes(name)),
    module,
    seed: 7,
    seconds: more.seconds ?? Number.POSITIVE_INFINITY,
    most: names.length,
    stress: false,
    grace: 0,
    signal: more.signal ?? new AbortController().signal,
    print: more.print ?? (() => undefined),
  });
}

/** Returns the command line of a process; empty after the process has ended, even if it is still a zombie. */
function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

test('equal seeds give equal choices, and every round has another seed', () => {
  const choices = (seed: number): number[] => {
    const random = new Random(seed);
    const fork = random.fork();
    return Array.from({ length: 50 }, (_, i) => (i % 2 === 0 ? random : fork).below(1000));
  };
  assert.deepEqual(choices(7), choices(7));
  assert.notDeepEqual(choices(7), choices(8));
  const seeds = Array.from({ length: 100 }, (_, index) => seedOf(7, index));
  assert.equal(
    seeds[0],
    7,
    'the first round has the seed of the soak, so that the seed of a round repeats the round',
  );
  assert.equal(new Set(seeds).size, 100);
});

test('a random choice returns every value about equally often', () => {
  const random = new Random(1);
  const counts = new Array<number>(10).fill(0);
  for (let i = 0; i < 10_000; i++) counts[random.below(10)]!++;
  assert.ok(Math.min(...counts) > 800 && Math.max(...counts) < 1200, counts.join());
});

test('a failed round does not stop the soak, and the table and the report list it with its seed', async () => {
  const printed: string[] = [];
  const results = await soaked(['fails', 'passes'], { print: (text) => void printed.push(text) });
  assert.deepEqual(results.map(passed), [false, true]);
  assert.match(results[0]!.failures.join('\n'), /step two: AssertionError.*as it should/);
  const table = formatTable(results).split('\n');
  assert.match(table[2]!, /^\| fails \| 1 \| 1 \| 0 \| 0 \| 3 \| \d+ MB \|/);
  assert.match(table[3]!, /^\| passes \| 1 \| 0 \| 1 \| 0 \| 4 \| \d+ MB \|/);
  assert.match(table[4]!, /^\| all \| 2 \| 1 \| 1 \| 0 \| 7 \| \d+ MB \|/);
  assert.match(formatOperations(results), /^\| passes \| nothing \| 1 \| .* \| 1\.0 \|$/m);
  const stopped = results.map((result) => ({ ...result, stressed: true }));
  assert.doesNotMatch(formatOperations(stopped), /passes/);
  const failures = formatFailures(results);
  assert.match(failures, /^FAILED fails \(seed 7\): step two/);
  assert.match(failures, /npm run soak -- --only fails --seed 7 --rounds 1$/);
  assert.ok(printed.includes('round 1: fails, seed 7'));
});

test('the soak reports files and processes that a round leaves behind, and ends the processes', async () => {
  const [result] = await soaked(['leaves']);
  assert.deepEqual(result!.leftFiles, ['forgotten']);
  assert.equal(result!.leftProcesses.length, 1);
  assert.match(result!.leftProcesses[0]!, /orphan$/);
  assert.equal(commandOf(Number.parseInt(result!.leftProcesses[0]!, 10)), '');
  assert.match(result!.failures.join(), /and continues/);
});

test('a round that does not end is killed, and its failure names the current step', async () => {
  const [result] = await soaked(['hangs']);
  assert.match(
    result!.failures.join('\n'),
    /in the middle of: an endless loop.*did not end within 2 s\. Its threads: /s,
  );
});

test('a round whose program exits early is a failure', async () => {
  const [result] = await soaked(['exits']);
  assert.match(result!.failures.join('\n'), /exit code 3/);
});

test('an interrupted round is left out of the results, and no other round begins', async () => {
  const abort = new AbortController();
  const printed: string[] = [];
  const results = await soaked(['passes', 'hangs'], {
    signal: abort.signal,
    print: (text) => {
      printed.push(text);
      if (text.includes('hangs')) setImmediate(() => abort.abort());
    },
  });
  assert.deepEqual(
    results.map(({ name }) => name),
    ['passes'],
  );
});

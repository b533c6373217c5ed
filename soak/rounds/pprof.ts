// Files for pprof, read by `go tool pprof`. The gate reads them with pprofReader.test.support.ts, because Go compiles pprof
// for most of a minute when it runs for the first time. Both must agree.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { toPprof } from '#internal/profile/pprof.js';
import { cumulative, readPprof } from '#internal/profile/pprofReader.test.support.js';
import { treeOf } from '#internal/profile/samples.test.support.js';
import { runOrThrow } from '../../test/support/runCommand.js';
import type { Random } from '../random.js';
import type { Round, RoundContext } from '../round.js';

const FILES = 10;
const MOST_STACKS = 40;
const MOST_FRAMES = 12;
const MOST_SAMPLES = 5000;
const NAMES = ['load', 'parse', 'sum', '__proto__', 'constructor', 'toString', '$x', 'groupBy', 'a'];
/** A line of `go tool pprof -top`: own samples with shares, samples with callees with their share, and the function. */
const LINE = /^ *\d+ +[\d.]+% +[\d.]+% +(\d+) +[\d.]+% +(\S+)$/gm;

function randomProfile(random: Random): Uint8Array {
  const stacks = Array.from({ length: 1 + random.below(MOST_STACKS) }, () => ({
    names: Array.from({ length: 1 + random.below(MOST_FRAMES) }, () => random.pick(NAMES)),
    count: 1 + random.below(MOST_SAMPLES),
  }));
  return toPprof(treeOf(stacks), { interval: 0.002, start: 1.7e9, duration: 60 });
}

/** Returns the function → its samples with callees, as pprof prints them. */
async function printedBy(file: string): Promise<Map<string, number>> {
  const all = ['-nodecount=0', '-nodefraction=0', '-edgefraction=0'];
  const top = await runOrThrow('go', [
    ...['tool', 'pprof', '-top', '-cum', '-sample_index=samples', ...all],
    file,
  ]);
  return new Map(Array.from(top.matchAll(LINE), ([, samples, name = '']) => [name, Number(samples)]));
}

async function run(context: RoundContext): Promise<void> {
  for (let index = 0; index < FILES; index++) {
    const bytes = randomProfile(context.random);
    const pack = context.random.chance(0.5);
    const file = join(context.folder, pack ? `${index}.pb.gz` : `${index}.pb`);
    writeFileSync(file, pack ? gzipSync(bytes) : bytes);
    context.doing(`go tool pprof ${file}`);
    const { stacks } = readPprof(bytes);
    const expected = NAMES.map((name) => [name, cumulative(stacks, name)] as const);
    assert.deepEqual(await printedBy(file), new Map(expected.filter(([, samples]) => samples > 0)));
    context.count('inputs');
  }
}

export const pprof: Round = {
  name: 'pprof',
  checks: 'The pprof of Go reads profiles as the reader of the gate does. It needs Go.',
  run,
};

// Damaged files of every readable format. Each file must open and every analysis must return, or throw an error with a
// code. A hang or a crash fails the whole round and names the input.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { LongpoleError } from 'longpole';
import { criticalPath, QUESTIONS, simulate } from 'longpole/analysis';
import { EXPORTERS, openTrace, type Trace } from 'longpole/trace';
import { repositoryPath } from '../../test/support/repository.js';
import { mutated } from '../mutate.js';
import type { Random } from '../random.js';
import type { Round, RoundContext } from '../round.js';

const INPUTS = 100;
const fixture = (path: string): string => repositoryPath(`test/fixtures/${path}`);
const DIRECTORY = fixture('version-1/recorded');
const FILES = [
  fixture('version-1/report.html'),
  fixture('version-1/events.msgpack.gz'),
  fixture('dasf-small/TracePlugin-c096.msgpack.gz'),
  fixture('dasf-small/ResourceMonitor-c096.msgpack.gz'),
  fixture('chrome/catapult.json'),
];

/** Returns the unpacked bytes of a file. */
function read(path: string): Uint8Array {
  const bytes = readFileSync(path);
  return new Uint8Array(path.endsWith('.gz') ? gunzipSync(bytes) : bytes);
}

/** Creates a damaged input. Returns its path and the damage. */
function makeInput(random: Random, folder: string): { source: string; how: string } {
  return random.chance(0.4) ? makeDirectory(random, folder) : makeFile(random, folder);
}

function makeFile(random: Random, folder: string): { source: string; how: string } {
  const path = random.pick(FILES);
  const { bytes, how } = mutated(random, read(path), read(random.pick(FILES)));
  const pack = random.chance(0.3);
  const packed = pack ? new Uint8Array(gzipSync(bytes)) : bytes;
  const twice = pack && random.chance(0.5) ? mutated(random, packed, packed) : { bytes: packed, how: '' };
  const source = join(folder, 'input');
  writeFileSync(source, twice.bytes);
  return { source, how: `${path} ${how}${pack ? `, packed, ${twice.how}` : ''}` };
}

function makeDirectory(random: Random, folder: string): { source: string; how: string } {
  const source = join(folder, 'input.trace');
  mkdirSync(source);
  const names = readdirSync(DIRECTORY);
  const chosen = new Set(Array.from({ length: 1 + random.below(2) }, () => random.pick(names)));
  const damage: string[] = [];
  for (const name of names) {
    const bytes = read(join(DIRECTORY, name));
    if (!chosen.has(name)) {
      writeFileSync(join(source, name), bytes);
    } else if (random.chance(0.1)) {
      damage.push(`without ${name}`);
    } else {
      const { bytes: changed, how } = mutated(random, bytes, read(join(DIRECTORY, random.pick(names))));
      writeFileSync(join(source, name), changed);
      damage.push(`${name} ${how}`);
    }
  }
  return { source, how: damage.join('; ') };
}

/** Calls `body`. An error without a code is a failure of the round. */
function attempt<T>(context: RoundContext, what: string, body: () => T): T | undefined {
  try {
    return body();
  } catch (error) {
    if (!(error instanceof LongpoleError) || error.code === 'ERR_LONGPOLE_INTERNAL')
      context.fail(new Error(what, { cause: error }));
    return undefined;
  }
}

function ask(context: RoundContext, trace: Trace, random: Random): void {
  for (const { name, run } of QUESTIONS) attempt(context, name, () => run(trace).toString());
  attempt(context, 'criticalPath', () => criticalPath(trace));
  attempt(context, 'simulate', () => simulate(trace, { workers: 1 + random.below(8) }));
  const exporter = random.pick(EXPORTERS);
  attempt(context, exporter.name, () => {
    const files = exporter.kind === 'file' ? [{ pieces: exporter.write(trace) }] : exporter.write(trace);
    for (const { pieces } of files) for (const _piece of pieces);
  });
}

async function run(context: RoundContext): Promise<void> {
  for (let index = 0; index < INPUTS; index++) {
    const random = context.random.fork();
    const { source, how } = makeInput(random, context.folder);
    context.doing(`input ${index}: ${how}`);
    await context.timed('input', async () => {
      const trace = attempt(context, 'openTrace', () => openTrace(source));
      if (trace !== undefined) ask(context, trace, random);
    });
    context.count('inputs');
    rmSync(source, { recursive: true });
  }
}

export const readers: Round = {
  name: 'readers',
  checks: 'Damaged traces, reports, DASF and Chrome files open or fail with a code.',
  // Reading must not take more memory than this, even if a damaged file states a large size.
  nodeArguments: ['--max-old-space-size=1024'],
  run,
};

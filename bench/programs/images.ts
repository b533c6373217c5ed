// Describes 200 images: node images.js threads|processes|cluster|worker-processes [IMAGES [ROUNDS]]
import { connect, type Delayed } from 'longpole';
import { getMultiprocessing, getThreaded } from 'longpole/local';
import type { Stats } from './imageSteps.js';
import { blur, merge, resize, stats, synth } from './imageTasks.js';
import { printStats } from './printStats.js';

/** Number of descriptions that one task merges. */
const FAN_IN = 8;
const WORKERS = 2;

function mergeAll(parts: readonly Delayed<Stats>[]): Delayed<Stats> {
  const [first] = parts;
  if (first === undefined) throw new RangeError('There are no images.');
  if (parts.length === 1) return first;
  const merged: Delayed<Stats>[] = [];
  for (let start = 0; start < parts.length; start += FAN_IN)
    merged.push(merge(parts.slice(start, start + FAN_IN)));
  return mergeAll(merged);
}

const [kind = 'threads', images = '200', rounds = '1'] = process.argv.slice(2);
const onCluster = kind === 'cluster' || kind === 'worker-processes';
const client = onCluster
  ? await connect({ workers: WORKERS, processes: kind === 'worker-processes' })
  : undefined;
const get = kind === 'processes' ? getMultiprocessing : getThreaded;
for (let round = 0; round < Number(rounds); round++) {
  const seeds = Array.from({ length: Number(images) }, (_, seed) => seed);
  const all = mergeAll(seeds.map((seed) => stats(blur(resize(synth(seed))))));
  printStats(await (client?.compute(all) ?? all.compute({ get, numWorkers: WORKERS })));
}
await client?.close();

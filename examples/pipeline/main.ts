// The tutorial of DASF's profiler. Normalises 100,000 points around three centres, and clusters them by k-means and by
// a self-organising map. Persists the labels, records the run, and prints three analyses of the record.
import { parseArgs } from 'node:util';
import { type Client, connect, Future } from 'longpole';
import { TraceAnalyser } from 'longpole/analysis';
import {
  type DefaultProfiler,
  EventProfiler,
  MultiEventDatabase,
  Pipeline,
  registerDefaultProfiler,
} from 'longpole/trace';
import { positive, runWith } from '../support/options.js';
import { adjustedRandIndex } from './agreement.js';
import { kMeans, makeBlobs, normalize, persistData, selfOrganisingMap } from './steps.js';

const USAGE = `Usage: pipeline [options]

  --samples N     points (default 100000)
  --chunk N       points in a chunk (default 5000)
  --epochs N      epochs of the self-organising map (default 100)
  --workers N     workers (default: one per core)
  --processes     workers are processes instead of threads
  --nvtx          mark every task as an NVTX range
  --name NAME     prefix of the file names (default Tutorial_5_Profile)
  --output DIR    folder of the files (default: the current folder)
`;
const CENTERS = [
  [-6, -6],
  [0, 0],
  [9, 1],
];
/** Least adjusted Rand index of k-means and the true blobs. Below it the run fails. */
const AGREEMENT = 0.9;
const ROWS = 10;

interface Settings {
  readonly samples: number;
  readonly chunk: number;
  readonly epochs: number;
  readonly workers: number | undefined;
  readonly processes: boolean;
  readonly nvtx: boolean;
  readonly name: string;
  readonly output: string;
}

/** Runs the pipeline. Returns the agreement of each method with the original blobs. */
async function cluster(client: Client, settings: Settings): Promise<ReadonlyMap<string, number>> {
  const { samples, chunk, epochs } = settings;
  const blobs = makeBlobs({ samples, chunk, centers: CENTERS });
  const means = kMeans({ clusters: CENTERS.length, maxIterations: 100 });
  const map = selfOrganisingMap({ nodes: CENTERS.length, epochs });
  const persistMeans = persistData('persist KMeans');
  const persistMap = persistData('persist SOM');
  const pipeline = new Pipeline('A KMeans and SOM Pipeline', { client, log: (line) => console.log(line) })
    .add(normalize, { X: blobs })
    .add(means.fitPredict, { X: normalize })
    .add(map.fitPredict, { X: normalize })
    .add(persistMeans, { X: means.fitPredict })
    .add(persistMap, { X: map.fitPredict });
  console.log(`The steps: ${pipeline.visualize({ filename: `${settings.output}/${settings.name}.svg` })}`);
  await pipeline.run();
  const truth = blobs.truth();
  const agreement = async (step: unknown): Promise<number> =>
    adjustedRandIndex(await labelsOf(client, pipeline.getResultFrom(step)), truth);
  return new Map([
    ['k-means', await agreement(persistMeans)],
    ['self-organising map', await agreement(persistMap)],
  ]);
}

/** Gathers the persisted labels of all chunks into one array. */
async function labelsOf(client: Client, persisted: unknown): Promise<Int32Array> {
  if (!Array.isArray(persisted)) throw new TypeError('The step returns a list of chunks.');
  const futures = persisted.filter((part) => part instanceof Future);
  const chunks: unknown[] = await client.gather(futures);
  return Int32Array.from(chunks.flatMap((part) => (part instanceof Int32Array ? [...part] : [])));
}

function analyse({ traceFile, resourceFile }: DefaultProfiler): void {
  const database = new MultiEventDatabase([new EventProfiler(resourceFile), new EventProfiler(traceFile)]);
  const analyser = new TraceAnalyser(database);
  console.log(`\nFunctions\n${analyser.perFunctionBottleneck().head(ROWS).toString()}`);
  console.log(`\nTasks\n${analyser.perTaskBottleneck().head(ROWS).toString()}`);
  console.log(`\nResults that each worker holds\n${analyser.perWorkerTaskBalance().head(ROWS).toString()}`);
}

async function main(settings: Settings): Promise<number> {
  const { workers, processes, name, output, nvtx } = settings;
  const started = performance.now();
  const client = await connect({ processes, ...(workers === undefined ? {} : { workers }) });
  const profiler = registerDefaultProfiler(client, {
    name,
    directory: output,
    enableNvtx: nvtx,
    addTimeSuffix: false,
  });
  let agreements: ReadonlyMap<string, number>;
  try {
    agreements = await cluster(client, settings);
  } finally {
    profiler.close();
    await client.close();
  }
  console.log(
    `\n${((performance.now() - started) / 1000).toFixed(1)} s, the cluster's start and end included`,
  );
  for (const [what, index] of agreements) console.log(`${what}: adjusted Rand index ${index.toFixed(5)}`);
  analyse(profiler);
  console.log(`\nRecorded in ${profiler.traceFile} and ${profiler.resourceFile}`);
  return (agreements.get('k-means') ?? 0) >= AGREEMENT ? 0 : 1;
}

function readSettings(): Settings | undefined {
  const { values } = parseArgs({
    options: {
      samples: { type: 'string', default: '100000' },
      chunk: { type: 'string', default: '5000' },
      epochs: { type: 'string', default: '100' },
      workers: { type: 'string' },
      processes: { type: 'boolean', default: false },
      nvtx: { type: 'boolean', default: false },
      name: { type: 'string', default: 'Tutorial_5_Profile' },
      output: { type: 'string', default: '.' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return undefined;
  return {
    ...values,
    samples: positive('samples', values.samples),
    chunk: positive('chunk', values.chunk),
    epochs: positive('epochs', values.epochs),
    workers: values.workers === undefined ? undefined : positive('workers', values.workers),
  };
}

await runWith(USAGE, readSettings, main);

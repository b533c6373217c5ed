// The steps of the pipeline: functions that run here and describe work for the workers, chunk by chunk.
import type { Delayed, Input } from 'longpole';
import type { OperatorContext } from 'longpole/trace';
import { blobOf, type Points } from './points.js';
import { radiusAt } from './selfOrganisingMap.js';
import { work } from './tasks.js';

interface Source {
  /** Chunks of points that are computed, or will be. */
  readonly X: readonly Input<Points>[];
}

export interface Blobs {
  readonly samples: number;
  readonly chunk: number;
  readonly centers: readonly (readonly number[])[];
}

/** A source of points around the centres, in chunks; the same points every time. */
export function makeBlobs({ samples, chunk, centers }: Blobs) {
  const bounds = Array.from({ length: Math.ceil(samples / chunk) }, (_, i) => i * chunk);
  return {
    name: 'makeBlobs',
    load: (): Delayed<Points>[] =>
      bounds.map((from) => work.makeBlobs(centers, samples, from, Math.min(samples, from + chunk))),
    /** The blob that each point was made for. */
    truth: (): Int32Array =>
      Int32Array.from({ length: samples }, (_, i) => blobOf(i, samples, centers.length)),
  };
}

/** Mean 0 and standard deviation 1 over all coordinates of all points. */
export const normalize = {
  name: 'Normalize',
  transform: ({ X }: Source): Delayed<Points>[] => {
    const parts = X.map((chunk) => work.moments(chunk));
    return X.map((chunk) => work.normalize(chunk, parts));
  },
};

/** One point in so many goes into the sample that the first centres are chosen from. */
const SAMPLE_EVERY = 50;

export interface KMeansOptions {
  readonly clusters: number;
  readonly maxIterations: number;
  readonly seed?: number;
}

/** Squared distance: centres that move less stay. */
const TOLERANCE = 1e-8;

/** K-means over chunks: an iteration is a task per chunk and one that moves the centres. */
export function kMeans({ clusters, maxIterations, seed = 0 }: KMeansOptions) {
  const fit = async ({ X }: Source, { compute, persist }: OperatorContext): Promise<Points> => {
    const chunks = await persist(X);
    const samples = chunks.map((chunk) => work.sample(chunk, SAMPLE_EVERY));
    let centers = await compute(work.seedCenters(samples, clusters, seed));
    for (let iteration = 0; iteration < maxIterations; iteration++) {
      const parts = chunks.map((chunk) => work.clusterSums(chunk, centers));
      const next = await compute(work.moveCenters(centers, parts));
      centers = next.centers;
      if (next.shift < TOLERANCE) break;
    }
    return centers;
  };
  return { fit, fitPredict: predictor('KMeans.fitPredict', fit) };
}

export interface MapOptions {
  readonly nodes: number;
  readonly epochs: number;
  readonly seed?: number;
}

/** A self-organising map over chunks: an epoch is a task per chunk and one in which the nodes learn. */
export function selfOrganisingMap({ nodes, epochs, seed = 0 }: MapOptions) {
  const fit = async ({ X }: Source, { compute, persist }: OperatorContext): Promise<Points> => {
    const chunks = await persist(X);
    const samples = chunks.map((chunk) => work.sample(chunk, SAMPLE_EVERY));
    let learned = work.startNodes(samples, nodes, seed);
    // All epochs are one graph: nothing has to come back here in between.
    for (let epoch = 0; epoch < epochs; epoch++) {
      const before = learned;
      const parts = chunks.map((chunk) => work.clusterSums(chunk, before));
      learned = work.learn(before, parts, radiusAt(epoch, epochs, nodes));
    }
    return compute(learned);
  };
  return { fit, fitPredict: predictor('SOM.fitPredict', fit) };
}

/** A step that learns and then says for each point, chunk by chunk, to which centre it belongs. */
function predictor(name: string, fit: (source: Source, context: OperatorContext) => Promise<Points>) {
  const fitPredict = async (source: Source, context: OperatorContext): Promise<Delayed<Int32Array>[]> => {
    const centers = await fit(source, context);
    return source.X.map((chunk) => work.predict(chunk, centers));
  };
  Object.defineProperty(fitPredict, 'name', { value: name });
  return fitPredict;
}

/** Has the results of a step computed and kept on the workers. */
export function persistData(name: string) {
  const persist = ({ X }: { readonly X: readonly unknown[] }, context: OperatorContext): Promise<unknown> =>
    context.persist(X);
  Object.defineProperty(persist, 'name', { value: name });
  return persist;
}

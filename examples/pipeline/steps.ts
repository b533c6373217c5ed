// The steps of the pipeline: functions of the main program that describe tasks for the workers, chunk by chunk.
import type { Delayed, Input } from 'longpole';
import type { OperatorContext } from 'longpole/trace';
import { blobOf, type Points } from './points.js';
import { radiusAt } from './selfOrganisingMap.js';
import { work } from './tasks.js';

interface Source {
  /** Chunks of points, computed or described. */
  readonly X: readonly Input<Points>[];
}

export interface Blobs {
  readonly samples: number;
  readonly chunk: number;
  readonly centers: readonly (readonly number[])[];
}

/** Returns a reproducible source of points around the centres, in chunks. */
export function makeBlobs({ samples, chunk, centers }: Blobs) {
  const bounds = Array.from({ length: Math.ceil(samples / chunk) }, (_, i) => i * chunk);
  return {
    name: 'makeBlobs',
    load: (): Delayed<Points>[] =>
      bounds.map((from) => work.makeBlobs(centers, samples, from, Math.min(samples, from + chunk))),
    /** Returns the blob of each point. */
    truth: (): Int32Array =>
      Int32Array.from({ length: samples }, (_, i) => blobOf(i, samples, centers.length)),
  };
}

/** Normalises all coordinates of all points to mean 0 and standard deviation 1. */
export const normalize = {
  name: 'Normalize',
  transform: ({ X }: Source): Delayed<Points>[] => {
    const parts = X.map((chunk) => work.moments(chunk));
    return X.map((chunk) => work.normalize(chunk, parts));
  },
};

/** Points per point of the sample from which the initial centres are chosen. */
const SAMPLE_EVERY = 50;

export interface KMeansOptions {
  readonly clusters: number;
  readonly maxIterations: number;
  readonly seed?: number;
}

/** Squared distance below which a centre counts as stable. */
const TOLERANCE = 1e-8;

/** Returns the steps of k-means. An iteration has one task per chunk and one task that moves the centres. */
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

/** Returns the steps of a self-organising map. An epoch has one task per chunk and one task that moves the nodes. */
export function selfOrganisingMap({ nodes, epochs, seed = 0 }: MapOptions) {
  const fit = async ({ X }: Source, { compute, persist }: OperatorContext): Promise<Points> => {
    const chunks = await persist(X);
    const samples = chunks.map((chunk) => work.sample(chunk, SAMPLE_EVERY));
    let learned = work.startNodes(samples, nodes, seed);
    // All epochs are one graph, because no intermediate result is needed here.
    for (let epoch = 0; epoch < epochs; epoch++) {
      const before = learned;
      const parts = chunks.map((chunk) => work.clusterSums(chunk, before));
      learned = work.learn(before, parts, radiusAt(epoch, epochs, nodes));
    }
    return compute(learned);
  };
  return { fit, fitPredict: predictor('SOM.fitPredict', fit) };
}

/** Returns a step that fits the centres and then predicts the nearest centre of each point, chunk by chunk. */
function predictor(name: string, fit: (source: Source, context: OperatorContext) => Promise<Points>) {
  const fitPredict = async (source: Source, context: OperatorContext): Promise<Delayed<Int32Array>[]> => {
    const centers = await fit(source, context);
    return source.X.map((chunk) => work.predict(chunk, centers));
  };
  Object.defineProperty(fitPredict, 'name', { value: name });
  return fitPredict;
}

/** Returns a step that computes its input and keeps the results on the workers. */
export function persistData(name: string) {
  const persist = ({ X }: { readonly X: readonly unknown[] }, context: OperatorContext): Promise<unknown> =>
    context.persist(X);
  Object.defineProperty(persist, 'name', { value: name });
  return persist;
}

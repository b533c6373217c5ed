// Steps of a small pipeline: numbers instead of points.
import { tasks } from 'longpole';

const work = tasks(import.meta.url, {
  chunk: (size: number): number[] => Array.from({ length: size }, (_, i) => i / size),
  moments: (chunk: readonly number[]): number => chunk.reduce((a, b) => a + b, 0) / chunk.length,
  scale: (chunk: readonly number[], means: readonly number[]): number[] =>
    chunk.map((x) => x - (means[0] ?? 0)),
  seedCenters: (chunks: readonly (readonly number[])[]): number[] => chunks.map((chunk) => chunk[0] ?? 0),
  clusterSums: (chunk: readonly number[], centers: readonly number[]): number =>
    chunk.length * centers.length,
  moveCenters: (centers: readonly number[], sums: readonly number[]) => ({ centers, shift: 0 * sums.length }),
});
export const { moments, scale, seedCenters, clusterSums, moveCenters } = work;

interface Source {
  readonly X: unknown;
}

export const blobs = { name: 'makeBlobs', load: () => [work.chunk(100), work.chunk(200)] };
export const normalize = { name: 'Normalize', transform: ({ X }: Source): unknown => X };
export const kmeans = { fitPredict: ({ X }: Source): unknown => X };
export const som = { fitPredict: async ({ X }: Source): Promise<unknown> => X };
export const persistKmeans = { name: 'persist KMeans', transform: ({ X }: Source): unknown => X };
export const persistSom = { name: 'persist SOM', transform: ({ X }: Source): unknown => X };

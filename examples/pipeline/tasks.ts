// The functions that run on the workers. Every isolate imports this module and finds the functions by name.
import { tasks } from 'longpole';
import { seeds, step } from './kMeans.js';
import {
  blobs,
  type Clusters,
  clusters,
  everyNth,
  joined,
  type Moments,
  moments,
  nearest,
  normalized,
  type Points,
} from './points.js';
import { learn, startNodes } from './selfOrganisingMap.js';

export const work = tasks(import.meta.url, {
  makeBlobs(centers: readonly (readonly number[])[], total: number, from: number, to: number): Points {
    return blobs(centers, total, from, to);
  },
  moments(points: Points): Moments {
    return moments(points);
  },
  normalize(points: Points, parts: readonly Moments[]): Points {
    return normalized(points, parts);
  },
  sample(points: Points, every: number): Points {
    return everyNth(points, every);
  },
  seedCenters(samples: readonly Points[], count: number, seed: number): Points {
    return seeds(joined(samples), count, seed);
  },
  startNodes(samples: readonly Points[], count: number, seed: number): Points {
    return startNodes(joined(samples), count, seed);
  },
  clusterSums(points: Points, centers: Points): Clusters {
    return clusters(points, centers);
  },
  moveCenters(
    centers: Points,
    parts: readonly Clusters[],
  ): { readonly centers: Points; readonly shift: number } {
    return step(centers, parts);
  },
  learn(nodes: Points, parts: readonly Clusters[], radius: number): Points {
    return learn(nodes, parts, radius);
  },
  predict(points: Points, centers: Points): Int32Array {
    return nearest(points, centers);
  },
});

// All rounds, in the order in which the soak runs them. Add each new round here.
import type { Round } from '../round.js';
import { bounds } from './bounds.js';
import { chaos } from './chaos.js';
import { clusters, fourClusters } from './clusters.js';
import { fullDisk } from './fullDisk.js';
import { gathers } from './gathers.js';
import { graphs } from './graphs.js';
import { limits } from './limits.js';
import { longMemory, memory } from './memory.js';
import { names } from './names.js';
import { nested } from './nested.js';
import { pprof } from './pprof.js';
import { programs } from './programs.js';
import { properties } from './properties.js';
import { readers } from './readers.js';
import { schedulers } from './schedulers.js';
import { signals } from './signals.js';
import { spill } from './spill.js';
import { steady } from './steady.js';
import { steals } from './steals.js';
import { sums } from './sums.js';
import { viewers, viewersOfProcesses } from './viewers.js';

export const ROUNDS: readonly Round[] = [
  chaos,
  steady,
  steals,
  graphs,
  nested,
  schedulers,
  readers,
  properties,
  pprof,
  names,
  memory,
  longMemory,
  spill,
  fullDisk,
  limits,
  gathers,
  clusters,
  fourClusters,
  programs,
  signals,
  viewers,
  viewersOfProcesses,
  sums,
  ...bounds,
];

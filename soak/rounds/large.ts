// Large runs and large files against bounds on memory and time. A bound is far from what is measured where nothing is wrong,
// and as far below what the known mistakes take.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { getMultiprocessing, getThreaded, type Graph } from 'longpole/local';
import type { Round, RoundContext } from '../round.js';

const MEGA = 1_000_000;

/** A part of the round that runs in a program of its own, because the peak of a process's memory never falls. */
interface Part {
  readonly checks: string;
  /** Bytes that the process may take at most. */
  readonly bytes?: number;
  /** CPU seconds that it may take. */
  readonly cpu?: number;
}

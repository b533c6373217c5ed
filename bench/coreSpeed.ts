// How fast the cores of this machine are, all the time. A virtual core is a hyperthread: while somebody else's program keeps
// the other one of its pair busy, code that computes without waiting takes 1.6 times as long, for seconds to minutes, and
// nothing tells of it (no steal time, no load). What is measured meanwhile is about that program.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { cpus } from 'node:os';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const PROBE = fileURLToPath(new URL('./coreProbe.js', import.meta.url));
/** A probe that takes so many times the shortest was slowed down. Between the two there is nothing: 1.0 or 1.6. */
const SLOWED = 1.25;
/** Of the probes of a core in order of their time, the one that says how fast it is undisturbed. */
const BEST = 0.02;
/** A core that takes turns tells little of itself in less time, in seconds. */
const LOOK = 2;

interface Probe {
  readonly child: ChildProcess;
  readonly times: number[];
  readonly ms: number[];
}

export class CoreSpeed {
  readonly #probes: readonly Probe[];

  /** One small process per core. Where processes cannot be kept on one core (`taskset`), nothing is known. */
  constructor() {
    const isPossible = spawnSync('taskset', ['--version']).status === 0;
    this.#probes = isPossible ? cpus().map((_, core) => startProbe(core)) : [];
  }

  /** Share of the time between the two, in seconds since the epoch, in which cores were slowed down; NaN: not known. */
  slowed(start: number, stop: number): number {
    const fast = SLOWED * Math.min(...this.#probes.map(({ ms }) => quantile(ms, BEST)));
    let [count, slow] = [0, 0];
    for (const { times, ms } of this.#probes) {
      for (const [at, time] of times.entries()) {
        if (time < start || time > stop) continue;
        count += 1;
        if ((ms[at] ?? 0) > fast) slow += 1;
      }
    }
    return slow / count;
  }

  /** Waits until all cores have been fast for two seconds, but no longer than this, in seconds. */
  async untilFast(limit: number): Promise<void> {
    const end = Date.now() / 1000 + limit;
    do await sleep(LOOK * 1000);
    while (this.slowed(Date.now() / 1000 - LOOK, Number.POSITIVE_INFINITY) > 0.05 && Date.now() / 1000 < end);
  }

  close(): void {
    for (const { child } of this.#probes) child.kill();
  }
}

function startProbe(core: number): Probe {
  const child = spawn('taskset', ['-c', String(core), process.execPath, PROBE], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const probe: Probe = { child, times: [], ms: [] };
  createInterface({ input: child.stdout }).on('line', (line) => {
    const [time = Number.NaN, ms = Number.NaN] = line.split(' ').map(Number);
    probe.times.push(time);
    probe.ms.push(ms);
  });
  return probe;
}

function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(share * (sorted.length - 1))] ?? Number.NaN;
}

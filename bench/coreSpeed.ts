// Measures the speed of this machine's cores continuously. A virtual core is a hyperthread. While a program of another
// virtual machine keeps the other hyperthread of the pair busy, computing takes 1.6 times as long, for seconds to
// minutes. Neither steal time nor load shows this, and measurements in that time are wrong.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { cpus } from 'node:os';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const PROBE = fileURLToPath(new URL('./coreProbe.js', import.meta.url));
/** Ratio to the fastest probe from which a probe counts as slowed down. Actual ratios are about 1.0 or 1.6. */
const SLOWED = 1.25;
/** Quantile of a core's probe times that counts as its undisturbed speed. */
const BEST = 0.02;
/** Period over which the speed is judged, in seconds. Slow and fast phases may alternate within shorter periods. */
const PERIOD = 2;

interface Probe {
  readonly child: ChildProcess;
  readonly times: number[];
  readonly ms: number[];
}

export class CoreSpeed {
  readonly #probes: readonly Probe[];

  /** Starts one probe per core. Without `taskset`, which binds a process to a core, the speed is unknown. */
  constructor() {
    const isPossible = spawnSync('taskset', ['--version']).status === 0;
    this.#probes = isPossible ? cpus().map((_, core) => startProbe(core)) : [];
  }

  /**
   * Returns the share of the period in which cores were slowed down; NaN if unknown. Times in seconds since the epoch.
   */
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

  /** Waits until all cores have been fast for two seconds, at most `limit` seconds. */
  async untilFast(limit: number): Promise<void> {
    const end = Date.now() / 1000 + limit;
    do await sleep(PERIOD * 1000);
    while (
      this.slowed(Date.now() / 1000 - PERIOD, Number.POSITIVE_INFINITY) > 0.05 &&
      Date.now() / 1000 < end
    );
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

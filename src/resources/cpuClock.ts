// CPU time of any process or thread of this machine. Linux has a clock for each, exact to a microsecond and read in
// less than one. /proc counts in hundredths of a second; at ten samples a second those are steps of 10 %.
import { openLibrary } from './nativeLibrary.js';
import { procTicks, TICKS_PER_SECOND } from './processTree.js';

const SECOND = 1_000_000_000n;
/** Kinds of clocks, in the lowest bits of a Linux clock id. */
const OF_PROCESS = 2;
const OF_THREAD = 6;

type GetTime = (clock: number, time: BigInt64Array) => number;

export class CpuClock {
  readonly #getTime: GetTime | undefined = openLibrary([null], (library) =>
    library.func('int clock_gettime(int, _Out_ int64_t *)'),
  );
  readonly #time = new BigInt64Array(2);

  /** Returns the CPU seconds of a process with all its threads; NaN if unknown. */
  process(pid: number): number {
    const seconds = this.#seconds(clockOf(pid, OF_PROCESS));
    if (!Number.isNaN(seconds)) return seconds;
    if (process.platform === 'linux') return procTicks(`${pid}`) / TICKS_PER_SECOND;
    if (pid !== process.pid) return Number.NaN;
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  }

  /** Returns the CPU seconds of one thread; NaN if unknown, and once the thread has ended. */
  thread(pid: number, tid: number): number {
    if (!(tid > 0)) return Number.NaN;
    const seconds = this.#seconds(clockOf(tid, OF_THREAD));
    if (!Number.isNaN(seconds) || process.platform !== 'linux') return seconds;
    return procTicks(`${pid}/task/${tid}`) / TICKS_PER_SECOND;
  }

  #seconds(clock: number): number {
    if (this.#getTime === undefined || this.#getTime(clock, this.#time) !== 0) return Number.NaN;
    const [seconds, nanoseconds] = this.#time;
    return Number(seconds! * SECOND + nanoseconds!) / 1e9;
  }
}

function clockOf(id: number, kind: number): number {
  return (~id << 3) | kind;
}

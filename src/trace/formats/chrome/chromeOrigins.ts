// Who recorded the events of a Chrome trace: processes and threads by the ids that the file uses, whose names may come at
// any time.
import type { TraceBuilder } from '../../traceBuilder.js';

/** A process of the file. Each is a worker. */
export interface ChromeProcess {
  /** Text id of the pid. */
  readonly pid: number;
  /** Text id, -1: the file gave none. */
  name: number;
  /** Row of the trace's workers; -1 until it is asked for. */
  row: number;
  readonly threads: Map<number, number>;
}

export class ChromeOrigins {
  readonly processes: ChromeProcess[] = [];
  readonly #builder: TraceBuilder;
  readonly #byPid = new Map<number, number>();
  /** Lane → process and thread. */
  readonly #laneProcess: number[] = [];
  readonly #laneThread: number[] = [];
  readonly #names = new Set<string>();
  readonly #last = { pid: -2, process: -1, tid: -2, lane: -1 };

  constructor(builder: TraceBuilder) {
    this.#builder = builder;
  }

  /** The number of a process; ids of texts, -1 where an event names none. */
  process(pid: number): number {
    const last = this.#last;
    if (pid === last.pid) return last.process;
    let process = this.#byPid.get(pid);
    if (process === undefined) {
      process = this.processes.length;
      this.processes.push({ pid, name: -1, row: -1, threads: new Map() });
      this.#byPid.set(pid, process);
    }
    last.pid = pid;
    last.process = process;
    last.tid = -2;
    return process;
  }

  /** The number of a thread among all of the trace. */
  lane(pid: number, tid: number): number {
    const process = this.process(pid);
    const last = this.#last;
    if (tid === last.tid) return last.lane;
    const { threads } = this.processes[process]!;
    let lane = threads.get(tid);
    if (lane === undefined) {
      lane = this.#laneProcess.length;
      this.#laneProcess.push(process);
      this.#laneThread.push(threads.size);
      threads.set(tid, lane);
    }
    last.tid = tid;
    last.lane = lane;
    return lane;
  }

  processOf(lane: number): ChromeProcess {
    return this.processes[this.#laneProcess[lane]!]!;
  }

  /** Threads of a process are numbered in the order in which they come up. */
  threadOf(lane: number): number {
    return this.#laneThread[lane]!;
  }

  /** The row of a process among the workers, made at the first question: ask when its name is known. */
  workerOf(process: ChromeProcess): number {
    if (process.row < 0) {
      process.name = this.#uniqueName(process);
      process.row = this.#builder.workers.of(-1, process.name);
    }
    return process.row;
  }

  /** Processes may share a name, workers may not: those that come later get their pid behind it. */
  #uniqueName({ name, pid }: ChromeProcess): number {
    const { strings } = this.#builder;
    const number = pid < 0 ? '' : strings.get(pid);
    let text = name < 0 ? number : strings.get(name);
    if (this.#names.has(text)) text = `${text} (${number})`;
    while (this.#names.has(text)) text += "'";
    this.#names.add(text);
    return strings.internString(text);
  }
}

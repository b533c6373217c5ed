// Processes and threads of a Chrome trace by the ids in the file. Their names may appear anywhere in the file.
import { getOrMake } from '../../../base/lookUps.js';
import type { TraceBuilder } from '../../traceBuilder.js';

/** A process of the file, which becomes a worker. */
export interface ChromeProcess {
  /** Pid, as id of a text. */
  readonly pid: number;
  /** Name, as id of a text; -1 if unknown. */
  name: number;
  /** Row among the trace's workers; -1 until `workerOf` creates it. */
  row: number;
  readonly threads: Map<number, number>;
}

export class ChromeOrigins {
  readonly processes: ChromeProcess[] = [];
  readonly #builder: TraceBuilder;
  readonly #byPid = new Map<number, number>();
  /** Process and thread, by lane. */
  readonly #laneProcess: number[] = [];
  readonly #laneThread: number[] = [];
  readonly #names = new Set<string>();
  readonly #last = { pid: -2, process: -1, tid: -2, lane: -1 };

  constructor(builder: TraceBuilder) {
    this.#builder = builder;
  }

  /** Returns the index of a process. `pid` is the id of a text, or -1. */
  process(pid: number): number {
    const last = this.#last;
    if (pid === last.pid) return last.process;
    const process = getOrMake(
      this.#byPid,
      pid,
      () => this.processes.push({ pid, name: -1, row: -1, threads: new Map() }) - 1,
    );
    last.pid = pid;
    last.process = process;
    last.tid = -2;
    return process;
  }

  /** Returns the index of a thread among all threads of the trace. */
  lane(pid: number, tid: number): number {
    const process = this.process(pid);
    const last = this.#last;
    if (tid === last.tid) return last.lane;
    const { threads } = this.processes[process]!;
    const lane = getOrMake(threads, tid, () => {
      this.#laneThread.push(threads.size);
      return this.#laneProcess.push(process) - 1;
    });
    last.tid = tid;
    last.lane = lane;
    return lane;
  }

  processOf(lane: number): ChromeProcess {
    return this.processes[this.#laneProcess[lane]!]!;
  }

  /** Returns the number of a thread in its process, in the order of first appearance. */
  threadOf(lane: number): number {
    return this.#laneThread[lane]!;
  }

  /**
   * Returns the row of a process among the workers. The first call creates the row, so call this when the name is
   * known.
   */
  workerOf(process: ChromeProcess): number {
    if (process.row < 0) {
      process.name = this.#uniqueName(process);
      process.row = this.#builder.workers.of(-1, process.name);
    }
    return process.row;
  }

  /** Returns a unique name for a worker. Further processes of the same name get their pid as suffix. */
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

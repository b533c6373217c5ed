// Shows the progress of a program on stderr: a line that is redrawn on a terminal, or a few lines in a log. The line is
// erased before output of the program, and drawn again when the program has written nothing for a moment.
import { writeSync } from 'node:fs';
import type { ClusterObserver } from '../../api/trace.js';
import { countText, integerText } from '../../base/words.js';

const STDERR = 2;
/** Milliseconds between two drawings. */
const REFRESH_MS = 100;
/** Milliseconds before the first drawing. */
const APPEARS_AFTER_MS = 500;
/** Milliseconds without output of the program before a drawing. */
const QUIET_MS = 400;
/** Minimum distance of two lines in a log. */
const LOG_STEP_PERCENT = 10;
const LOG_STEP_MS = 5000;
const WIDTH = 30;
const ERASE = '\r\u001b[K';

type Event<K extends keyof ClusterObserver> = Parameters<NonNullable<ClusterObserver[K]>>[0];

export interface RunProgressOptions {
  /** Characters in a line of the terminal; undefined for a log. */
  readonly columns?: number | undefined;
  /** Port that the dashboard was to use. Default: any. */
  readonly port?: number;
  /** Clock in milliseconds. */
  readonly now?: () => number;
  readonly write?: (text: string) => void;
  /** Outputs before which the line is erased. Default: stdout and stderr, if they are terminals. */
  readonly outputs?: readonly NodeJS.WriteStream[];
}

interface Part {
  readonly size: number;
  ended: number;
  /** Tasks whose latest run failed. A retry replaces it. */
  readonly erred: Set<number>;
}

export class RunProgress implements ClusterObserver {
  readonly #columns: number | undefined;
  readonly #port: number;
  readonly #now: () => number;
  readonly #write: (text: string) => void;
  readonly #parts = new Map<object, Part>();
  #size = 0;
  #ended = 0;
  #erred = 0;
  #began = Number.NaN;
  #drawnAt = Number.NEGATIVE_INFINITY;
  #outputAt = Number.NEGATIVE_INFINITY;
  #loggedPercent = 0;
  #visible = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: RunProgressOptions = {}) {
    const { stdout, stderr } = process;
    this.#columns = 'columns' in options ? options.columns : stderr.isTTY ? stderr.columns : undefined;
    this.#port = options.port ?? 0;
    this.#now = options.now ?? (() => performance.now());
    this.#write = options.write ?? writeToTerminal;
    if (this.#columns === undefined) return;
    const outputs = options.outputs ?? [stdout, stderr].filter(({ isTTY }) => isTTY);
    for (const output of outputs) this.#eraseBefore(output);
  }

  computationAdded(computation: Event<'computationAdded'>): void {
    // Scattered values, and results of futures that the computation uses, never run. They count with the computation
    // that runs them.
    const size = computation.size - (computation.given?.length ?? 0);
    if (computation.functions.length === 0 || size <= 0) return;
    this.#begin();
    this.#parts.set(computation, { size, ended: 0, erred: new Set() });
    this.#size += size;
    // More tasks are a smaller share, from which the log continues.
    this.#loggedPercent = Math.min(this.#loggedPercent, this.#percent);
  }

  computationForgotten(computation: Event<'computationForgotten'>): void {
    const part = this.#parts.get(computation);
    if (part === undefined) return;
    this.#parts.delete(computation);
    // Tasks that were cancelled before they ran count as finished.
    this.#ended += Math.max(0, part.size - part.ended);
    this.#show();
  }

  tasksEnded({ computation, count, ids, states }: Event<'tasksEnded'>): void {
    const part = this.#parts.get(computation);
    if (part === undefined) return;
    const { erred } = part;
    let ended = 0;
    this.#erred -= erred.size;
    for (let i = 0; i < count; i++) {
      if (states[i] === 0) ended++;
      if (states[i] === 1) erred.add(ids[i]!);
      else erred.delete(ids[i]!);
    }
    this.#erred += erred.size;
    // A lost result is computed again, but counts once.
    const more = Math.min(ended, part.size - part.ended);
    part.ended += more;
    this.#ended += more;
    this.#show();
  }

  event({ topic, text }: Event<'event'>): void {
    if (topic === 'dashboard') {
      // A URL omits the default port of HTTP.
      const port = Number(new URL(text).port || 80);
      const isOther = this.#port !== 0 && port !== this.#port;
      this.#note(`dashboard at ${text}${isOther ? ` (port ${this.#port} is not free)` : ''}`);
    }
    if (topic === 'dashboard-failed') this.#note(`no dashboard: ${text}`);
  }

  #note(text: string): void {
    this.#erase();
    this.#write(`longpole: ${text}\n`);
  }

  #begin(): void {
    if (Number.isNaN(this.#began)) this.#began = this.#now();
    if (this.#timer !== undefined) return;
    this.#timer = setInterval(() => this.#show(), REFRESH_MS);
    this.#timer.unref();
  }

  #show(): void {
    if (this.#ended >= this.#size) {
      this.#erase();
      clearInterval(this.#timer);
      this.#timer = undefined;
      return;
    }
    const now = this.#now();
    if (now - this.#began < APPEARS_AFTER_MS) return;
    if (this.#columns === undefined) this.#log(now);
    else if (now - this.#drawnAt >= REFRESH_MS && now - this.#outputAt >= QUIET_MS)
      this.#draw(now, this.#columns);
  }

  #draw(now: number, columns: number): void {
    const tail = this.#text(now);
    const cells = Math.max(0, Math.min(WIDTH, columns - tail.length - 4));
    const bar = '#'.repeat(Math.floor((cells * this.#ended) / this.#size)).padEnd(cells);
    this.#write(`${ERASE}${`[${bar}] ${tail}`.slice(0, columns - 1)}`);
    this.#drawnAt = now;
    this.#visible = true;
  }

  #log(now: number): void {
    const percent = this.#percent;
    if (percent < this.#loggedPercent + LOG_STEP_PERCENT) return;
    if (now - Math.max(this.#began, this.#drawnAt) < LOG_STEP_MS) return;
    this.#loggedPercent = percent;
    this.#drawnAt = now;
    this.#write(`longpole: ${this.#text(now)}\n`);
  }

  /** Returns e.g. `24 %, 1,234 of 5,000 tasks, 12.1 s, 2 failed`. */
  #text(now: number): string {
    const percent = Math.floor(this.#percent);
    const seconds = ((now - this.#began) / 1000).toFixed(1);
    const failed = this.#erred === 0 ? '' : `, ${this.#erred} failed`;
    return `${percent} %, ${integerText(this.#ended)} of ${countText(this.#size, 'task')}, ${seconds} s${failed}`;
  }

  get #percent(): number {
    return (100 * this.#ended) / this.#size;
  }

  #erase(): void {
    if (!this.#visible) return;
    this.#write(ERASE);
    this.#visible = false;
  }

  #eraseBefore(output: NodeJS.WriteStream): void {
    output.write = new Proxy(output.write, {
      apply: (write, self, args) => {
        this.#erase();
        this.#outputAt = this.#now();
        return Reflect.apply(write, self, args);
      },
    });
  }
}

function writeToTerminal(text: string): void {
  try {
    writeSync(STDERR, text);
  } catch {
    // The terminal is closed or not ready. The progress must not disturb the program.
  }
}

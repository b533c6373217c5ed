// How far a program is, on stderr: a line that is drawn over on a terminal, a few lines in a log. The program's own output
// comes first: the line makes way for it, and comes back once the program has been quiet for a moment.
import { writeSync } from 'node:fs';
import type { ClusterObserver } from '../../api/trace.js';
import { countText } from '../../base/words.js';

const STDERR = 2;
/** Milliseconds between two drawings, before the first, and of quiet before a drawing. */
const REFRESH_MS = 100;
const APPEARS_AFTER_MS = 500;
const QUIET_MS = 400;
/** In a log: a further line at most every so many percent, and at most every so many milliseconds. */
const LOG_STEP_PERCENT = 10;
const LOG_STEP_MS = 5000;
const WIDTH = 30;
const ERASE = '\r\u001b[K';

type Told<K extends keyof ClusterObserver> = Parameters<NonNullable<ClusterObserver[K]>>[0];

export interface RunProgressOptions {
  /** Characters in a line of the terminal; undefined: it is a log. */
  readonly columns?: number | undefined;
  /** Milliseconds on any clock. */
  readonly now?: () => number;
  readonly write?: (text: string) => void;
  /** Whose output the line makes way for. Default: those of stdout and stderr that are terminals. */
  readonly outputs?: readonly NodeJS.WriteStream[];
}

/** What is known of a computation that goes on. */
interface Part {
  readonly size: number;
  ended: number;
}

export class RunProgress implements ClusterObserver {
  readonly #columns: number | undefined;
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
    this.#now = options.now ?? (() => performance.now());
    this.#write = options.write ?? writeToTerminal;
    if (this.#columns === undefined) return;
    const outputs = options.outputs ?? [stdout, stderr].filter(({ isTTY }) => isTTY);
    for (const output of outputs) this.#makeWayFor(output);
  }

  computationAdded(computation: Told<'computationAdded'>): void {
    // Values that a client has brought to the workers are computations without functions.
    if (computation.functions.length === 0) return;
    if (this.#parts.size === 0) this.#begin();
    this.#parts.set(computation, { size: computation.size, ended: 0 });
    this.#size += computation.size;
  }

  computationForgotten(computation: Told<'computationForgotten'>): void {
    const part = this.#parts.get(computation);
    if (part === undefined) return;
    this.#parts.delete(computation);
    // What was cancelled before it ran is done, too.
    this.#ended += Math.max(0, part.size - part.ended);
    this.#show();
  }

  tasksEnded({ computation, count, states }: Told<'tasksEnded'>): void {
    const part = this.#parts.get(computation);
    let ended = 0;
    for (let i = 0; i < count; i++) {
      if (states[i] === 0) ended++;
      if (states[i] === 1) this.#erred++;
    }
    if (part === undefined) return;
    // A result that was lost is computed again.
    const more = Math.min(ended, part.size - part.ended);
    part.ended += more;
    this.#ended += more;
    this.#show();
  }

  event({ topic, text }: Told<'event'>): void {
    if (topic === 'dashboard') this.#say(`dashboard at ${text}`);
    if (topic === 'dashboard-failed') this.#say(`no dashboard: ${text}`);
  }

  #say(text: string): void {
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
    const percent = (100 * this.#ended) / this.#size;
    if (percent < this.#loggedPercent + LOG_STEP_PERCENT) return;
    if (now - Math.max(this.#began, this.#drawnAt) < LOG_STEP_MS) return;
    this.#loggedPercent = percent;
    this.#drawnAt = now;
    this.#write(`longpole: ${this.#text(now)}\n`);
  }

  /** `24 %, 1,234 of 5,000 tasks, 12.1 s, 2 failed` */
  #text(now: number): string {
    const percent = Math.floor((100 * this.#ended) / this.#size);
    const seconds = ((now - this.#began) / 1000).toFixed(1);
    const failed = this.#erred === 0 ? '' : `, ${this.#erred} failed`;
    return `${percent} %, ${this.#ended.toLocaleString('en')} of ${countText(this.#size, 'task')}, ${seconds} s${failed}`;
  }

  #erase(): void {
    if (!this.#visible) return;
    this.#write(ERASE);
    this.#visible = false;
  }

  #makeWayFor(output: NodeJS.WriteStream): void {
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
    // Nobody reads it, or the terminal is not ready: the program goes on.
  }
}

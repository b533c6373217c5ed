// The common part of Profiler, ResourceProfiler and CacheProfiler: printing, pages, and results that begin anew.
import { INSPECT } from '../base/printed.js';
import { countText } from '../base/words.js';
import type { RunObserver } from '../protocol/runObserver.js';
import { Callback, ENTERED, OBSERVERS, WATCHERS } from './callback.js';
import { ADD_TO, type PageSource, type ProfilerTrace } from './profilerTrace.js';
import { type VisualizeOptions, visualize } from './visualize.js';

export abstract class RunProfiler extends Callback implements PageSource {
  /** Name of one result, for `toString`. */
  readonly #result: string;
  #fresh = false;

  /** @internal */
  protected constructor(result: string) {
    super();
    this.#result = result;
  }

  abstract get results(): readonly unknown[];

  /** Returns a text such as `<Profiler: 3 tasks>`. */
  override toString(): string {
    return `<${this.constructor.name}: ${countText(this.results.length, this.#result)}>`;
  }

  [INSPECT](): string {
    return this.toString();
  }

  /**
   * Writes a self-contained HTML page with the results over time: tasks as rectangles in one lane per worker, CPU and
   * memory as lines, held results as one line per prefix. See `visualize`.
   *
   * @returns the absolute path of the page
   * @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT for invalid options, ERR_LONGPOLE_PAGE_FILE if the file cannot
   *   be written
   */
  visualize(options?: VisualizeOptions): string {
    return visualize(this, options);
  }

  override [ENTERED](): void {
    this.#fresh = true;
  }

  /** @internal Calls `clear` at the first run of a `using` block, to remove the results of earlier blocks. */
  protected runBegins(clear: () => void): void {
    if (this.#fresh) clear();
    this.#fresh = false;
  }

  override [OBSERVERS](): RunObserver[] {
    return this[WATCHERS]() ?? [];
  }

  abstract [ADD_TO](page: ProfilerTrace): void;
}

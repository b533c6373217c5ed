// Reads Chrome Trace JSON from chunks of text into a TraceBuilder.
import type { TraceBuilder } from '../../traceBuilder.js';
import type { ByteReader } from '../dasf/dasfReader.js';
import { ChromeEvents } from './chromeEvents.js';
import { ChromeText } from './chromeText.js';

/**
 * Reads one text into `builder` and reports damage there. After the last chunk, `problem` explains why the text is no
 * trace.
 *
 * @source the Trace Event Format, as chrome://tracing and Perfetto read it
 */
export class ChromeReader implements ByteReader {
  readonly #builder: TraceBuilder;
  readonly #text: ChromeText;
  readonly #events: ChromeEvents;
  #over = false;

  constructor(builder: TraceBuilder) {
    this.#builder = builder;
    const sink: { events?: ChromeEvents } = {};
    this.#text = new ChromeText({
      event: (fields) => sink.events?.event(fields) ?? false,
      damage: (offset, size, reason) => builder.addDamage(offset, size, reason),
    });
    this.#events = new ChromeEvents(builder, this.#text.cursor, this.#text.args);
    sink.events = this.#events;
  }

  /** `bytes` may be reused after the call, because all texts are interned. */
  feed(bytes: Uint8Array, length: number, last: boolean): number {
    const consumed = this.#text.feed(bytes, length, last);
    if (last && !this.#over) {
      this.#over = true;
      this.#events.finish();
    }
    return consumed;
  }

  /**
   * Reason why the text is no Chrome trace, a clause without a full stop. Undefined for a trace, and before the last
   * chunk.
   */
  get problem(): string | undefined {
    if (!this.#over) return undefined;
    const { found, otherFields, whole } = this.#text;
    if (!found) {
      const names = otherFields.length === 0 ? 'no fields' : `the fields ${otherFields.join(', ')}`;
      return `it is JSON with ${names}, but without traceEvents`;
    }
    return this.#builder.eventCount === 0 && !whole
      ? 'it is JSON, but holds no event with a phase (ph) and valid times (ts, dur)'
      : undefined;
  }
}

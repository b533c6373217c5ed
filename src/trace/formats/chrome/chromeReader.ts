// Chrome Trace JSON as a trace: chunks of text in, rows of a TraceBuilder out.
import type { TraceBuilder } from '../../traceBuilder.js';
import type { ByteReader } from '../dasf/dasfReader.js';
import { ChromeEvents } from './chromeEvents.js';
import { ChromeText } from './chromeText.js';

/**
 * Reads one text into `builder`. Damage is reported there; after the last chunk `problem` says if the text was no trace.
 *
 * @source the Trace Event Format, as chrome://tracing and Perfetto read it
 */
export class ChromeReader implements ByteReader {
  readonly #text: ChromeText;
  readonly #events: ChromeEvents;
  #over = false;

  constructor(builder: TraceBuilder) {
    const sink: { events?: ChromeEvents } = {};
    this.#text = new ChromeText({
      event: (fields) => sink.events?.event(fields) ?? false,
      damage: (offset, size, reason) => builder.addDamage(offset, size, reason),
    });
    this.#events = new ChromeEvents(builder, this.#text.cursor, this.#text.args);
    sink.events = this.#events;
  }

  /** Bytes are kept by nobody: every text is in the trace's strings. */
  feed(bytes: Uint8Array, length: number, last: boolean): number {
    const consumed = this.#text.feed(bytes, length, last);
    if (last && !this.#over) {
      this.#over = true;
      this.#events.finish();
    }
    return consumed;
  }

  /** Why the text is no Chrome trace; undefined if it is one, and before its end. A clause without a full stop. */
  get problem(): string | undefined {
    if (!this.#over) return undefined;
    const { found, otherFields, whole } = this.#text;
    if (!found) {
      const names = otherFields.length === 0 ? 'no fields' : `the fields ${otherFields.join(', ')}`;
      return `it is JSON with ${names}, but without traceEvents`;
    }
    return this.#events.empty && !whole ? 'it is JSON, but holds no event with a phase (ph)' : undefined;
  }
}

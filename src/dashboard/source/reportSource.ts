// The trace that stands in the page itself.
import { decodeReport } from '../../trace/recording/reportBytes.js';
import { unpackPageData } from './inflate.js';
import type { SourceSink, TraceSource } from './traceSource.js';

export class ReportSource implements TraceSource {
  readonly #text: string;

  /** `text`: base64 of the compressed bytes. */
  constructor(text: string) {
    this.#text = text;
  }

  start(sink: SourceSink): void {
    sink.status('loading');
    this.#read(sink).catch((error: unknown) => sink.fail(error));
  }

  async #read(sink: SourceSink): Promise<void> {
    // The page is painted before it is busy.
    await new Promise((resolve) => setTimeout(resolve));
    const { trace, title, facts, address } = decodeReport(await unpackPageData(this.#text));
    if (address !== '' && location.hash === '') location.hash = address;
    sink.update({ trace, title, facts, live: undefined });
    sink.status('whole');
  }

  close(): void {}
}

// The dashboard: chooses where its trace comes from, and shows it. In a report the trace stands in the page, from a server
// it comes over a WebSocket, and a file may be dropped on the page at any time.
import './views/base.css';
import './views/plots.css';
import './views/panels.css';
import './views/shell.css';
import './views/summary.css';
import './views/tables.css';
import { render } from 'preact';
import { decodeReport, REPORT_ELEMENT } from '../trace/recording/reportBytes.js';
import { unpackPageData } from './source/inflate.js';
import { LiveSource } from './source/liveSource.js';
import type { SourceSink, TraceSource } from './source/traceSource.js';
import { Shell, type ShellHooks } from './views/shell.js';
import { ShellState } from './views/shellState.js';
import { showTextsSafely } from './views/shownText.js';

declare global {
  /** For tests and scripts: what the dashboard shows, and when it is at rest. */
  var longpoleDashboard: ShellHooks | undefined;
}

/** The trace that stands in the page itself. The class comes first: the module runs from top to bottom. */
class ReportSource implements TraceSource {
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
    if (address !== '' && location.hash === '') {
      // Announced at once: the page that a new hash announces later would be drawn for nothing.
      history.replaceState(null, '', `#${address}`);
      dispatchEvent(new Event('hashchange'));
    }
    sink.update({ trace, title, facts, live: undefined });
    sink.status('whole');
  }

  close(): void {}
}

/** Undefined: a template from disk, that waits for a file. */
function sourceOfPage(): TraceSource | undefined {
  const element = document.getElementById(REPORT_ELEMENT);
  const text = element?.textContent?.trim() ?? '';
  if (text !== '' && !text.startsWith('@')) {
    // Megabytes of text that nobody needs twice.
    element?.replaceChildren();
    return new ReportSource(text);
  }
  return location.protocol === 'file:' ? undefined : new LiveSource(location.href);
}

showTextsSafely();

// What a server gives out is the template as it is; the trace brings the title.
if (document.title.startsWith('@')) document.title = 'Longpole';

const app = document.getElementById('app');
if (app !== null) {
  const state = new ShellState();
  const register = (hooks: ShellHooks) => {
    globalThis.longpoleDashboard = hooks;
  };
  render(<Shell state={state} register={register} />, app);
  const source = sourceOfPage();
  if (source !== undefined) state.open(source);
}

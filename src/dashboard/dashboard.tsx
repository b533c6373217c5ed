// The dashboard: chooses the source of the trace and shows it. A report contains its trace, and a server sends it over
// a WebSocket. The user can drop files on the page at any time.
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
  /** Hooks for tests and scripts: the state of the dashboard, and a promise that it is idle. */
  var longpoleDashboard: ShellHooks | undefined;
}

/** The trace in the page itself. The class must precede the code below, which uses it while the module is evaluated. */
class ReportSource implements TraceSource {
  readonly #text: string;

  /** `text` is base64 of the compressed bytes. */
  constructor(text: string) {
    this.#text = text;
  }

  start(sink: SourceSink): void {
    sink.status('loading');
    this.#read(sink).catch((error: unknown) => sink.fail(error));
  }

  async #read(sink: SourceSink): Promise<void> {
    // The browser paints the page before decoding blocks it.
    await new Promise((resolve) => setTimeout(resolve));
    const { trace, title, facts, address } = decodeReport(await unpackPageData(this.#text));
    if (address !== '' && location.hash === '') {
      // `replaceState` fires no event. Assigning `location.hash` fires it later, after another page was drawn.
      history.replaceState(null, '', `#${address}`);
      dispatchEvent(new Event('hashchange'));
    }
    sink.update({ trace, title, facts, live: undefined });
    sink.status('whole');
  }

  close(): void {}
}

/** Returns undefined for a template from disk, which waits for a file. */
function sourceOfPage(): TraceSource | undefined {
  const element = document.getElementById(REPORT_ELEMENT);
  const text = element?.textContent?.trim() ?? '';
  if (text !== '' && !text.startsWith('@')) {
    // The text can have many megabytes and is not needed again.
    element?.replaceChildren();
    return new ReportSource(text);
  }
  return location.protocol === 'file:' ? undefined : new LiveSource(location.href);
}

showTextsSafely();

// A server sends the unchanged template. Its title comes with the trace.
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

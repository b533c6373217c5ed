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
import { type TraceSource, type TraceUpdate, wholeSource } from './source/traceSource.js';
import { Shell, type ShellHooks } from './views/shell.js';
import { ShellState } from './views/shellState.js';
import { showTextsSafely } from './views/shownText.js';

declare global {
  /** Hooks for tests and scripts: the state of the dashboard, and a promise that it is idle. */
  var longpoleDashboard: ShellHooks | undefined;
}

/** Reads the trace in the page itself. `text` is base64 of the compressed bytes. */
async function readReport(text: string): Promise<TraceUpdate> {
  // The browser paints the page before decoding blocks it.
  await new Promise((resolve) => setTimeout(resolve));
  const { trace, title, facts, address } = decodeReport(await unpackPageData(text));
  if (address !== '' && location.hash === '') {
    // `replaceState` fires no event. Assigning `location.hash` fires it later, after another page was drawn.
    history.replaceState(null, '', `#${address}`);
    dispatchEvent(new Event('hashchange'));
  }
  return { trace, title, facts, live: undefined };
}

/** Returns undefined for a template from disk, which waits for a file. */
function sourceOfPage(): TraceSource | undefined {
  const element = document.getElementById(REPORT_ELEMENT);
  const text = element?.textContent?.trim() ?? '';
  if (text !== '' && !text.startsWith('@')) {
    // The text can have many megabytes and is not needed again.
    element?.replaceChildren();
    return wholeSource(() => readReport(text));
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

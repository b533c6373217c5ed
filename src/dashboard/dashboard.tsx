// The dashboard: chooses where its trace comes from, and shows it. In a report the trace stands in the page, from a server
// it comes over a WebSocket, and a file may be dropped on the page at any time.
import { render } from 'preact';
import { REPORT_ELEMENT } from '../trace/recording/reportBytes.js';
import { LiveSource } from './source/liveSource.js';
import { ReportSource } from './source/reportSource.js';
import type { TraceSource } from './source/traceSource.js';
import './views/base.css';
import './views/plots.css';
import './views/panels.css';
import './views/shell.css';
import './views/summary.css';
import './views/tables.css';
import { Shell, type ShellHooks } from './views/shell.js';
import { ShellState } from './views/shellState.js';

declare global {
  /** For tests and scripts: what the dashboard shows, and when it is at rest. */
  var longpoleDashboard: ShellHooks | undefined;
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

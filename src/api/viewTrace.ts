// The dashboard over a trace that was recorded: what `longpole view` does.
import { hostname } from 'node:os';
import { ANY, checkOptions, type OptionKinds, TEXT } from '../base/arguments.js';
import type { DashboardServer, DashboardServerOptions } from '../server/dashboardServer.js';
import type { Trace } from '../trace/trace.js';

export interface ViewTraceOptions extends Pick<DashboardServerOptions, 'host' | 'port' | 'token' | 'names'> {
  /** What stands above the pages. Default `Trace`. */
  readonly title?: string;
}

const OPTIONS: OptionKinds<ViewTraceOptions> = { host: ANY, port: ANY, token: ANY, names: ANY, title: TEXT };

/**
 * Serves the pages of the dashboard over a trace, until `close()`. The server alone does not keep the program alive;
 * `keepAlive()` has it do so.
 *
 * @returns the server; `link` is what to open in a browser
 * @throws (rejects) LongpoleError ERR_LONGPOLE_DASHBOARD, ERR_LONGPOLE_INVALID_ARGUMENT, ERR_LONGPOLE_PAGE_FILE
 */
export async function viewTrace(trace: Trace, given: ViewTraceOptions = {}): Promise<DashboardServer> {
  checkOptions('viewTrace()', given, OPTIONS);
  const { title = 'Trace', ...options } = given;
  // The server and its packages take a third of the time that this entry of the package loads.
  const { DashboardServer: Server } = await import('../server/dashboardServer.js');
  const { damage } = trace;
  const facts = {
    'Served by': hostname(),
    Tasks: trace.tasks.length.toLocaleString('en-US'),
    ...(damage === undefined ? {} : { Damage: damage.reason }),
  };
  return Server.start({ ...options, source: { kind: 'recorded', title, facts, trace } });
}

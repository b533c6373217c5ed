// `viewTrace`: serves the dashboard for a recorded trace, as `longpole view` does.
import { hostname } from 'node:os';
import { checkArgument, checkOptions, type OptionKinds, TEXT, TRACE } from '../base/arguments.js';
import { integerText } from '../base/words.js';
import type { DashboardServer } from '../server/dashboardServer.js';
import type { Trace } from '../trace/trace.js';
import { DASHBOARD_OPTIONS, type DashboardOptions } from './dashboardOptions.js';

export interface ViewTraceOptions extends DashboardOptions {
  /** Heading of the pages. Default: that of the trace, else `Trace`. */
  readonly title?: string;
}

const OPTIONS: OptionKinds<ViewTraceOptions> = { ...DASHBOARD_OPTIONS, title: TEXT };

/**
 * Serves the dashboard of a recorded trace until `close()`. The server does not keep the program alive unless
 * `keepAlive()` is called.
 *
 * @returns (resolves) the server; open its `link` in a browser
 * @throws (rejects) LongpoleError ERR_LONGPOLE_DASHBOARD if the server cannot listen at the host and the port,
 *   ERR_LONGPOLE_INVALID_ARGUMENT, ERR_LONGPOLE_PAGE_FILE if the files of the pages are missing
 */
export async function viewTrace(trace: Trace, given: ViewTraceOptions = {}): Promise<DashboardServer> {
  checkArgument('viewTrace(): trace', trace, TRACE);
  checkOptions('viewTrace()', given, OPTIONS);
  const { damage, about } = trace;
  const { title = about?.title || 'Trace', ...options } = given;
  // Loading the server takes a third of the load time of `longpole/trace`.
  const { DashboardServer: Server } = await import('../server/dashboardServer.js');
  const facts = {
    ...about?.facts,
    'Served by': hostname(),
    Tasks: integerText(trace.tasks.length),
    ...(damage === undefined ? {} : { Damage: damage.reason }),
  };
  return Server.start({ ...options, source: { kind: 'recorded', title, facts, trace } });
}

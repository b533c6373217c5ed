// The dashboard of a LocalCluster: what `dashboard` may say, and the server behind it.
import { LongpoleError } from '../../base/errors.js';
import { DashboardServer } from '../../server/dashboardServer.js';
import type { LiveTrace } from '../../trace/live/liveTrace.js';
import type { DashboardOptions } from './clusterOptions.js';
import { dashboardSource } from './dashboardSource.js';
import type { ObservedCluster } from './observedCluster.js';

type OpenCluster = ObservedCluster & { onClose(close: () => Promise<void> | void): void };

/** Starts it; it ends with the cluster. Returns the link. Throws (rejects) as `DashboardServer.start`. */
export async function startDashboard(
  cluster: OpenCluster,
  trace: LiveTrace,
  options: DashboardOptions,
): Promise<string> {
  const { source, close } = dashboardSource(cluster, trace);
  cluster.onClose(close);
  const server = await DashboardServer.start({ ...options, source });
  cluster.onClose(() => server.close('The cluster was closed.'));
  return server.link;
}

/**
 * Starts the dashboard that the settings ask for, not the program: at another port if this one is taken, and a cluster that
 * cannot have one does without. Where it is, or why it is not, is an event. Returns the link, if there is one.
 */
export async function startConfiguredDashboard(
  cluster: OpenCluster,
  trace: LiveTrace,
  configured: number,
): Promise<string | undefined> {
  return startAtFreePort(
    configured,
    (port) => startDashboard(cluster, trace, { port }),
    (topic, text) => cluster.engine.event(topic, text),
  );
}

/** Starts a dashboard at the configured port, or at another if that one is taken. Calls `event` as above. */
export async function startAtFreePort(
  configured: number,
  start: (port: number) => Promise<string>,
  event: (topic: 'dashboard' | 'dashboard-failed', text: string) => void,
): Promise<string | undefined> {
  for (const port of [configured, 0]) {
    try {
      const link = await start(port);
      event('dashboard', link);
      return link;
    } catch (error) {
      if (!(error instanceof LongpoleError)) throw error;
      if (port === 0 || error.code !== 'ERR_LONGPOLE_DASHBOARD') {
        event('dashboard-failed', error.message);
        return undefined;
      }
    }
  }
  return undefined;
}

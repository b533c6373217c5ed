// Starts the dashboard of a cluster.
import { LongpoleError } from '../../base/errors.js';
import type { LiveTrace } from '../../trace/live/liveTrace.js';
import type { DashboardOptions } from './clusterOptions.js';
import { dashboardSource } from './dashboardSource.js';
import type { ObservedCluster } from './observedCluster.js';

type OpenCluster = ObservedCluster & { onClose(close: () => Promise<void> | void): void };

/**
 * Starts a dashboard that ends with the cluster. Returns its link.
 *
 * @throws (rejects) the errors of `DashboardServer.start`
 */
export async function startDashboard(
  cluster: OpenCluster,
  trace: LiveTrace,
  options: DashboardOptions,
): Promise<string> {
  const { source, close } = dashboardSource(cluster, trace);
  cluster.onClose(close);
  const { DashboardServer } = await import('../../server/dashboardServer.js');
  const server = await DashboardServer.start({ ...options, source });
  cluster.onClose(() => server.close('The cluster was closed.'));
  return server.link;
}

/**
 * Starts a dashboard that the settings request. If it cannot start, the cluster runs without one. An event has the link
 * or the error. Returns the link, if any.
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

/**
 * Starts a dashboard at the configured port, or at a free port if that one is in use. Passes the link or the error to
 * `event`. Returns the link, if any.
 */
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

// The options of a dashboard's server that programs may pass.
import { ANY, type OptionKinds } from '../base/arguments.js';
import type { DashboardServerOptions } from '../server/dashboardServer.js';

/** Address and access of the dashboard; see docs/dashboard.md. */
export type DashboardOptions = Pick<
  DashboardServerOptions,
  'host' | 'port' | 'token' | 'names' | 'frameAncestors'
>;

/** The server checks the values. */
export const DASHBOARD_OPTIONS: OptionKinds<DashboardOptions> = {
  host: ANY,
  port: ANY,
  token: ANY,
  names: ANY,
  frameAncestors: ANY,
};

// The analyses of the pages. Each result is computed once per trace and shared by the pages.
import { criticalPath } from '../../analysis/criticalPath.js';
import { findings } from '../../analysis/findings/findings.js';
import { queueing } from '../../analysis/queueing.js';
import { notSimulated, speedups } from '../../analysis/speedups.js';
import { stolenWork } from '../../analysis/stolenWork.js';
import { timeByAction, timeByPrefix } from '../../analysis/timeTables.js';
import { transfersByPair, transfersByType } from '../../analysis/transferTables.js';
import { workerBalance } from '../../analysis/workerBalance.js';
import { groupGraph } from '../model/groupGraph.js';
import { CachedAnalysis } from '../views/useAnalysis.js';

export const CRITICAL_PATH = new CachedAnalysis((trace) => criticalPath(trace));
export const FINDINGS = new CachedAnalysis(findings);
export const SPEEDUPS = new CachedAnalysis(speedups);
export const NOT_SIMULATED = new CachedAnalysis(notSimulated);
export const QUEUEING = new CachedAnalysis(queueing);
export const STOLEN_WORK = new CachedAnalysis(stolenWork);
export const TIME_BY_ACTION = new CachedAnalysis(timeByAction);
export const TIME_BY_PREFIX = new CachedAnalysis(timeByPrefix);
export const TRANSFERS_BY_PAIR = new CachedAnalysis(transfersByPair);
export const TRANSFERS_BY_TYPE = new CachedAnalysis(transfersByType);
export const WORKER_BALANCE = new CachedAnalysis(workerBalance);
export const GROUPS = new CachedAnalysis((trace) => groupGraph(trace));
export const PREFIX_GRAPH = new CachedAnalysis((trace) => groupGraph(trace, 'prefix'));

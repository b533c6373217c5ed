// What the pages ask of a trace. Each answer is computed once, whoever asks first.
import { criticalPath } from '../../analysis/criticalPath.js';
import { findings } from '../../analysis/findings/findings.js';
import { queueing } from '../../analysis/queueing.js';
import { speedups } from '../../analysis/speedups.js';
import { timeByAction } from '../../analysis/timeByAction.js';
import { timeByPrefix } from '../../analysis/timeByPrefix.js';
import { transfersByPair, transfersByType } from '../../analysis/transferTables.js';
import { workerBalance } from '../../analysis/workerBalance.js';
import { groupGraph } from '../model/groupGraph.js';
import { AskedOnce } from '../views/useAnswer.js';

export const CRITICAL_PATH = new AskedOnce((trace) => criticalPath(trace));
export const FINDINGS = new AskedOnce(findings);
export const SPEEDUPS = new AskedOnce(speedups);
export const QUEUEING = new AskedOnce(queueing);
export const TIME_BY_ACTION = new AskedOnce(timeByAction);
export const TIME_BY_PREFIX = new AskedOnce(timeByPrefix);
export const TRANSFERS_BY_PAIR = new AskedOnce(transfersByPair);
export const TRANSFERS_BY_TYPE = new AskedOnce(transfersByType);
export const WORKER_BALANCE = new AskedOnce(workerBalance);
export const GROUPS = new AskedOnce((trace) => groupGraph(trace));
export const PREFIX_GRAPH = new AskedOnce((trace) => groupGraph(trace, 'prefix'));

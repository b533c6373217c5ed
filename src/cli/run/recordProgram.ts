// Inside the program: records all that it computes, and shows how far it is.
import { config } from '../../api/config.js';
import { localDashboard } from '../../api/localDashboard.js';
import { observeProgramAnd } from '../../api/observeProgram.js';
import { TraceWriter } from '../../api/traceFiles.js';
import { RunProgress } from './runProgress.js';
import type { RunSettings } from './settings.js';

/** Seconds. What a program that is killed computed in the last of them is not in its summary. */
const WRITE_EVERY = 0.25;

export function recordProgram({ directory }: RunSettings): void {
  // Without listeners for signals: they would keep Ctrl+C from a program that blocks its thread.
  const writer = TraceWriter.create(directory, { overwrite: true, interval: WRITE_EVERY, onSignals: false });
  const progress = new RunProgress();
  observeProgramAnd(
    [writer, progress],
    config.get('dashboard') ? localDashboard((event) => progress.event(event)) : [],
  );
}

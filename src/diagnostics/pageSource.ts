// The border between the profilers and the page: each profiler turns what it recorded into one section.
import type { ProfileSection } from '../protocol/profilePage.js';
import type { RunRecording } from '../trace/runRecording.js';

/** Gives out the page's row numbers, so that all sections of a page name tasks and workers alike. */
export interface PageRows {
  /** Row of the page's task table for this task of a run. */
  taskRow(recording: RunRecording, id: number): number;
  /** Index of the page's workers for this worker of a run. */
  workerRow(recording: RunRecording, worker: number): number;
}

export const SECTION: unique symbol = Symbol('longpole.section');

/** What `visualize` can show: Profiler, ResourceProfiler, CacheProfiler. */
export interface PageSource {
  [SECTION](rows: PageRows): ProfileSection;
}

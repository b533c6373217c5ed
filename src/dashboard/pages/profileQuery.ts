// What the page of the profile asks for: the choices of the page, and the window of time that all pages share.
import type { ProfileTreeOptions } from '../../analysis/profile.js';
import type { Trace } from '../../trace/trace.js';
import { showsEnd, showsStart } from '../model/timeView.js';
import type { PageState } from '../views/pageState.js';

/** Which samples are chosen. */
export interface ProfileChoice {
  /** Of tasks with this prefix. */
  readonly key?: string;
  /** Of tasks in spans whose names begin so. */
  readonly span?: readonly string[];
  /** Of this task, by its id. */
  readonly task?: number;
  /** Of the scheduler's own thread. */
  readonly scheduler?: boolean;
}

/** What the user has chosen on the page. */
export interface ProfileView {
  readonly view: PageState;
  readonly profile: { readonly value: ProfileChoice };
  readonly worker: { readonly value: number | undefined };
}

/** Without the time. */
export function chosenSamples(
  { key, span, task, scheduler }: ProfileChoice,
  worker: number | undefined,
  { workers, strings }: Trace,
): ProfileTreeOptions {
  if (scheduler === true) return { scheduler };
  const name = worker === undefined ? -1 : (workers.name[worker] ?? -1);
  return {
    ...(key === undefined ? {} : { key }),
    ...(span === undefined ? {} : { span }),
    ...(task === undefined ? {} : { task }),
    ...(name < 0 ? {} : { workers: [strings.get(name)] }),
  };
}

/** A window that shows the start or the end of the run is no limit there: samples may lie beyond its tasks. */
export function profileQuery(state: ProfileView, trace: Trace): ProfileTreeOptions {
  const { window, model } = state.view;
  const { limits, origin } = model;
  const chosen = chosenSamples(state.profile.value, state.worker.value, trace);
  return {
    ...chosen,
    ...(showsStart(limits, window.value) ? {} : { start: origin + window.value.start }),
    ...(showsEnd(limits, window.value) ? {} : { stop: origin + window.value.stop }),
  };
}

// The query of the profile page: the choices of the page, and the window of time that all pages share.
import type { ProfileTreeOptions } from '../../analysis/profile.js';
import { showsEnd, showsStart } from '../model/timeView.js';
import type { PageState } from '../views/pageState.js';

export type ProfileChoice = Pick<ProfileTreeOptions, 'key' | 'span' | 'task' | 'scheduler'>;

/** State of the page that determines the query. */
export interface ProfileView {
  readonly view: PageState;
  readonly profile: { readonly value: ProfileChoice };
  readonly worker: { readonly value: number | undefined };
}

/** Returns the query without the window of time. */
export function chosenSamples(
  { key, span, task, scheduler }: ProfileChoice,
  worker: number | undefined,
): ProfileTreeOptions {
  if (scheduler === true) return { scheduler };
  return {
    ...(key === undefined ? {} : { key }),
    ...(span === undefined ? {} : { span }),
    ...(task === undefined ? {} : { task }),
    ...(worker === undefined ? {} : { workers: [worker] }),
  };
}

/**
 * Returns the query. A window at the start or end of the run has no limit there, because samples may lie beyond its
 * tasks.
 */
export function profileQuery(state: ProfileView): ProfileTreeOptions {
  const { window, model } = state.view;
  const { limits, origin } = model;
  const chosen = chosenSamples(state.profile.value, state.worker.value);
  return {
    ...chosen,
    ...(showsStart(limits, window.value) ? {} : { start: origin + window.value.start }),
    ...(showsEnd(limits, window.value) ? {} : { stop: origin + window.value.stop }),
  };
}

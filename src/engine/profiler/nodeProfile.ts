import { isCovered } from '../../resources/coverage.js';

/**
 * Returns the option or variable with which Node profiles this program or measures its coverage; undefined without one. Node then
 * prints each message about another profile, with all its samples.
 */
export function nodeProfile(): string | undefined {
  const options = [...process.execArgv, process.env['NODE_OPTIONS'] ?? ''];
  if (options.some((text) => /--cpu-prof\b/.test(text))) return '--cpu-prof';
  return isCovered() ? 'NODE_V8_COVERAGE' : undefined;
}

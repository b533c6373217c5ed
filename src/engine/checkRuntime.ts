// Checks that the program runs on Node, whose threads and inspector Longpole uses.
import { LongpoleError } from '../base/errors.js';

/** @throws LongpoleError ERR_LONGPOLE_INSTALLATION under Bun, which lacks the inspector of Node's threads */
export function checkRuntime(): void {
  const { bun } = process.versions;
  if (bun === undefined) return;
  throw new LongpoleError(
    'ERR_LONGPOLE_INSTALLATION',
    `Longpole cannot start workers under Bun ${bun}. Run the program with Node 20.19 or newer.`,
  );
}

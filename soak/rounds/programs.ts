// Starts whole programs with worker processes, four at once. A program that waits without end prints its dump.
import { fileURLToPath } from 'node:url';
import { runNode } from '../../test/support/programs.js';
import type { Round, RoundContext } from '../round.js';

const PROGRAMS = 40;
const AT_ONCE = 4;
const MOST_TASKS = 30;
const SHORT_PROGRAM = fileURLToPath(new URL('../shortProgram.js', import.meta.url));

async function run(context: RoundContext): Promise<void> {
  const lengths = Array.from({ length: PROGRAMS }, () => 1 + context.random.below(MOST_TASKS));
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < PROGRAMS) {
      const index = next++;
      context.doing(`program ${index}`);
      const { code, stderr } = await context.timed('program', () =>
        runNode([SHORT_PROGRAM, String(lengths[index])]),
      );
      context.count('clusters');
      if (code !== 0) context.fail(new Error(`program ${index} ended with ${code}: ${stderr}`));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
}

export const programs: Round = {
  name: 'programs',
  checks: 'Short programs with worker processes start, compute and end, four at a time.',
  stressed: true,
  run,
};

// Reads the code samples of a page of the documentation. How a sample is checked follows from its language, its info string
// and its place on the page:
//
// - `ts`, `js`: a module (sampleModule.ts). It may use the names of earlier samples of the page.
// - `sh`: commands, run by bash in the folder of the page. `text` with lines that begin with `$ `: the same.
// - `python`: run in the same folder, in one process with the samples before it.
// - `yaml`, `json`: parsed.
// - `text` behind one of these in the same section: what it prints. Other `text` is a drawing.
//
// The info string may add `not run: REASON` to a sample that needs more than this machine. A summary of `longpole run` has
// `summary of PROGRAM ARGUMENTS`: the test runs that program, often with smaller inputs, and compares labels and counts
// (sampleSummary.ts). A summary that no program here can print has `layout`: only its labels are compared, with those of
// test/samples/any/program.mjs.
import { type Fence, readMarkdown } from './markdown.js';

export interface Sample {
  readonly fence: Fence;
  /** What the page shows as output. */
  readonly output?: Fence;
  /** Name of the file, if the page gives one: in a comment in the first line, or above the sample as `name`: */
  readonly file?: string;
  /** The program and the arguments whose summary this is. */
  readonly summaryOf?: string;
  /** Why this sample is not run. */
  readonly notRun?: string;
}

export const MODULES = ['ts', 'js'];
const CHECKED = [...MODULES, 'sh', 'python', 'yaml', 'json'];

/** @throws Error for a language or an info string without a rule */
export function samplesOf(page: string): Sample[] {
  const { fences, headings } = readMarkdown(page);
  const samples: Sample[] = [];
  for (const fence of fences) {
    const notRun = /^not run: (.+)$/.exec(fence.info)?.[1];
    const summaryOf = /^summary of (\S.*)$/.exec(fence.info)?.[1];
    if (![notRun, summaryOf].some((one) => one !== undefined) && !['', 'layout'].includes(fence.info))
      throw new Error(`Line ${fence.line}: the info string '${fence.info}' has no meaning`);
    if (fence.language === 'text') {
      const last = samples.at(-1);
      const isAlone =
        last === undefined || headings.some(({ line }) => line > last.fence.line && line < fence.line);
      if (summaryOf !== undefined) samples.push({ fence, summaryOf });
      else if (/^\$ /m.test(fence.text)) samples.push({ fence });
      else if (!isAlone && last.output === undefined && last.notRun === undefined)
        samples[samples.length - 1] = { ...last, output: fence };
      else if (fence.info === 'layout') samples.push({ fence });
    } else if (CHECKED.includes(fence.language)) {
      const file = fileOf(fence);
      samples.push({ fence, ...(notRun !== undefined && { notRun }), ...(file !== undefined && { file }) });
    } else throw new Error(`Line ${fence.line}: no rule checks samples in '${fence.language}'`);
  }
  return samples;
}

function fileOf({ text, above }: Fence): string | undefined {
  const name = '[\\w.-]+\\.(?:ts|mts|js|mjs|py|yaml)';
  return (new RegExp(`^(?://|#) (${name})\\n`).exec(text) ?? new RegExp(`\`(${name})\`:$`).exec(above))?.[1];
}

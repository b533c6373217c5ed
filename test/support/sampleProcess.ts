// A process that imports the code samples of a page, one after the other, and reports what each prints.
import { inspect } from 'node:util';

export interface SampleReport {
  readonly output: string;
  readonly error?: string;
}

let output = '';

/** Collects what is written to stdout. Node's types give `write` three forms. */
process.stdout.write = (chunk: string | Uint8Array, ...rest: unknown[]): boolean => {
  output += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString('utf8');
  const done = rest.at(-1);
  if (typeof done === 'function') done();
  return true;
};

async function reportOf(file: string): Promise<SampleReport> {
  output = '';
  try {
    await import(file);
    return { output };
  } catch (error) {
    return { output, error: inspect(error) };
  }
}

process.on('message', async (file: string) => {
  process.send?.(await reportOf(file));
});
process.on('disconnect', () => process.exit());

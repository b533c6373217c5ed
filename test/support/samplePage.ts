// Checks the code samples of one page of the documentation. samples.ts has the rules.
import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parse as parseYaml } from 'yaml';
import { pythonWith } from '#internal/files/pythonWith.test.support.js';
import { repositoryPath } from './repository.js';
import { SampleFolder, type SampleRoot } from './sampleFolder.js';
import { javascriptOf, type Names, type SampleModule, sampleModule } from './sampleModule.js';
import { firstMissing, isShown } from './sampleOutput.js';
import type { SampleReport } from './sampleProcess.js';
import { differentCounts, missingLabels } from './sampleSummary.js';
import { type Sample, samplesOf } from './samples.js';

const python = pythonWith('duckdb, pandas, polars, pyarrow');
const NO_READERS = 'no Python has duckdb, pandas, polars and pyarrow';

/**
 * Samples run in the order of the page, in one folder. The modules share one process, and the Python of all
 * pages shares another one.
 */
export class SamplePage {
  readonly path: string;
  readonly hasCode: boolean;
  /** Ends when the modules of the page are in its folder. */
  readonly written: Promise<void>;
  readonly #root: SampleRoot;
  readonly #folder: SampleFolder;
  readonly #text: string;
  readonly #modules = new Map<Sample, SampleModule>();
  #samples: readonly Sample[] = [];
  #process: ChildProcess | undefined;

  constructor(root: SampleRoot, path: string) {
    this.path = path;
    this.#text = readFileSync(repositoryPath(path), 'utf8');
    this.hasCode = this.#text.includes('```');
    this.#root = root;
    this.#folder = new SampleFolder(root, path.replace(/^docs\/(?!README)|\.md$/g, '').replaceAll('/', '-'));
    this.written = this.#write();
    this.written.catch(() => undefined);
  }

  async #write(): Promise<void> {
    this.#samples = samplesOf(this.#text);
    const sources: Names[] = await this.#folder.writeContext();
    for (const [index, sample] of this.#samples.entries()) {
      const { fence, file, notRun } = sample;
      if (file !== undefined) writeFileSync(join(this.#folder.path, file), fence.text);
      const { language } = fence;
      if (language !== 'ts' && language !== 'js') continue;
      const name = file?.replace(/\.\w+$/, '') ?? `line-${fence.line}`;
      const later = this.#samples.slice(index + 1).map((one) => one.fence.text);
      const module = await this.#at(sample, () =>
        sampleModule(fence.text, name, language, sources, later.join('\n')),
      );
      this.#folder.writeModule(name, language === 'ts' ? module.typescript : undefined, module.javascript);
      this.#modules.set(sample, module);
      if (notRun === undefined) sources.push(module);
    }
  }

  /** Checks the samples. Returns the reasons of those that do not run. */
  async check(): Promise<string[]> {
    await this.written;
    const run = this.#samples.filter((sample) => reasonNotToRun(sample) === undefined);
    await this.#folder.provideInputs(run.map(({ fence }) => fence.text).join('\n'));
    try {
      for (const sample of this.#samples) {
        const isRun = run.includes(sample);
        await this.#at(sample, () => (isRun ? this.#run(sample) : this.#checkSyntax(sample)));
      }
    } finally {
      this.#process?.disconnect();
    }
    return this.#samples
      .filter((sample) => !run.includes(sample))
      .map((sample) => `${this.path}:${sample.fence.line} is not run: ${reasonNotToRun(sample)}`);
  }

  async #at<T>({ fence }: Sample, action: () => Promise<T>): Promise<T> {
    try {
      return await action();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new Error(`${this.path}:${fence.line}: the sample fails. ${reason}`, { cause: error });
    }
  }

  async #run(sample: Sample): Promise<void> {
    const { language, text } = sample.fence;
    if (language === 'yaml') assert.ok(parseYaml(text) !== null);
    else if (language === 'json') await this.#checkJson(text);
    else if (language === 'sh') this.#compare(sample, await this.#folder.bash(text));
    else if (language === 'python') {
      this.#compare(sample, await this.#root.python(python ?? '').run(text, this.#folder.path));
    } else if (language !== 'text') await this.#runModule(sample);
    else if (sample.summaryOf !== undefined || sample.fence.info === 'layout')
      await this.#checkSummary(sample);
    else await this.#runSession(text);
  }

  async #checkSummary({ fence: { text }, summaryOf }: Sample): Promise<void> {
    const { summary, counts } = await this.#root.recorded(summaryOf);
    assert.deepEqual(missingLabels(text, summary), [], `These labels are missing in:\n${summary}`);
    assert.deepEqual(differentCounts(text, summaryOf === undefined ? undefined : counts), []);
  }

  async #runModule(sample: Sample): Promise<void> {
    const { file } = sample;
    // The page also shows the command that runs this file.
    if (file !== undefined && this.#text.includes(`\n$ node ${file}\n`)) return;
    const module = this.#modules.get(sample);
    assert.ok(module !== undefined);
    const { output, error } = await this.#import(join(this.#folder.path, 'modules', `${module.module}.js`));
    assert.equal(error, undefined);
    const missing =
      firstMissing(output, module.shown) ??
      module.shownBelow.find((line) => firstMissing(output, [line]) !== undefined);
    assert.equal(missing, undefined, `A comment shows '${missing}', and the sample prints:\n${output}`);
    this.#compare(sample, output);
  }

  async #import(file: string): Promise<SampleReport> {
    this.#process ??= fork(repositoryPath('dist-test/test/support/sampleProcess.js'), {
      cwd: this.#folder.path,
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    const ended = new AbortController();
    this.#process.once('exit', () => ended.abort());
    this.#process.send(pathToFileURL(file).href);
    const [report]: SampleReport[] = await once(this.#process, 'message', { signal: ended.signal });
    return report!;
  }

  /** Runs commands that the page shows behind `$ `, and compares what each prints. */
  async #runSession(text: string): Promise<void> {
    for (const part of text.split(/^\$ /m).slice(1)) {
      const [command = '', ...shown] = part.split('\n');
      const printed = await this.#folder.bash(command);
      assert.ok(isShown(printed, shown.join('\n')), `'${command}' prints:\n${printed}`);
    }
  }

  /** Checks the fields of a trace's meta.json. Of other samples, only the syntax. */
  async #checkJson(text: string): Promise<void> {
    const shown: Record<string, unknown> = JSON.parse(text);
    if (shown['format'] !== 'longpole-trace') return;
    const { trace } = await this.#root.recorded();
    const recorded: Record<string, unknown> = JSON.parse(readFileSync(join(trace, 'meta.json'), 'utf8'));
    assert.deepEqual(Object.keys(shown).sort(), Object.keys(recorded).sort());
  }

  /** Checks a sample that is not run. Every `longpole` in commands has to have the options that it is given. */
  async #checkSyntax({ fence: { language, text } }: Sample): Promise<void> {
    if (language === 'ts' || language === 'js') await javascriptOf(text, language);
    if (language !== 'sh') return;
    await this.#folder.bash(text, ['-n']);
    for (const [, words = ''] of text.matchAll(/^longpole ([^#\n]+)/gm)) {
      const command = words.split(' ', words.startsWith('dask') ? 2 : 1).join(' ');
      const help = await this.#root.help(command);
      for (const [option] of words.matchAll(/(?<=\s)--?[a-z][\w-]*/g))
        assert.match(help, new RegExp(`${option}\\b`), `longpole ${command} has no ${option}`);
    }
  }

  #compare({ output }: Sample, printed: string): void {
    if (output === undefined) return;
    assert.ok(isShown(printed, output.text), `It prints:\n${printed}`);
  }
}

function reasonNotToRun({ fence, notRun }: Sample): string | undefined {
  return notRun ?? (fence.language === 'python' && python === undefined ? NO_READERS : undefined);
}

// The folders in which the code samples of the documentation run: one for each page, with the files that its samples read.
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { longpoleIn, type RunLongpole } from './longpoleCommands.js';
import { repositoryPath } from './repository.js';
import { runCommand } from './runCommand.js';
import { javascriptOf, type Names } from './sampleModule.js';
import { SamplePython } from './samplePython.js';
import type { SummaryCounts } from './sampleSummary.js';
import { RUN_IN_PROCESS, serveShells } from './shellCommands.js';

const CLI = repositoryPath('dist/bundle/main.js');
/** Files of every page; test/samples/NAME/ has those of one page. */
const SHARED = 'test/samples/any';

/** A run that stands for every run of which a page shows the trace or the summary. */
export interface RecordedRun {
  /** Path of the trace. */
  readonly trace: string;
  /** What `longpole run` prints at the end. */
  readonly summary: string;
  /** What `longpole run --json` writes. */
  readonly counts: SummaryCounts;
}

/** The folder above those of the pages: what a user's package and machine have. */
export class SampleRoot {
  readonly path: string;
  readonly #run: RunLongpole;
  readonly #served: Promise<NodeJS.ProcessEnv>;
  readonly #recorded = new Map<string, Promise<RecordedRun>>();
  readonly #helps = new Map<string, Promise<string>>();
  #python: SamplePython | undefined;

  constructor(path: string) {
    this.path = path;
    this.#run = longpoleIn(path);
    this.#served = serveShells(this.#run);
    writeFileSync(join(path, 'package.json'), '{ "private": true, "type": "module" }');
    mkdirSync(join(path, 'node_modules'));
    symlinkSync(repositoryPath('.'), join(path, 'node_modules/longpole'));
    symlinkSync(repositoryPath('node_modules/@types'), join(path, 'node_modules/@types'));
    mkdirSync(join(path, 'bin'));
    const command = `'${process.execPath}' '${repositoryPath('dist-test/test/support/sampleCommand.js')}'`;
    this.#program(
      'longpole',
      `case "$1 \${!#}" in
demo*) ;;
analyze* | diff* | export* | simulate* | *--help) ${RUN_IN_PROCESS} ;;
view*) exec ${command} "$@" ;;
esac
exec '${process.execPath}' '${CLI}' "$@"`,
    );
    for (const name of ['npm', 'npx', 'jq']) this.#program(name, `exec ${command} ${name} "$@"`);
  }

  #program(name: string, script: string): void {
    const path = join(this.path, 'bin', name);
    writeFileSync(path, `#!/bin/bash\n${script}\n`);
    chmodSync(path, 0o755);
  }

  /**
   * Records a run. Later calls for the same program return the same run.
   *
   * @param program path below the repository, and arguments
   */
  recorded(program = `${SHARED}/program.mjs`): Promise<RecordedRun> {
    const recorded = this.#recorded.get(program) ?? this.#record(program, `recorded-${this.#recorded.size}`);
    this.#recorded.set(program, recorded);
    return recorded;
  }

  /** Returns the process that runs the Python of all pages. */
  python(name: string): SamplePython {
    this.#python ??= new SamplePython(name);
    return this.#python;
  }

  /** Ends the process for Python, after the last page. */
  close(): void {
    this.#python?.end();
  }

  /** Returns the environment of shell scripts, with the commands of this folder. */
  async shellEnvironment(): Promise<NodeJS.ProcessEnv> {
    const PATH = `${join(this.path, 'bin')}:${process.env['PATH']}`;
    return { ...process.env, ...(await this.#served), PATH };
  }

  /** Returns what a command of `longpole` prints with `--help`. Each command runs once. */
  help(command: string): Promise<string> {
    const help =
      this.#helps.get(command) ?? this.#run([...command.split(' '), '--help']).then(({ stdout }) => stdout);
    this.#helps.set(command, help);
    return help;
  }

  async #record(program: string, name: string): Promise<RecordedRun> {
    const [script = '', ...words] = program.split(' ');
    const trace = join(this.path, `${name}.trace`);
    const json = join(this.path, `${name}.json`);
    // The pages show runs on two cores.
    const options = ['--no-dashboard', '--workers', '2', '--trace', trace, '--json', json];
    const args = [CLI, 'run', ...options, repositoryPath(script)];
    const { code, stderr } = await runCommand(process.execPath, [...args, ...words], { cwd: this.path });
    if (code !== 0) throw new Error(`longpole ${args.join(' ')} ended with ${code}:\n${stderr}`);
    const counts: SummaryCounts = JSON.parse(readFileSync(json, 'utf8'));
    return { trace, summary: stderr, counts };
  }
}

/** The folder of one page. */
export class SampleFolder {
  readonly root: SampleRoot;
  readonly path: string;

  /** @param name of the page's folder in test/samples/, if it has one */
  constructor(root: SampleRoot, name: string) {
    this.root = root;
    this.path = join(root.path, name);
    mkdirSync(join(this.path, 'modules'), { recursive: true });
    symlinkSync(repositoryPath('dist'), join(this.path, 'dist'));
    for (const folder of [repositoryPath(SHARED), repositoryPath(`test/samples/${name}`)]) {
      if (existsSync(folder)) cpSync(folder, this.path, { recursive: true });
    }
  }

  /** Writes the TypeScript among the files as modules. Returns the names that they export. */
  async writeContext(): Promise<Names[]> {
    const found: Names[] = [];
    for (const file of readdirSync(this.path)) {
      if (!file.endsWith('.ts')) continue;
      const text = readFileSync(join(this.path, file), 'utf8');
      const module = file.slice(0, -'.ts'.length);
      this.writeModule(module, text, await javascriptOf(text, 'ts'));
      const exported = [
        ...text.matchAll(/^export (?:async )?(?:const|function|class) (?:(\w+)|\{([^}]+)\})/gm),
      ];
      const names = exported.flatMap(([, name, several]) => (name ?? several ?? '').match(/\w+/g) ?? []);
      found.push({ module, names: new Map(names.map((name) => [name, undefined])) });
    }
    return found;
  }

  /** @param typescript is what the compiler checks; absent for JavaScript */
  writeModule(module: string, typescript: string | undefined, javascript: string): void {
    const path = join(this.path, 'modules', module);
    if (typescript !== undefined) writeFileSync(`${path}.ts`, typescript);
    writeFileSync(`${path}.js`, javascript);
  }

  /** Provides the traces and event files that the samples read and do not write. */
  async provideInputs(text: string): Promise<void> {
    const written = [...text.matchAll(/(?:record\('|create\('|-o |--trace )([\w-]+\.trace)/g)].map(
      (match) => match[1],
    );
    for (const name of new Set(text.match(/(?<![\w/.-])[\w-]+\.trace\b/g))) {
      if (written.includes(name)) continue;
      const { trace } = await this.root.recorded();
      cpSync(trace, join(this.path, name), { recursive: true });
    }
    for (const [name, plugin] of text.matchAll(/[\w-]*(ResourceMonitor|TracePlugin)-c096\.msgpack/g)) {
      const packed = readFileSync(repositoryPath(`test/fixtures/dasf-small/${plugin}-c096.msgpack.gz`));
      writeFileSync(join(this.path, name), gunzipSync(packed));
    }
  }

  /** Runs a script in this folder. Returns stdout and stderr together. */
  async bash(script: string, options: readonly string[] = []): Promise<string> {
    const env = await this.root.shellEnvironment();
    const args = ['-euo', 'pipefail', ...options, '-c', `exec 2>&1\n${script}`];
    const { code, stdout } = await runCommand('bash', args, { cwd: this.path, env });
    if (code !== 0) throw new Error(`It ended with ${code}:\n${stdout}`);
    return stdout;
  }
}

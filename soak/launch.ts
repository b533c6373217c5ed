// Runs one round as a separate program with a time limit, and finds the processes and files that the program leaves
// behind.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { DUMP_SIGNAL, dumpOf } from '../test/support/programs.js';
import { repositoryPath } from '../test/support/repository.js';
import { killProcess, MARK, processesOf } from './processes.js';
import { noCounts, type Round, type RoundReport, STARTING } from './round.js';

export interface RoundResult extends RoundReport {
  readonly name: string;
  readonly seed: number;
  readonly stressed: boolean;
  readonly seconds: number;
  /** Peak bytes of the largest process. */
  readonly peakProcess: number;
  /** Peak bytes of all processes together. */
  readonly peakSum: number;
  readonly leftProcesses: readonly string[];
  readonly leftFiles: readonly string[];
}

export interface LaunchOptions {
  /** URL of the module that exports the rounds. */
  readonly module: string;
  readonly stressed: boolean;
  /** Time limit for the end of a round's processes after the round, in seconds. */
  readonly grace: number;
  /** Ends the round early, so that it does not count. */
  readonly signal: AbortSignal;
}

/** Many times the longest duration on a quiet machine, because a busy machine must not make a round fail. */
const DEFAULT_LIMIT_SECONDS = 600;
/** Time after which a round without a report counts as started, in seconds. */
const START_SECONDS = 60;
/** Factor of the time limit of a stressed round. */
const STRESS_FACTOR = 2;
const SAMPLE_MS = 250;
/** Folder in the directory for temporary files that all programs share. It does not count as left over. */
const SHARED_FOLDER = 'longpole';
/** Number of last characters of a program's output that are kept. They must hold a dump of a cluster. */
const MAX_OUTPUT = 2_000_000;
const MAX_PRINTED = 10_000;

/** Runs a round. Returns its result, or undefined if the signal ended it. */
export async function launch(
  round: Round,
  seed: number,
  options: LaunchOptions,
): Promise<RoundResult | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'longpole-soak-'));
  try {
    return await new Launch(round, seed, folder, options).run();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

class Launch {
  readonly #round: Round;
  readonly #seed: number;
  readonly #folder: string;
  readonly #mark: string;
  readonly #options: LaunchOptions;
  readonly #failures: string[] = [];
  readonly #output = { stdout: '', stderr: '' };
  #peakProcess = 0;
  #peakSum = 0;

  constructor(round: Round, seed: number, folder: string, options: LaunchOptions) {
    this.#round = round;
    this.#seed = seed;
    this.#folder = folder;
    this.#mark = basename(folder);
    this.#options = options;
  }

  async run(): Promise<RoundResult | undefined> {
    mkdirSync(join(this.#folder, 'tmp'));
    const begin = performance.now();
    await this.#waitFor(this.#start());
    const seconds = (performance.now() - begin) / 1000;
    const leftProcesses = await this.#endProcesses();
    if (this.#options.signal.aborted) return undefined;
    const report = this.#report();
    return {
      ...report,
      name: this.#round.name,
      seed: this.#seed,
      stressed: this.#options.stressed,
      failures: [...report.failures, ...this.#failures],
      seconds,
      peakProcess: this.#peakProcess,
      peakSum: this.#peakSum,
      leftProcesses,
      leftFiles: readdirSync(join(this.#folder, 'tmp'), { recursive: true, encoding: 'utf8' }).filter(
        (path) => path !== SHARED_FOLDER,
      ),
    };
  }

  #start(): ChildProcess {
    const { module, stressed } = this.#options;
    const node = [
      process.execPath,
      '--enable-source-maps',
      ...(this.#round.nodeArguments ?? []),
      fileURLToPath(new URL('roundProcess.js', import.meta.url)),
      ...[module, this.#round.name, String(this.#seed), this.#folder],
    ];
    const stress = ['python3', repositoryPath('soak/stress.py'), '--itself', String(this.#seed)];
    // With SIGXFSZ ignored, a write beyond the limit fails and does not end the program.
    const limit = ['bash', '-c', `trap "" XFSZ; ulimit -f ${this.#round.fileLimit}; exec "$0" "$@"`];
    const limited = this.#round.fileLimit === undefined ? node : [...limit, ...node];
    const [command = '', ...args] = stressed ? [...stress, ...limited] : limited;
    // A new process group, so that Ctrl-C reaches only the soak. SPIN=0, because the soak starts the burners.
    return spawn(command, args, {
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...process.env,
        TMPDIR: join(this.#folder, 'tmp'),
        [MARK]: this.#mark,
        SPIN: '0',
        LONGPOLE_DUMP_SIGNAL: DUMP_SIGNAL,
      },
    });
  }

  /** Waits until the program has ended, its limit has passed, or the soak is ended. */
  #waitFor(child: ChildProcess): Promise<void> {
    const { signal, stressed } = this.#options;
    const limit = (this.#round.limit ?? DEFAULT_LIMIT_SECONDS) * (stressed ? STRESS_FACTOR : 1);
    const output = this.#output;
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      output.stdout = (output.stdout + text).slice(-MAX_OUTPUT);
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      output.stderr = (output.stderr + text).slice(-MAX_OUTPUT);
    });
    return new Promise((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined;
      const startTimer = (): void => {
        timer = setTimeout(() => {
          child.removeAllListeners('exit');
          this.#hangs(limit, child).then(done, reject);
        }, limit * 1000);
      };
      const latestStart = performance.now() + START_SECONDS * 1000;
      const sampling = setInterval(() => {
        this.#sample();
        // The start of a program takes long on a busy machine and does not count towards the limit.
        const hasStarted = this.#read().doing !== STARTING || performance.now() > latestStart;
        if (timer === undefined && hasStarted) startTimer();
      }, SAMPLE_MS);
      const done = (): void => {
        clearInterval(sampling);
        clearTimeout(timer);
        signal.removeEventListener('abort', done);
        resolve();
      };
      signal.addEventListener('abort', done);
      child.once('error', (error) => {
        this.#failures.push(`The program could not be started: ${error.message}`);
        done();
      });
      child.once('exit', (code, killedBy) => {
        if (code !== 0) this.#failures.push(`The program ended with ${killedBy ?? `exit code ${code}`}.`);
        done();
      });
    });
  }

  async #hangs(limit: number, child: ChildProcess): Promise<void> {
    // Under stress, the child is stress.py and not the program of the round.
    const pid = this.#read().pid ?? child.pid;
    const processes = processesOf(this.#mark);
    const { stderr } = this.#output;
    const isThere = processes.some((one) => one.pid === pid);
    const dump =
      pid === undefined || !isThere
        ? ''
        : await dumpOf(pid, this.#output, () => processesOf(this.#mark).every((one) => one.pid !== pid));
    this.#output.stderr = stderr;
    const list = processes.map(({ pid, command }) => `${pid} ${command}`).join('\n');
    this.#failures.push(`The program did not end within ${limit} s. ${dump}\nIts processes:\n${list}`);
  }

  #sample(): void {
    const found = processesOf(this.#mark);
    this.#peakProcess = Math.max(this.#peakProcess, ...found.map(({ peak }) => peak));
    this.#peakSum = Math.max(
      this.#peakSum,
      found.reduce((sum, { rss }) => sum + rss, 0),
    );
  }

  /** Kills the remaining processes of the round. Returns those that had not ended by themselves. */
  async #endProcesses(): Promise<string[]> {
    const until = performance.now() + (this.#failures.length > 0 ? 0 : this.#options.grace * 1000);
    const find = () => processesOf(this.#mark);
    while (find().length > 0 && performance.now() < until && !this.#options.signal.aborted) await pause(20);
    const left = find().map(({ pid, command }) => `${pid} ${command}`);
    // A process that is just starting may be missed once.
    for (let found = find(); found.length > 0; found = find()) {
      for (const { pid } of found) killProcess(pid);
      await pause(20);
    }
    return left;
  }

  #report(): RoundReport {
    const report = this.#read();
    const failures = [...report.failures];
    if (!report.ended) failures.push(`It was in the middle of: ${report.doing}.`);
    const output = `${this.#output.stdout}${this.#output.stderr}`.trim();
    if (failures.length + this.#failures.length > 0 && output !== '')
      failures.push(`It printed:\n${output.slice(-MAX_PRINTED)}`);
    return { ...report, failures };
  }

  #read(): RoundReport {
    const nothing: RoundReport = {
      counts: noCounts(),
      doing: STARTING,
      failures: [],
      operations: {},
      ended: false,
    };
    try {
      const report: RoundReport = JSON.parse(readFileSync(join(this.#folder, 'report.json'), 'utf8'));
      return { ...nothing, ...report };
    } catch {
      // The program was killed before or during the write.
      return nothing;
    }
  }
}

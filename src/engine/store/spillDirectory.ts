// The directory of one process under `localDirectory`: spilled results and the socket for peers. It is removed
// when it is closed, when the process exits, and when SIGINT, SIGTERM or SIGHUP end the process. What a killed process has
// left is removed by the next one that starts.
import { randomBytes } from 'node:crypto';
import { lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { invalidArgument, LongpoleError, messageOf } from '../../base/errors.js';
import { flushAtExit, nothingToFlush } from '../../files/exitFlush.js';
import { makeFolders } from '../../files/makeFolders.js';
import { ownIdentity, type ProcessIdentity, stateOf } from './processIdentity.js';

const NAME = /^longpole-\d+-[0-9a-f]+$/;
const OWNER = 'owner.json';
/** Milliseconds after which a directory without an owner is not one that somebody is just making. */
const UNOWNED_MS = 60_000;

export class SpillDirectory {
  readonly path: string;
  readonly #remove = (): void => {
    try {
      rmSync(this.path, { recursive: true, force: true, maxRetries: 3 });
    } catch {
      // A worker process still writes there. The next program removes the rest.
    }
  };

  private constructor(path: string) {
    this.path = path;
    flushAtExit(this.#remove);
  }

  /**
   * Makes `longpole-<pid>-<random>` under `localDirectory`, for this user alone, after it has removed what dead processes
   * have left there. Default: `longpole` in the system's directory for temporary files, or `longpole-<user id>` if that
   * one belongs to somebody else.
   *
   * @throws LongpoleError ERR_LONGPOLE_LOCAL_DIRECTORY if it cannot be made
   */
  static create(localDirectory?: string): SpillDirectory {
    if (localDirectory !== undefined && (typeof localDirectory !== 'string' || localDirectory === ''))
      throw invalidArgument(`localDirectory: expected a path, not ${String(localDirectory)}.`);
    const parent = localDirectory === undefined ? defaultParent() : resolve(localDirectory);
    const path = join(parent, `longpole-${process.pid}-${randomBytes(4).toString('hex')}`);
    try {
      makeFolders(parent, localDirectory === undefined ? 0o700 : undefined);
      removeStaleDirectories(parent);
      mkdirSync(path, { mode: 0o700 });
      writeFileSync(join(path, OWNER), JSON.stringify(ownIdentity()));
    } catch (cause) {
      throw new LongpoleError(
        'ERR_LONGPOLE_LOCAL_DIRECTORY',
        `Workers cannot keep files in ${parent}: ${messageOf(cause)}. ` + 'Pass another localDirectory.',
        { cause },
      );
    }
    return new SpillDirectory(path);
  }

  /** The path of a file of this directory. */
  file(name: string): string {
    return join(this.path, name);
  }

  /** Removes the directory and what is in it. What the system does not let go of, the next process removes. */
  async close(): Promise<void> {
    await rm(this.path, { recursive: true, force: true, maxRetries: 3 }).catch(() => undefined);
    nothingToFlush(this.#remove);
  }
}

/**
 * Removes the directories of processes that are not there any more. Those of other hosts and containers stay: whether
 * their processes live cannot be told from here. Returns the paths; what cannot be removed is left for the next time.
 */
export function removeStaleDirectories(localDirectory: string): string[] {
  const removed: string[] = [];
  for (const name of names(localDirectory)) {
    const path = join(localDirectory, name);
    if (!isStale(path)) continue;
    try {
      rmSync(path, { recursive: true, force: true });
      removed.push(path);
    } catch {
      // Another user's, or another process is removing it right now.
    }
  }
  return removed;
}

function names(directory: string): string[] {
  try {
    return readdirSync(directory).filter((name) => NAME.test(name));
  } catch {
    return [];
  }
}

function isStale(path: string): boolean {
  try {
    if (!lstatSync(path).isDirectory()) return false;
    const owner = ownerOf(path);
    if (owner !== undefined) return stateOf(owner) === 'dead';
    return Date.now() - statSync(path).mtimeMs > UNOWNED_MS;
  } catch {
    return false;
  }
}

/** Undefined while the file is being written, or if its process died just then. */
function ownerOf(path: string): ProcessIdentity | undefined {
  try {
    const owner: unknown = JSON.parse(readFileSync(join(path, OWNER), 'utf8'));
    if (typeof owner !== 'object' || owner === null) return undefined;
    if (!('pid' in owner && 'startTime' in owner && 'place' in owner)) return undefined;
    const { pid, startTime, place } = owner;
    if (typeof pid !== 'number' || typeof startTime !== 'string' || typeof place !== 'string')
      return undefined;
    return { pid, startTime, place };
  } catch {
    return undefined;
  }
}

/** Others may write to the system's directory too: what is not a directory of this user is not used. */
function defaultParent(): string {
  const common = join(tmpdir(), 'longpole');
  const own = `${common}-${process.getuid?.() ?? 'user'}`;
  for (const path of [common, own]) if (belongsToUs(path)) return path;
  throw new LongpoleError(
    'ERR_LONGPOLE_LOCAL_DIRECTORY',
    `Workers cannot keep files in ${own}, because it belongs to somebody else. Pass another localDirectory.`,
  );
}

function belongsToUs(path: string): boolean {
  try {
    const stats = lstatSync(path);
    return stats.isDirectory() && (process.getuid === undefined || stats.uid === process.getuid());
  } catch {
    // It is made now.
    return true;
  }
}

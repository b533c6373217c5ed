// The directory of one process under `localDirectory`, for spilled results and the socket for peers. It is removed
// when it is closed, when the process exits, and when SIGINT, SIGTERM or SIGHUP end the process. After a kill, the
// next process that starts removes it.
import { randomBytes } from 'node:crypto';
import { lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { adviceFor, attempt, invalidArgument, LongpoleError, sentenceOf } from '../../base/errors.js';
import { hasFields, parsedJson } from '../../base/json.js';
import { flushAtExit, nothingToFlush } from '../../files/exitFlush.js';
import { makeFolders } from '../../files/writePieces.js';
import { ownIdentity, type ProcessIdentity, stateOf } from './processIdentity.js';

const NAME = /^longpole-\d+-[0-9a-f]+$/;
const OWNER = 'owner.json';
/** Age in milliseconds after which a directory without an owner is not under construction any more. */
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
   * Creates `longpole-<pid>-<random>` under `localDirectory`, for this user alone, after removing directories of dead
   * processes. Default: `longpole` in the system's directory for temporary files, or `longpole-<user id>` if that one
   * belongs to another user.
   *
   * @throws LongpoleError ERR_LONGPOLE_LOCAL_DIRECTORY if it cannot be created
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
        `Workers cannot keep files in ${parent}: ${sentenceOf(cause)} ${adviceFor(cause, 'Pass another localDirectory.')}`,
        { cause },
      );
    }
    return new SpillDirectory(path);
  }

  file(name: string): string {
    return join(this.path, name);
  }

  /** Removes the directory with its files. The next process removes files that the system still holds. */
  async close(): Promise<void> {
    await rm(this.path, { recursive: true, force: true, maxRetries: 3 }).catch(() => undefined);
    nothingToFlush(this.#remove);
  }
}

/**
 * Removes the directories of ended processes. Those of other hosts and containers stay, because the state of their
 * processes is unknown here. Returns the paths; a directory that cannot be removed is tried again next time.
 */
export function removeStaleDirectories(localDirectory: string): string[] {
  const removed: string[] = [];
  for (const name of attempt(() => readdirSync(localDirectory), [])) {
    if (!NAME.test(name)) continue;
    const path = join(localDirectory, name);
    if (!isStale(path)) continue;
    try {
      rmSync(path, { recursive: true, force: true });
      removed.push(path);
    } catch {
      // The directory belongs to another user, or another process is removing it.
    }
  }
  return removed;
}

function isStale(path: string): boolean {
  return attempt(() => {
    if (!lstatSync(path).isDirectory()) return false;
    const owner = ownerOf(path);
    if (owner !== undefined) return stateOf(owner) === 'dead';
    return Date.now() - statSync(path).mtimeMs > UNOWNED_MS;
  }, false);
}

/** Returns the owner; undefined while the file is being written, or if its process died meanwhile. */
function ownerOf(path: string): ProcessIdentity | undefined {
  const owner = parsedJson(attempt(() => readFileSync(join(path, OWNER), 'utf8'), ''));
  return hasFields(owner, { pid: 'number', startTime: 'string', place: 'string' }) ? owner : undefined;
}

/** Other users may write to the system's directory too, so only a directory of this user is used. */
function defaultParent(): string {
  const common = join(tmpdir(), 'longpole');
  const own = `${common}-${process.getuid?.() ?? 'user'}`;
  for (const path of [common, own]) if (belongsToUs(path)) return path;
  throw new LongpoleError(
    'ERR_LONGPOLE_LOCAL_DIRECTORY',
    `Workers cannot keep files in ${own}, because it belongs to another user. Pass another localDirectory.`,
  );
}

function belongsToUs(path: string): boolean {
  const stats = attempt(() => lstatSync(path), undefined);
  // A missing directory will be created.
  if (stats === undefined) return true;
  return stats.isDirectory() && (process.getuid === undefined || stats.uid === process.getuid());
}

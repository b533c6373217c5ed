import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { LongpoleError } from '../../base/errors.js';
import { ownIdentity } from './processIdentity.js';
import { removeStaleDirectories, SpillDirectory } from './spillDirectory.js';

const parent = mkdtempSync(join(tmpdir(), 'longpole-test-'));
after(() => rmSync(parent, { recursive: true, force: true }));

/** Starts a process that creates its directory under `parent` and then runs the code `then`. */
async function otherProcess(then: string): Promise<{ child: ChildProcess; path: string }> {
  const module = new URL('./spillDirectory.js', import.meta.url).href;
  const code = `
    const { SpillDirectory } = await import(${JSON.stringify(module)});
    const directory = SpillDirectory.create(${JSON.stringify(parent)});
    process.stdout.write(directory.path, () => { ${then} });`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [path] = await once(child.stdout, 'data');
  return { child, path: String(path) };
}

function fake(name: string, owner: unknown): string {
  const path = join(parent, name);
  mkdirSync(path);
  writeFileSync(join(path, 'owner.json'), JSON.stringify(owner));
  writeFileSync(join(path, 'result'), 'bytes');
  return path;
}

describe('SpillDirectory', () => {
  it('is accessible to this user only, and is removed when it is closed', async () => {
    const directory = SpillDirectory.create(join(parent, 'deep', 'er'));
    assert.ok(directory.path.startsWith(join(parent, 'deep', 'er', `longpole-${process.pid}-`)));
    if (process.platform !== 'win32') assert.equal(statSync(directory.path).mode & 0o777, 0o700);
    assert.equal(dirname(directory.file('a')), directory.path);
    writeFileSync(directory.file('a'), 'x');
    await directory.close();
    assert.ok(!existsSync(directory.path));
    await directory.close();
  });

  it('lies in the directory for temporary files by default', async () => {
    const directory = SpillDirectory.create();
    assert.ok(directory.path.startsWith(join(tmpdir(), 'longpole')));
    await directory.close();
  });

  it('reports that it cannot be created', () => {
    const file = join(parent, 'a-file');
    writeFileSync(file, '');
    assert.throws(
      () => SpillDirectory.create(join(file, 'below')),
      (error) =>
        error instanceof LongpoleError &&
        error.code === 'ERR_LONGPOLE_LOCAL_DIRECTORY' &&
        error.message.includes(file),
    );
  });

  it('is removed when its process exits', async () => {
    const { child, path } = await otherProcess('process.exit(3)');
    if (child.exitCode === null) await once(child, 'exit');
    assert.equal(child.exitCode, 3);
    assert.ok(!existsSync(path));
  });

  it('removes the directory of a killed process, and keeps that of a live one', async () => {
    const killed = await otherProcess('setInterval(() => {}, 1000)');
    const alive = await otherProcess('setInterval(() => {}, 1000)');
    try {
      SpillDirectory.create(parent);
      assert.ok(existsSync(killed.path) && existsSync(alive.path));
      killed.child.kill('SIGKILL');
      await once(killed.child, 'exit');
      assert.ok(existsSync(killed.path));
      const directory = SpillDirectory.create(parent);
      assert.ok(!existsSync(killed.path));
      assert.ok(existsSync(alive.path) && existsSync(directory.path));
    } finally {
      alive.child.kill('SIGKILL');
      await once(alive.child, 'exit');
    }
    assert.deepEqual(removeStaleDirectories(parent), [alive.path]);
  });
});

describe('removeStaleDirectories', () => {
  it('does not mistake a reused process id for the owner', { skip: process.platform === 'win32' }, () => {
    const own = ownIdentity();
    const reused = fake(`longpole-${own.pid}-0a`, { ...own, startTime: `${own.startTime}1` });
    const current = fake(`longpole-${own.pid}-0b`, own);
    assert.deepEqual(removeStaleDirectories(parent), [reused]);
    assert.ok(existsSync(current));
  });

  it('keeps directories with an owner of unknown state', () => {
    const gone = { pid: 2 ** 22 + 1, startTime: '1', place: ownIdentity().place };
    const elsewhere = fake('longpole-1-a0', { ...gone, place: 'another-host' });
    const container = fake('longpole-1-a1', { ...gone, place: `${gone.place}-other` });
    const withoutProc = fake('longpole-1-a4', { ...gone, startTime: '', place: hostname() });
    const strange = fake('longpole-results', gone);
    const young = fake('longpole-1-a2', 'half a fi');
    const here = fake('longpole-1-a3', gone);
    assert.deepEqual(removeStaleDirectories(parent), [here]);
    for (const path of [elsewhere, container, withoutProc, strange, young]) assert.ok(existsSync(path), path);
    const old = new Date(Date.now() - 3_600_000);
    utimesSync(young, old, old);
    assert.deepEqual(removeStaleDirectories(parent), [young]);
    assert.equal(readFileSync(join(elsewhere, 'result'), 'utf8'), 'bytes');
  });

  it('keeps the directory of a live process if it has no permission to read /proc', () => {
    const flag = process.allowedNodeEnvironmentFlags.has('--permission')
      ? '--permission'
      : '--experimental-permission';
    const folder = join(parent, 'restricted');
    const kept = [ownIdentity(), { ...ownIdentity(), startTime: '', place: hostname() }].map(
      (owner, index) => {
        const path = join(folder, `longpole-${owner.pid}-${index}`);
        mkdirSync(path, { recursive: true });
        writeFileSync(join(path, 'owner.json'), JSON.stringify(owner));
        return path;
      },
    );
    const module = new URL('./spillDirectory.js', import.meta.url).href;
    const code = `
      const { removeStaleDirectories } = await import(${JSON.stringify(module)});
      console.log(removeStaleDirectories(${JSON.stringify(folder)}).length);`;
    const { stdout } = spawnSync(
      process.execPath,
      [
        flag,
        `--allow-fs-read=${fileURLToPath(new URL('../../../', import.meta.url))}`,
        `--allow-fs-read=${parent}`,
        `--allow-fs-write=${parent}`,
        '--no-warnings',
        '--input-type=module',
        '-e',
        code,
      ],
      { encoding: 'utf8' },
    );
    assert.equal(stdout, '0\n');
    for (const path of kept) assert.ok(existsSync(path), path);
  });

  it('removes directories from before a reboot', { skip: process.platform !== 'linux' }, () => {
    const own = ownIdentity();
    const earlier = fake('longpole-1-b0', { ...own, place: `${hostname()} an-earlier-boot pid:[1]` });
    assert.deepEqual(removeStaleDirectories(parent), [earlier]);
  });

  it('returns nothing for a missing directory', () => {
    assert.deepEqual(removeStaleDirectories(join(parent, 'missing')), []);
  });
});

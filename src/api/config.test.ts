import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import fc from '../base/properties.test.support.js';
import { readBytes, readDuration } from '../base/settings.js';
import { Config } from './config.js';

const folders: string[] = [];
after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true });
});

/** Creates a temporary folder with these files and returns its path. */
function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'longpole-config-'));
  folders.push(folder);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

const refused = (pattern: RegExp): object => ({ code: 'ERR_LONGPOLE_CONFIG', message: pattern });

test('without a file, variables and config.set, settings have their defaults', () => {
  const config = new Config({ directory: folderWith({}), environment: {} });
  assert.equal(config.get('profile-interval'), 0.01);
  assert.equal(config.get('profile-cycle-interval'), 1);
  assert.equal(config.get('workers'), undefined);
  assert.equal(config.source('workers'), 'default');
});

test('config.set precedes the environment, the environment precedes the file, the file precedes the default', () => {
  const directory = folderWith({
    'longpole.config.yaml': 'profile-interval: 20ms\nprofile-cycle-interval: 2\nworkers: 3\n',
  });
  const config = new Config({
    directory,
    environment: { LONGPOLE_PROFILE_INTERVAL: '5ms', LONGPOLE_PROFILE_CYCLE_INTERVAL: '', OTHER: '1' },
  });
  assert.equal(config.get('workers'), 3);
  assert.equal(config.get('profile-cycle-interval'), 2);
  assert.equal(config.get('profile-interval'), 0.005);
  {
    using _set = config.set({ 'profile-interval': '1ms' });
    assert.equal(config.get('profile-interval'), 0.001);
    assert.equal(config.source('profile-interval'), 'program');
  }
  assert.equal(config.get('profile-interval'), 0.005);
  assert.equal(config.source('profile-interval'), 'environment');
  assert.equal(config.source('workers'), join(directory, 'longpole.config.yaml'));
  assert.equal(config.all().get('memory-spill'), 0.7);
});

test('reads JSON, nested settings, and a file named by LONGPOLE_CONFIG', () => {
  const json = folderWith({
    'longpole.config.json': '{ "profile": { "interval": "1ms" }, "memory-pause": false }',
  });
  const config = new Config({ directory: json, environment: {} });
  assert.equal(config.get('profile-interval'), 0.001);
  assert.equal(config.get('memory-pause'), false);
  const named = join(folderWith({ 'mine.yaml': 'memory-limit: 2 GiB' }), 'mine.yaml');
  assert.equal(new Config({ environment: { LONGPOLE_CONFIG: named } }).get('memory-limit'), 2 ** 31);
});

test('an error names the setting and the file or the variable', () => {
  const inFile = (text: string): Config =>
    new Config({ directory: folderWith({ 'longpole.config.yaml': text }), environment: {} });
  const interval =
    (config: Config): (() => unknown) =>
    () =>
      config.get('profile-interval');
  assert.throws(
    interval(inFile('profile-interval: fast')),
    refused(/profile-interval in .*longpole.config.yaml: expected a duration/),
  );
  assert.throws(interval(inFile('profileInterval: 1')), refused(/Did you mean 'profile-interval'\?/));
  assert.throws(interval(inFile('profile-intervall: 1')), refused(/Did you mean 'profile-interval'\?/));
  assert.throws(interval(inFile('worker: 1')), refused(/Did you mean 'workers'\?/));
  assert.throws(interval(inFile('- 1')), refused(/must be a map/));
  assert.throws(interval(inFile('a: [')), refused(/is not valid YAML/));
  assert.throws(interval(inFile('colour: red')), refused(/The settings are profile, /));
  const both = folderWith({ 'longpole.config.yaml': '', 'longpole.config.json': '{}' });
  assert.throws(
    interval(new Config({ directory: both, environment: {} })),
    refused(/two configuration files/),
  );
  assert.throws(
    interval(new Config({ environment: { LONGPOLE_CONFIG: '/missing/x.yaml' } })),
    refused(/cannot be read/),
  );
  const wrong = new Config({ directory: folderWith({}), environment: { LONGPOLE_WORKERS: '0' } });
  assert.throws(interval(wrong), refused(/LONGPOLE_WORKERS: expected a whole number from 1/));
  const config = new Config({ directory: folderWith({}), environment: {} });
  assert.throws(() => config.set({ workers: 2, 'memory-spill': 2 }), refused(/memory-spill/));
  // With this delay a timer of Node would fire at once.
  assert.throws(() => config.set({ 'worker-ttl': '600h' }), refused(/at most 2147483, or false/));
  assert.equal(config.get('workers'), undefined);
  assert.throws(() => config.set({ worker: 2 }), refused(/no setting 'worker'/));
});

test('durations and sizes may have units', () => {
  assert.deepEqual(
    ['10ms', '1.5 s', '2min', '1h', 3, '100 µs'].map(readDuration),
    [0.01, 1.5, 120, 3600, 3, 1e-4],
  );
  assert.deepEqual(['2GB', '512 MiB', '1e9', '1k', 7, '3 b'].map(readBytes), [2e9, 2 ** 29, 1e9, 1000, 7, 3]);
  for (const wrong of ['', 'ms', '1 parsec', '-1s', -1, Number.NaN, null, {}, '__proto__']) {
    assert.equal(readDuration(wrong), undefined);
    assert.equal(readBytes(wrong), undefined);
  }
});

test('a file with any text is read, or rejected with a code', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
      const config = new Config({ directory: folderWith({ 'longpole.config.yaml': text }), environment: {} });
      try {
        config.all();
      } catch (error) {
        assert.ok(
          error instanceof Error && 'code' in error && error.code === 'ERR_LONGPOLE_CONFIG',
          String(error),
        );
      }
    }),
    { numRuns: 50 },
  );
});

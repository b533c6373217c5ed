import assert from 'node:assert/strict';
import { test } from 'node:test';
import { internalError, notWrittenError, sentenceOf } from './errors.js';

const withCode = (code: string): Error => Object.assign(new Error(`${code}: of the system`), { code });

test('the error for a file that cannot be written names the file, the reason and the remedy', () => {
  const error = notWrittenError('run.trace', withCode('ENOSPC'));
  assert.equal(error.code, 'ERR_LONGPOLE_TRACE_FILE');
  assert.equal(
    error.message,
    'run.trace cannot be written: the disk is full. Free space on the disk, or pass another path.',
  );
  for (const code of ['EACCES', 'EROFS', 'ENOENT', 'EISDIR', 'EDQUOT', 'EPERM', 'ENOTDIR', 'EEXIST'])
    assert.match(notWrittenError('x', withCode(code)).message, /^x cannot be written: [a-z].*\. [A-Z].*\.$/);
});

test('an unknown reason is the text of the system', () => {
  const cause = withCode('EIO');
  const error = notWrittenError('run.trace', cause);
  assert.match(error.message, /^run\.trace cannot be written: EIO: of the system\. \S/);
  assert.equal(error.cause, cause);
});

test('an error of Longpole itself asks for a report', () => {
  assert.match(
    internalError('Result 3 is lost.').message,
    /^Result 3 is lost\. This is a bug in Longpole; please report/,
  );
});

test('sentences have one full stop', () => {
  assert.deepEqual(['it ended', 'it ended.', 'why?', new Error('No luck \n')].map(sentenceOf), [
    'it ended.',
    'it ended.',
    'why?',
    'No luck.',
  ]);
});

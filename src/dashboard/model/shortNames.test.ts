import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from '../../base/properties.test.support.js';
import { shortNames } from './format.js';

describe('short names of workers', () => {
  it('leave out the common parts of addresses', () => {
    assert.deepEqual(shortNames(['tcp://10.0.0.1:40001', 'tcp://10.0.3.12:40012']), [
      '…0.1:40001',
      '…3.12:40012',
    ]);
    assert.deepEqual(shortNames(['node-1.cluster.internal', 'node-12.cluster.internal']), ['…1…', '…12…']);
  });

  it('keep names that are short, single, or without a common part', () => {
    for (const names of [
      ['worker-0', 'worker-1'],
      ['tcp://10.0.0.1:40001'],
      ['a-long-name-of-one', 'another-name'],
    ])
      assert.deepEqual(shortNames(names), names);
  });

  it('differ if the names differ', () => {
    const name = fc.stringMatching(/^[ab.:-]{0,20}$/);
    fc.assert(
      fc.property(fc.array(name, { maxLength: 8 }), (names) => {
        assert.equal(new Set(shortNames(names)).size, new Set(names).size);
      }),
    );
  });
});

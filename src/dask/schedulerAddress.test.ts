import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { hostOf, schedulerAddress, securityEnvironment } from './schedulerAddress.js';

const HERE = fileURLToPath(import.meta.url);
const CODE = { code: 'ERR_LONGPOLE_INVALID_ARGUMENT' };

describe('the address of a Dask scheduler', () => {
  it('has a scheme of Dask, or gets one', () => {
    assert.equal(schedulerAddress('tcp://127.0.0.1:8786'), 'tcp://127.0.0.1:8786');
    assert.equal(schedulerAddress('127.0.0.1:8786'), 'tcp://127.0.0.1:8786');
    assert.equal(schedulerAddress('[::1]:8786'), 'tcp://[::1]:8786');
    assert.equal(schedulerAddress('TLS://node-1.cluster:8786'), 'tls://node-1.cluster:8786');
    assert.equal(schedulerAddress('ws://node:8786/path'), 'ws://node:8786/path');
    assert.equal(schedulerAddress('node:8786', { ca: HERE }), 'tls://node:8786');
  });

  it('is rejected with an error that has a valid example', () => {
    for (const address of ['localhost', 'tcp://', '', 'tcp://a:0', 'a:99999', 'inproc://a:1', 'tcp://a b:1'])
      assert.throws(() => schedulerAddress(address), {
        ...CODE,
        message: /is not the address of a scheduler\. Write e\.g\. tcp:/,
      });
    assert.throws(() => schedulerAddress('http://127.0.0.1:8787/status'), { ...CODE, message: /web page/ });
    assert.throws(() => schedulerAddress('tcp://a:8786', { ca: HERE }), {
      ...CODE,
      message: /Write tls:\/\/a:8786/,
    });
  });

  it('has a host, also in brackets, without a scheme or port and before a path', () => {
    const addresses = [
      'tcp://10.0.0.5:8786',
      'tls://node-1.cluster',
      'tcp://[::1]:8786',
      'ws://node:8786/path',
      '127.0.0.1:8786',
      '[::1]:8786',
      'node-1',
      '',
    ];
    assert.deepEqual(addresses.map(hostOf), [
      '10.0.0.5',
      'node-1.cluster',
      '::1',
      'node',
      '127.0.0.1',
      '::1',
      'node-1',
      '',
    ]);
  });

  it('has certificates as files or as text', () => {
    assert.deepEqual(securityEnvironment(), {});
    const key = '-----BEGIN PRIVATE KEY-----\n…';
    assert.deepEqual(securityEnvironment({ ca: HERE, cert: HERE, key }), {
      DASK_DISTRIBUTED__COMM__TLS__CA_FILE: HERE,
      DASK_DISTRIBUTED__COMM__TLS__CLIENT__CERT: HERE,
      DASK_DISTRIBUTED__COMM__TLS__CLIENT__KEY: key,
    });
    assert.throws(() => securityEnvironment({ ca: '/nowhere.pem' }), {
      ...CODE,
      message: /'\/nowhere\.pem', given as ca, does not exist/,
    });
  });
});

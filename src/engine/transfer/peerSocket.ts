// Sockets between peers. Those of `tls://` addresses are encrypted with TLS 1.3. The pre-shared key comes from the secret of the
// cluster, so peers need no certificates, and a process without the secret cannot connect.
import { createHash } from 'node:crypto';
import { connect, createServer, type OnReadOpts, type Server, type Socket } from 'node:net';
import { connectionTo, isEncrypted } from './peerAddress.js';

/** The suite that OpenSSL uses with a pre-shared key. */
const TLS = { minVersion: 'TLSv1.3', ciphers: 'TLS_AES_128_GCM_SHA256' } as const;
const IDENTITY = 'longpole';

/** Most processes never encrypt, and loading this module takes 10 ms of CPU. */
const tls = () => process.getBuiltinModule('node:tls');

/**
 * Opens a connection. Bytes that are written before it is open are sent later.
 *
 * @param token the secret of the cluster
 * @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT for an invalid address
 */
export function connectToPeer(address: string, token: string, onread?: OnReadOpts): Socket {
  const to = { ...connectionTo(address), noDelay: true, ...(onread && { onread }) };
  if (!isEncrypted(address)) return connect(to);
  return tls().connect({
    ...TLS,
    ...to,
    pskCallback: () => ({ psk: keyOf(token), identity: IDENTITY }),
    // There is no certificate. The key proves who the other side is.
    checkServerIdentity: () => undefined,
  });
}

/**
 * Creates a server that is not listening yet.
 *
 * @param serve receives connections that are ready for use
 * @param seconds time limit of the handshake of an encrypted connection
 */
export function makePeerServer(
  isSecure: boolean,
  token: string,
  serve: (socket: Socket) => void,
  seconds: number,
): Server {
  if (!isSecure) return createServer({ noDelay: true }, serve);
  const handshakeTimeout = seconds * 1000;
  return tls().createServer(
    { ...TLS, noDelay: true, handshakeTimeout, pskCallback: () => keyOf(token) },
    serve,
  );
}

function keyOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

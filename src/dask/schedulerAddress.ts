// Where a Dask scheduler listens, and with which certificates it is reached. The bridge to it gets the latter in its environment,
// where Dask looks for its own settings: a key does not belong into a command line.
import { existsSync } from 'node:fs';
import { checkOptions, type OptionKinds, TEXT } from '../base/arguments.js';
import { LongpoleError } from '../base/errors.js';

/** Files in the PEM format, or their text. */
export interface DaskSecurity {
  /** Certificate of the authority that signed the scheduler's. */
  readonly ca?: string | undefined;
  /** Certificate of this client, and its private key. */
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
}

const OPTIONS: OptionKinds<DaskSecurity> = { ca: TEXT, cert: TEXT, key: TEXT };
const SCHEMES = ['tcp', 'tls', 'ws', 'wss', 'ucx', 'ucxx'];
/** `host:port`, the host perhaps in brackets, and a path behind it for web sockets. */
const PLACE = /^(\[[\da-f:.%]+\]|[^\s:/[\]]+):(\d{1,5})(\/\S*)?$/i;
const MAX_PORT = 65_535;

/** Setting of Dask by part of DaskSecurity, as a name in the environment. */
const SETTINGS = {
  ca: 'DASK_DISTRIBUTED__COMM__TLS__CA_FILE',
  cert: 'DASK_DISTRIBUTED__COMM__TLS__CLIENT__CERT',
  key: 'DASK_DISTRIBUTED__COMM__TLS__CLIENT__KEY',
} as const;

/**
 * The address as Dask writes it: `host:port` gets the scheme `tcp`, or `tls` where there are certificates.
 *
 * @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT if it is none, or is not encrypted although there are certificates
 */
export function schedulerAddress(address: string, security: DaskSecurity = {}): string {
  const [, scheme, place] = /^(?:([a-z][a-z\d+]*):\/\/)?(.*)$/is.exec(address) ?? [];
  checkOptions('security', security, OPTIONS);
  const isSecure = Object.values(security).some((part) => part !== undefined);
  if (scheme !== undefined && /^https?$/i.test(scheme)) {
    refuse(
      `'${address}' is the address of a web page. Write the address that the scheduler prints, e.g. tcp://127.0.0.1:8786.`,
    );
  }
  const port = Number(PLACE.exec(place ?? '')?.[2] ?? Number.NaN);
  const isKnown = scheme === undefined || SCHEMES.includes(scheme.toLowerCase());
  if (!isKnown || !(port >= 1 && port <= MAX_PORT)) {
    refuse(`'${address}' is no address of a scheduler. Write e.g. tcp://127.0.0.1:8786 or 127.0.0.1:8786.`);
  }
  if (isSecure && scheme?.toLowerCase() === 'tcp') {
    refuse(
      `'${address}' is not encrypted, but there are certificates for it. Write tls://${place}, or leave them out.`,
    );
  }
  return `${scheme?.toLowerCase() ?? (isSecure ? 'tls' : 'tcp')}://${place}`;
}

/**
 * What a Python process needs in its environment to use the certificates.
 *
 * @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT if a file is not there
 */
export function securityEnvironment(security: DaskSecurity = {}): Record<string, string> {
  const environment: Record<string, string> = {};
  for (const part of ['ca', 'cert', 'key'] as const) {
    const value = security[part];
    if (value === undefined) continue;
    if (!value.includes('-----BEGIN') && !existsSync(value))
      refuse(`The file '${value}', given as ${part}, does not exist. Give a file in the PEM format.`);
    environment[SETTINGS[part]] = value;
  }
  return environment;
}

function refuse(message: string): never {
  throw new LongpoleError('ERR_LONGPOLE_INVALID_ARGUMENT', message);
}

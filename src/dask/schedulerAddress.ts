// The address of a Dask scheduler, and the certificates to connect to it. A bridge receives the certificates in its
// environment, as settings of Dask, because a command line is not secret.
import { existsSync } from 'node:fs';
import { checkOptions, isOptionsObject, kind, type OptionKinds, TEXT } from '../base/arguments.js';
import { invalidArgument } from '../base/errors.js';

/** Files in the PEM format, or their text. */
export interface DaskSecurity {
  /** Certificate of the authority that signed the scheduler's certificate. */
  readonly ca?: string | undefined;
  /** Certificate of this client. */
  readonly cert?: string | undefined;
  /** Private key of `cert`. */
  readonly key?: string | undefined;
}

/** How to connect to a cluster of Dask. */
export interface DaskAccess {
  /**
   * A Python with `distributed`. Default: the first with it of LONGPOLE_PYTHON, `.venv/bin/python`, `python3`,
   * `python`.
   */
  readonly python?: string | undefined;
  /** Certificates for a cluster with TLS. Default: those of Dask's configuration. */
  readonly security?: DaskSecurity | undefined;
  /** Seconds to wait for the scheduler's answer, more than 0, at most 3600. Default 10. */
  readonly timeout?: number;
}

export const ACCESS: OptionKinds<DaskAccess> = {
  python: TEXT,
  security: kind('{ ca, cert, key }', isOptionsObject),
  timeout: kind(
    'seconds, more than 0 and at most 3600',
    (value) => typeof value === 'number' && value > 0 && value <= 3600,
  ),
};

const OPTIONS: OptionKinds<DaskSecurity> = { ca: TEXT, cert: TEXT, key: TEXT };
const SCHEMES = ['tcp', 'tls', 'ws', 'wss', 'ucx', 'ucxx'];
/** `host:port`, where the host may be in brackets, and for web sockets a path. */
const PLACE = /^(\[[\da-f:.%]+\]|[^\s:/[\]]+):(\d{1,5})(\/\S*)?$/i;
const MAX_PORT = 65_535;

/** Environment variables of Dask's settings. */
const SETTINGS = {
  ca: 'DASK_DISTRIBUTED__COMM__TLS__CA_FILE',
  cert: 'DASK_DISTRIBUTED__COMM__TLS__CLIENT__CERT',
  key: 'DASK_DISTRIBUTED__COMM__TLS__CLIENT__KEY',
} as const;

/**
 * Returns an address in Dask's form. Adds the scheme `tcp` to `host:port`, or `tls` if there are certificates.
 *
 * @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT for an invalid address, or `tcp://` with certificates
 */
export function schedulerAddress(address: string, security: DaskSecurity = {}): string {
  const [, scheme, place] = /^(?:([a-z][a-z\d+]*):\/\/)?(.*)$/is.exec(address) ?? [];
  checkOptions('security', security, OPTIONS);
  const isSecure = Object.values(security).some((part) => part !== undefined);
  if (scheme !== undefined && /^https?$/i.test(scheme)) {
    throw invalidArgument(
      `'${address}' is the address of a web page. Pass the address that the scheduler prints, e.g. tcp://127.0.0.1:8786.`,
    );
  }
  const port = Number(PLACE.exec(place ?? '')?.[2] ?? Number.NaN);
  const isKnown = scheme === undefined || SCHEMES.includes(scheme.toLowerCase());
  if (!isKnown || !(port >= 1 && port <= MAX_PORT)) {
    throw invalidArgument(
      `'${address}' is not the address of a scheduler. Write e.g. tcp://127.0.0.1:8786 or 127.0.0.1:8786.`,
    );
  }
  if (isSecure && scheme?.toLowerCase() === 'tcp') {
    throw invalidArgument(
      `'${address}' is not encrypted, but there are certificates. Write tls://${place}, or omit the certificates.`,
    );
  }
  return `${scheme?.toLowerCase() ?? (isSecure ? 'tls' : 'tcp')}://${place}`;
}

/** Returns the host of an address, also without a scheme: `tcp://127.0.0.1:8786` → `127.0.0.1`, `tcp://[::1]:8786` → `::1`. */
export function hostOf(address: string): string {
  const [, bracketed, host = ''] = /^(?:[a-z]+:\/\/)?(?:\[([^\]]*)\]|([^/:]*))/i.exec(address) ?? [];
  return bracketed ?? host;
}

/**
 * Returns environment variables with which a Python process uses the certificates.
 *
 * @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT if a file is missing
 */
export function securityEnvironment(security: DaskSecurity = {}): Record<string, string> {
  const environment: Record<string, string> = {};
  for (const part of ['ca', 'cert', 'key'] as const) {
    const value = security[part];
    if (value === undefined) continue;
    if (!value.includes('-----BEGIN') && !existsSync(value))
      throw invalidArgument(
        `The file '${value}', given as ${part}, does not exist. Pass a file in the PEM format.`,
      );
    environment[SETTINGS[part]] = value;
  }
  return environment;
}

"""Finds out why a scheduler cannot be reached, and what to do."""

import asyncio
import socket
import ssl

from distributed.comm import get_address_host_port
from distributed.security import Security

#: Seconds in which a web server must answer.
HTTP_ANSWER = 1.0
NO_TLS = "the server there does not speak TLS: write tcp://"
WAYS = "as the option security, as --ca, --cert and --key of longpole dask, or in Dask's configuration"
TLS_HELP = f"write tls:// and pass certificates {WAYS}"
#: Errors of OpenSSL about the files of this client.
FILE_ERRORS = {
    "KEY_VALUES_MISMATCH": "the private key is not that of the certificate",
    "NO_CERTIFICATE_OR_CRL_FOUND": "the file of the authority has no certificate",
    "PEM lib": "the certificate or its private key cannot be read, or the private key is missing",
}


def needs_passphrase(address):
    """Returns whether the private key for this address is encrypted. OpenSSL would ask for its passphrase, and wait for ever."""
    if not address.startswith(("tls:", "wss:")):
        return False
    security = Security()
    text = security.tls_client_key or security.tls_client_cert or ""
    try:
        if "\n" not in text:
            with open(text) as file:
                text = file.read()
    except (OSError, ValueError):
        return False
    return "ENCRYPTED PRIVATE KEY-----" in text or "4,ENCRYPTED" in text


async def why_not(error, address, timeout):
    """Returns a text for an error of the connection attempt."""
    causes = list(chain(error))
    text = " ".join(str(cause) for cause in causes)
    if "identity()" in text:
        return "a worker or a nanny listens there: pass the address of the scheduler"
    if "ssl_context" in text:
        return f"TLS needs certificates: pass them {WAYS}"
    if any(isinstance(cause, socket.gaierror) for cause in causes):
        return "there is no machine with this name: check the address"
    if "cannot convert to SSL" in text:
        return NO_TLS
    if "certificate has expired" in text:
        return "the certificate of the cluster has expired: renew it, or correct the clock of this machine"
    failed = [cause for cause in causes if isinstance(cause, ssl.SSLError)]
    if failed:
        if "WRONG_VERSION_NUMBER" in text or "record layer" in text.lower():
            return NO_TLS
        for name, fault in FILE_ERRORS.items():
            if name in text:
                return f"{fault}: pass files that belong together {WAYS}"
        why = getattr(failed[0], "verify_message", None) or failed[0].reason or failed[0]
        return f"the TLS handshake failed ({why}): pass certificates that the cluster accepts"
    listener = await who_listens(address)
    if listener == "web":
        return "a web server listens there, perhaps the dashboard: pass the address that the scheduler prints"
    if address.startswith("tcp:") and any(isinstance(cause, ConnectionResetError) for cause in causes):
        return f"the server there closed the connection: if the cluster uses TLS, {TLS_HELP}"
    if listener == "nothing" or "Connection refused" in text:
        return f"nothing listened there for {timeout:g} s: pass the address that the scheduler prints"
    if isinstance(error, (TimeoutError, asyncio.TimeoutError)) or "Timed out" in text:
        return f"there was no answer within {timeout:g} s: try again when the scheduler is idle, or with a longer timeout"
    return str(error) or repr(error)


def chain(error):
    seen = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


async def who_listens(address):
    """Returns `web`, `nothing` or `unknown`. The error of a timeout does not always contain refused attempts."""
    try:
        host, port = get_address_host_port(address)
        return "web" if await asyncio.wait_for(answers_http(host, port), HTTP_ANSWER) else "unknown"
    except ConnectionRefusedError:
        return "nothing"
    except (OSError, ValueError, TimeoutError, asyncio.TimeoutError):
        return "unknown"


async def answers_http(host, port):
    reader, writer = await asyncio.open_connection(host, port)
    try:
        writer.write(b"HEAD / HTTP/1.0\r\n\r\n")
        return (await reader.read(5)).startswith(b"HTTP/")
    finally:
        writer.close()

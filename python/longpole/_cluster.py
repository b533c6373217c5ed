"""The Dask cluster of a distributed Client: its address, and the certificates for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._errors import invalid_argument

if TYPE_CHECKING:
    from distributed import Client

#: Dask's settings, as environment variables, of the fields of ``distributed.Security``. A command line is not secret.
_CERTIFICATES = {
    "tls_ca_file": "DASK_DISTRIBUTED__COMM__TLS__CA_FILE",
    "tls_client_cert": "DASK_DISTRIBUTED__COMM__TLS__CLIENT__CERT",
    "tls_client_key": "DASK_DISTRIBUTED__COMM__TLS__CLIENT__KEY",
}


def current_client(client: Client | None) -> Client:
    """Returns the Client, or the current one for None. Raises LongpoleError ``ERR_LONGPOLE_INVALID_ARGUMENT``."""
    if client is None:
        from distributed import get_client

        try:
            client = get_client()
        except ValueError:
            raise invalid_argument("There is no current Client. Create one, or pass client=….") from None
    if not hasattr(client, "scheduler") or not hasattr(client, "security"):
        raise invalid_argument(f"client must be a distributed.Client, not {type(client).__name__}.")
    return client


def address_of(client: Client) -> str:
    """Returns the address at which another process reaches the scheduler."""
    address = getattr(client.scheduler, "address", None)
    if address is None or client.status != "running":
        raise invalid_argument(f"The Client is not connected (its status is {client.status!r}). Pass a running Client.")
    if address.startswith("inproc:"):
        raise invalid_argument(
            f"The scheduler at {address} can only be reached inside this process. Start the cluster with protocol='tcp', "
            "e.g. Client(processes=False, protocol='tcp')."
        )
    return str(address)


def certificates_of(client: Client) -> dict[str, str]:
    """Returns environment variables with the certificates of the Client: files or text in the PEM format."""
    values = {name: getattr(client.security, field, None) for field, name in _CERTIFICATES.items()}
    return {name: value for name, value in values.items() if value}

// Recognises clients without their class, which would load the engine into programs that only read traces.
const clients = new WeakSet<object>();

/** Makes `isClient()` recognise a client. The constructor of the client calls it. */
export function addClient(client: object): void {
  clients.add(client);
}

export function isClient(value: object): boolean {
  return clients.has(value);
}

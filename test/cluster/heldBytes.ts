import type { Client } from 'longpole';

/** Returns the bytes of results on all workers, in memory and spilled. */
export async function heldBytes(client: Client): Promise<number> {
  const held = await client.run(({ worker }) => worker.memory.managed + worker.memory.spilled);
  return Object.values(held).reduce((sum, bytes) => sum + bytes, 0);
}
